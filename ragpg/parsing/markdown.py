"""Markdown: the source itself is the content, markdown-it says where the blocks are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragpg.parsing.builder import paragraphs
from ragpg.parsing.cleanup import decode, require_text
from ragpg.parsing.front_matter import split_front_matter
from ragpg.types import Block, BlockKind, ParsedDocument

_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
}
_INFO_WORD = re.compile(r"[\w+#.-]+")
_NEWLINE = re.compile("\n")


def parse_markdown(data: bytes, *, name: str, charset: str | None = None) -> ParsedDocument:
    """Parse Markdown (CommonMark with GFM tables and YAML front matter).

    Parameters
    ----------
    data
        The file.
    name
        Its name, for the messages.
    charset
        The encoding that the sender names, if any.

    Returns
    -------
    ParsedDocument
        ``content`` is the source after the front matter, ``metadata`` the front matter. A heading's block is its whole source, its
        marks included. The title is the front matter's, else the first heading of level 1.

    Raises
    ------
    ParseError
        When the file is empty, binary, or in an encoding that can't be told.
    """
    source, warnings = decode(data, name=name, declared=charset)
    metadata, content, unread = split_front_matter(source)
    require_text(content, name=name)
    tokens = _block_parser().parse(content)
    given = metadata.get("title")
    return ParsedDocument(
        content=content,
        blocks=tuple(_without_gaps(content, _blocks(content, tokens))),
        title=given if isinstance(given, str) and given.strip() else _first_title(tokens),
        media_type="text/markdown",
        metadata=metadata,
        warnings=(*warnings, *unread),
    )


def _block_parser() -> MarkdownIt:
    """Only block structure is wanted, and inline parsing is most of the time."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["normalize", "inline", "text_join"])
    return parser


def _blocks(content: str, tokens: Sequence[Token]) -> Iterator[Block]:
    starts = [0, *(match.end() for match in _NEWLINE.finditer(content))]
    starts += [len(content)] * (2 if starts[-1] < len(content) else 1)

    def block(token: Token, first: int, last: int) -> Block | None:
        start, end = starts[first], starts[last]
        text = content[start:end].rstrip()
        if not text:
            return None
        kind = _KINDS.get(token.type, "paragraph")
        if kind == "heading" and token.level > 0:
            kind = "paragraph"  # a heading in a quotation opens no section of this document
        if kind in ("heading", "paragraph"):
            start += len(text) - len(text.lstrip())
            text = text.lstrip()
        level = int(token.tag[1:]) if kind == "heading" else 0
        language = _language(token.info) if kind == "code" else None
        return Block(kind, start, start + len(text), level, code_language=language)

    for token, first, last in _leaves(tokens):
        if (made := block(token, first, last)) is not None:
            yield made


def _leaves(tokens: Sequence[Token]) -> Iterator[tuple[Token, int, int]]:
    """Give the top-level blocks with their lines; a quotation that holds more than paragraphs gives its parts."""
    for index, token in enumerate(tokens):
        if token.level != 0 or token.nesting < 0 or token.map is None:
            continue
        first, last = token.map
        parts = _quoted(tokens, index) if token.type == "blockquote_open" else []
        if all(_KINDS.get(part.type, "paragraph") == "paragraph" for part in parts):
            yield token, first, last
            continue
        lines = [first, *(part.map[0] for part in parts[1:] if part.map), last]
        for part, (start, end) in zip(parts, pairwise(lines), strict=True):
            yield part, start, end


def _quoted(tokens: Sequence[Token], index: int) -> list[Token]:
    parts: list[Token] = []
    for token in tokens[index + 1 :]:
        if token.level == 0:
            break
        if token.level == 1 and token.nesting >= 0 and token.map is not None:
            parts.append(token)
    return parts


def _without_gaps(content: str, blocks: Iterator[Block]) -> Iterator[Block]:
    """Fill in what markdown-it gives no token for (link definitions) as paragraphs."""
    position = 0
    for block in blocks:
        yield from paragraphs(content, position, block.char_start)
        yield block
        position = block.char_end
    yield from paragraphs(content, position, len(content))


def _language(info: str) -> str | None:
    """``rust,ignore`` is rust, ``{.python}`` python."""
    word = _INFO_WORD.search(info)
    return word[0].strip(".").lower() or None if word else None


def _first_title(tokens: Sequence[Token]) -> str | None:
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h1" and token.level == 0:
            return _plain_text(inline.content) or None
    return None


def _plain_text(source: str) -> str:
    """A line of Markdown without its marks."""
    text = "".join(
        " " if token.type in ("softbreak", "hardbreak") else token.content
        for inline in MarkdownIt("commonmark").parseInline(source)
        for token in inline.children or ()
        if token.type not in ("html_inline", "image")
    )
    return " ".join(text.split())
