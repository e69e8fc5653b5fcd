"""Which parser reads a file: by its media type, else its suffix, else its first bytes."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Protocol

from ragpg.errors import ParseError
from ragpg.parsing.docx import parse_docx
from ragpg.parsing.html import parse_html
from ragpg.parsing.markdown import parse_markdown
from ragpg.parsing.pdf import parse_pdf
from ragpg.parsing.text import parse_text
from ragpg.types import ParsedDocument


class _Parser(Protocol):
    def __call__(self, data: bytes, *, name: str, charset: str | None = None) -> ParsedDocument: ...


class _BinaryParser(Protocol):
    def __call__(self, data: bytes, *, name: str) -> ParsedDocument: ...


def _binary(parser: _BinaryParser) -> _Parser:
    """A format that is not text has no encoding to be told."""

    def parse_binary(data: bytes, *, name: str, charset: str | None = None) -> ParsedDocument:
        del charset
        return parser(data, name=name)

    return parse_binary


_PDF = _binary(parse_pdf)
_DOCX = _binary(parse_docx)
_DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_BY_SUFFIX: dict[str, _Parser] = {
    ".md": parse_markdown,
    ".markdown": parse_markdown,
    ".html": parse_html,
    ".htm": parse_html,
    ".txt": parse_text,
    ".text": parse_text,
    ".log": parse_text,
    ".pdf": _PDF,
    ".docx": _DOCX,
}
_BY_MEDIA_TYPE: dict[str, _Parser] = {
    "text/markdown": parse_markdown,
    "text/x-markdown": parse_markdown,
    "text/html": parse_html,
    "application/xhtml+xml": parse_html,
    "text/plain": parse_text,
    "application/pdf": _PDF,
    _DOCX_TYPE: _DOCX,
}
_SAYS_NOTHING = {"", "application/octet-stream", "binary/octet-stream"}
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE
)


def parse(data: bytes, *, name: str, media_type: str | None = None) -> ParsedDocument:
    """Parse a file into text and blocks.

    Parameters
    ----------
    data
        The file.
    name
        Its name or path: its suffix tells the format, and the messages name it.
    media_type
        Its media type, where the sender gives one; it wins over the suffix. A ``charset`` in it is heeded. One that says nothing
        (``application/octet-stream``) is as good as none.

    Returns
    -------
    ParsedDocument
        The text, its blocks (in order, not overlapping, all of the text that is not white space), and what was lost as warnings.

    Raises
    ------
    ParseError
        When the file is empty, broken, encrypted, of a format that is not read, or in an encoding that can't be told.
    MissingExtra
        When the format's library is not installed.
    """
    if not data:
        raise ParseError(f"{name} is empty")
    charset = _CHARSET.search(media_type or "")
    parser = _choose(data, name, media_type)
    return parser(data, name=name, charset=charset[1] if charset else None)


def parse_path(path: str | PathLike[str]) -> ParsedDocument:
    """Parse a file on disk.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    ParsedDocument
        As `parse` gives it.

    Raises
    ------
    ParseError
        As `parse`, and when the file can't be read.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ParseError(f"{path} can't be read: {error.strerror or error}") from error
    return parse(data, name=str(path))


def supported_suffixes() -> frozenset[str]:
    """Give the file name suffixes that have a parser, in lower case and with their dot."""
    return frozenset(_BY_SUFFIX)


def _choose(data: bytes, name: str, media_type: str | None) -> _Parser:
    essence = (media_type or "").partition(";")[0].strip().lower()
    if parser := _BY_MEDIA_TYPE.get(essence):
        return parser
    if essence not in _SAYS_NOTHING:
        raise ParseError(
            f"{name} is {essence}, which is not read; the media types that are: {', '.join(_BY_MEDIA_TYPE)}"
        )
    if parser := _BY_SUFFIX.get(PurePosixPath(name).suffix.lower()):
        return parser
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return _PDF
    if data.startswith(b"PK") and b"word/document.xml" in data:
        return _DOCX
    return parse_html if _HTML_START.match(data) else parse_text
