"""PDF: pdfium gives the text page by page, pdfplumber the tables."""

from __future__ import annotations

import io
import logging
import re
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from ragpg.errors import MissingExtra, ParseError
from ragpg.parsing.builder import ContentBuilder
from ragpg.parsing.cleanup import clean
from ragpg.parsing.extras import require
from ragpg.parsing.pdf_blocks import PageWriter
from ragpg.parsing.pdf_layout import heading_levels, measure, without_running_lines
from ragpg.parsing.pdf_lines import PageText, read_page
from ragpg.parsing.pdf_tables import Table, find_tables, is_ruled
from ragpg.types import ParsedDocument

# pdfium keeps global state: two threads in it at once crash the process.
_PDFIUM_LOCK = threading.Lock()
_MAX_UNMAPPED = 0.3
_MAX_NAMED_PAGES = 20
_NO_PROPERTY = re.compile(
    r"|\(?(?:untitled|anonymous|unspecified)\)?|\S+\.(?:docx?|odt|tex|dvi|indd|pdf)", re.IGNORECASE
)


def parse_pdf(data: bytes, *, name: str) -> ParsedDocument:
    """Parse a PDF file.

    Parameters
    ----------
    data
        The file.
    name
        Its name, for the messages.

    Returns
    -------
    ParsedDocument
        Paragraphs put together from lines, with the hyphens at line ends undone; headings by the bookmarks or by their size; ruled
        tables as Markdown tables; lists; monospaced lines as code. Every block has its page, and a ``page_break`` stands before each
        page but the first. Running heads and page numbers are left out. ``metadata`` has ``page_count`` and, where it is given,
        ``author``. Pages without a text layer are named in the warnings.

    Raises
    ------
    ParseError
        When the file is broken or encrypted, or no page has a text layer.
    MissingExtra
        When pypdfium2 or pdfplumber is not installed.
    """
    if _is_truncated(data):
        raise ParseError(f"{name} is a broken PDF file: its end is missing")
    builder = ContentBuilder()
    with _PDFIUM_LOCK, _open(data, name=name) as document:
        pages, tables = _read(document, data, builder)
        silent = [number for number, page in enumerate(pages, 1) if not page.lines]
        if len(silent) == len(pages):
            raise ParseError(f"{name} has no text layer on {_pages(silent)}: it must go through OCR first")
        if silent:
            builder.warnings.append(f"no text layer on {_pages(silent)}")
        outline = _outline(document, len(pages))
        properties: dict[str, str] = document.get_metadata_dict(skip_empty=True)
    _write(builder, pages, tables, outline)
    author = _property(properties, "Author")
    return builder.build(
        name=name,
        title=_property(properties, "Title") or builder.first_heading(),
        media_type="application/pdf",
        metadata={"page_count": len(pages)} | ({"author": author} if author else {}),
    )


def _is_truncated(data: bytes) -> bool:
    """pdfium would show what is there, without a word about what is not."""
    end = data.rfind(b"%%EOF")
    return data.lstrip().startswith(b"%PDF-") and (end < 0 or b" obj" in data[end:])


@contextmanager
def _open(data: bytes, *, name: str) -> Generator[Any]:
    pdfium = require("pypdfium2")
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == require("pypdfium2.raw").FPDF_ERR_PASSWORD:
            raise ParseError(f"{name} is encrypted: remove its password") from error
        raise ParseError(f"{name} is a broken PDF file, or none: {error}") from error
    try:
        yield document
    except pdfium.PdfiumError as error:
        raise ParseError(f"{name} is a broken PDF file: {error}") from error
    finally:
        document.close()


def _read(document: Any, data: bytes, builder: ContentBuilder) -> tuple[list[PageText], list[list[Table]]]:
    """Read every page; what can't be read of one is a warning, not the end."""
    error_type: type[Exception] = require("pypdfium2").PdfiumError
    finder = _TableFinder(data)
    pages: list[PageText] = []
    tables: list[list[Table]] = []
    for index in range(len(document)):
        try:
            page = document[index]
            text_page = page.get_textpage()
        except error_type:
            builder.warnings.append(f"page {index + 1} is broken")
            pages.append(PageText([], 0, 0, 0.0, 0.0))
            tables.append([])
            continue
        text = read_page(page, text_page)
        if text.unmapped > _MAX_UNMAPPED * text.total:
            builder.warnings.append(f"page {index + 1} has fonts that don't say which characters they show")
        pages.append(text)
        ruled = text.lines and page.get_rotation() == 0 and is_ruled(page)
        tables.append(finder.find(index, text_page, text) if ruled else [])
        text_page.close()
        page.close()
    if finder.failed:
        builder.warnings.append(f"tables on {_pages(finder.failed)} were not looked for: the file is damaged")
    return pages, tables


class _TableFinder:
    """pdfplumber's view of the document, opened at the first page that may have a table.

    pdfminer, under it, raises whatever a damaged object leads it to. The text does not depend on it.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._pages: Sequence[Any] | None = None
        self.failed: list[int] = []

    def find(self, index: int, text_page: Any, text: PageText) -> list[Table]:
        try:
            if self._pages is None:
                self._pages = self._open()
            page = self._pages[index]
            found = find_tables(page, text_page, text.lines)
            page.close()
        except MissingExtra:
            raise
        except Exception:
            self.failed.append(index + 1)
            return []
        return found

    def _open(self) -> Sequence[Any]:
        # Its complaints about a damaged file would go to the terminal.
        logging.getLogger("pdfminer").addHandler(logging.NullHandler())
        self._pages = ()
        return require("pdfplumber").open(io.BytesIO(self._data)).pages


def _write(
    builder: ContentBuilder,
    pages: Sequence[PageText],
    tables: Sequence[Sequence[Table]],
    outline: Sequence[tuple[int, int, str]],
) -> None:
    kept = without_running_lines(pages)
    style = measure(pages)
    writer = PageWriter(builder, style, heading_levels(kept, outline, style))
    for number, (lines, found) in enumerate(zip(kept, tables, strict=True), 1):
        if number > 1:
            builder.page_break(number)
        writer.write(number, lines, found)


def _outline(document: Any, page_count: int) -> list[tuple[int, int, str]]:
    entries: list[tuple[int, int, str]] = []
    for bookmark in document.get_toc():
        target = bookmark.get_dest()
        index = target.get_index() if target is not None else None
        if index is not None and 0 <= index < page_count:
            entries.append((bookmark.level + 1, index, bookmark.get_title()))
    return entries


def _property(properties: dict[str, str], key: str) -> str | None:
    """Give a document property, unless it is what a program puts there for want of one."""
    text = " ".join(clean(properties.get(key, ""))[0].split()).removeprefix("Microsoft Word - ")
    return None if _NO_PROPERTY.fullmatch(text) else text


def _pages(numbers: Sequence[int]) -> str:
    named = ", ".join(str(number) for number in numbers[:_MAX_NAMED_PAGES])
    more = f" and {len(numbers) - _MAX_NAMED_PAGES} more" if len(numbers) > _MAX_NAMED_PAGES else ""
    return f"page{'s' if len(numbers) > 1 else ''} {named}{more}"
