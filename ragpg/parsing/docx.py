"""DOCX: mammoth makes HTML of it, the HTML blocks are the document's."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from typing import Any
from xml.parsers.expat import ExpatError

from ragpg.errors import ParseError
from ragpg.parsing.builder import ContentBuilder
from ragpg.parsing.cleanup import clean
from ragpg.parsing.extras import require
from ragpg.parsing.html_blocks import add_blocks
from ragpg.parsing.html_dom import load, remove_invisible
from ragpg.types import ParsedDocument

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_MAX_UNCOMPRESSED = 200 * 1024 * 1024
# mammoth builds a DOM of about 60 times the XML's size.
_MAX_XML = 16 * 1024 * 1024
_READ_SIZE = 1024 * 1024
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Plain Text'] => p:fresh
"""
_EQUATION = re.compile(rb"<m:oMath>.*?</m:oMath>|</?m:oMathPara>", re.DOTALL)
_EQUATION_TEXT = re.compile(rb"<m:t(?: [^>]*)?>([^<]*)</m:t>")
_CORE = {"dc": "http://purl.org/dc/elements/1.1/"}


def parse_docx(data: bytes, *, name: str) -> ParsedDocument:
    """Parse a Word document.

    Parameters
    ----------
    data
        The file.
    name
        Its name, for the messages.

    Returns
    -------
    ParsedDocument
        Headings by their styles, paragraphs, lists, tables as Markdown tables, footnotes at the end. The title is the document's
        property, else its first heading; ``metadata`` has the author. Page headers, comments and pictures are left out.

    Raises
    ------
    ParseError
        When the file is broken, encrypted, holds no text, or unpacks to more than 200 MB (16 MB of XML).
    MissingExtra
        When mammoth or lxml is not installed.
    """
    package, has_equations = _repack(data, name=name)
    warnings = ["equations are kept as their characters, without their layout"] if has_equations else []
    html = _to_html(package, name=name)
    builder = ContentBuilder()
    if html:
        root = load(html, name=name)
        remove_invisible(root)
        add_blocks(builder, root)
    title, metadata = _properties(package)
    return builder.build(
        name=name,
        title=title or builder.first_heading(),
        media_type=_MEDIA_TYPE,
        metadata=metadata,
        warnings=warnings,
    )


def _repack(data: bytes, *, name: str) -> tuple[io.BytesIO, bool]:
    """Copy the XML parts into a package of known size (the pictures are not needed), and say whether it has equations.

    A ZIP's directory can claim any size, and reading a member whole believes nothing but its stream: so each is read in pieces first.
    """
    if data.startswith(_COMPOUND_FILE):
        if _ENCRYPTED_STREAM in data:
            raise ParseError(f"{name} is encrypted: remove its password")
        raise ParseError(f"{name} is not a DOCX file but a legacy Office file: save it as DOCX")
    package = io.BytesIO()
    equations = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(package, "w") as target:
            if "word/document.xml" not in source.namelist():
                raise ParseError(f"{name} is not a DOCX file: it has no word/document.xml")
            if sum(member.file_size for member in source.infolist()) > _MAX_UNCOMPRESSED:
                raise ParseError(f"{name} unpacks to more than {_MAX_UNCOMPRESSED >> 20} MB: refused")
            room = _MAX_XML
            for member in source.infolist():
                if member.filename.endswith((".xml", ".rels")):
                    part = _read(source, member, room, name=name)
                    room -= len(part)
                    part, count = _EQUATION.subn(_equation_text, part)
                    equations += count
                    target.writestr(member.filename, part)
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        OSError,
        ValueError,
    ) as error:
        raise ParseError(f"{name} is a broken DOCX file: {error}") from error
    return package, equations > 0


def _equation_text(match: re.Match[bytes]) -> bytes:
    """An equation as a run of text: mammoth leaves equations out."""
    text = b"".join(_EQUATION_TEXT.findall(match[0]))
    return b'<w:r><w:t xml:space="preserve">' + text + b"</w:t></w:r>"


def _read(source: zipfile.ZipFile, member: zipfile.ZipInfo, room: int, *, name: str) -> bytes:
    if member.flag_bits & 1:
        raise ParseError(f"{name} is encrypted: remove its password")
    pieces: list[bytes] = []
    with source.open(member) as stream:
        while piece := stream.read(_READ_SIZE):
            pieces.append(piece)
            room -= len(piece)
            if room < 0:
                raise ParseError(f"{name} holds more than {_MAX_XML >> 20} MB of XML: refused")
    return b"".join(pieces)


def _to_html(package: io.BytesIO, *, name: str) -> str:
    mammoth = require("mammoth")
    try:
        result = mammoth.convert_to_html(package, style_map=_STYLES, convert_image=_no_image)
    except ExpatError as error:
        raise ParseError(f"{name} is a broken DOCX file: {error}") from error
    except RecursionError as error:
        raise ParseError(f"{name} can't be read: its elements are nested too deeply") from error
    except (
        Exception
    ) as error:  # mammoth trusts the file: what a broken one raises depends on where it is broken
        raise ParseError(f"{name} is a broken DOCX file: {type(error).__name__}: {error}") from error
    return result.value


def _no_image(image: Any) -> list[Any]:
    del image
    return []


def _properties(package: io.BytesIO) -> tuple[str | None, dict[str, Any]]:
    etree = require("lxml.etree")
    with zipfile.ZipFile(package) as parts:
        if "docProps/core.xml" not in parts.namelist():
            return None, {}
        source = parts.read("docProps/core.xml")
    try:
        root = etree.fromstring(source, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.LxmlError:
        return None, {}

    def read(path: str) -> str | None:
        text = " ".join(clean(root.findtext(path, "", _CORE))[0].split())
        return text or None

    author = read("dc:creator")
    return read("dc:title"), {"author": author} if author else {}
