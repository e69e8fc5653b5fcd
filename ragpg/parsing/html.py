"""HTML: the page's main content as text and blocks."""

from __future__ import annotations

from ragpg.parsing.builder import ContentBuilder
from ragpg.parsing.cleanup import decode
from ragpg.parsing.html_blocks import add_blocks
from ragpg.parsing.html_dom import declared_charset, load, main_content, page_title, remove_invisible
from ragpg.types import ParsedDocument


def parse_html(data: bytes, *, name: str, charset: str | None = None) -> ParsedDocument:
    """Parse an HTML page.

    Parameters
    ----------
    data
        The file.
    name
        Its name, for the messages.
    charset
        The encoding that the sender names, if any; it wins over the page's own.

    Returns
    -------
    ParsedDocument
        The main content: navigation, page header and footer, asides, scripts and hidden elements are left out. Headings are lines of
        text, lists ``- `` lines, tables Markdown tables, ``pre`` is kept as it is. The title is the page's, else the first heading.

    Raises
    ------
    ParseError
        When the page holds no text, is binary, or nested more than 2,048 elements deep.
    MissingExtra
        When lxml is not installed.
    """
    source, warnings = decode(data, name=name, declared=charset or declared_charset(data))
    root = load(source, name=name)
    title = page_title(root)
    remove_invisible(root)
    builder = ContentBuilder()
    add_blocks(builder, main_content(root))
    return builder.build(
        name=name, title=title or builder.first_heading(), media_type="text/html", warnings=warnings
    )
