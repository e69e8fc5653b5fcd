"""The sections of a document: what stands under which heading, and on which page."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragpg.chunking.cuts import Span, paragraphs, trim
from ragpg.types import Block, ParsedDocument

_CLOSING_HASHES = re.compile(r"\s#+\s*$")
_OPENING_HASHES = re.compile(r"^\s*#{1,6}(?=\s|$)")
_UNDERLINE = re.compile(r"\n[ \t]*(?:=+|-+)\s*$")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_EMPHASIS = re.compile(r"(\*\*|__|`+|\*)(?=\S)(.+?)(?<=\S)\1")


@dataclass(slots=True)
class Section:
    """A heading and the text up to the next heading (``body_end``) or the next of its level or above (``end``).

    The root section holds what stands before the first heading; its ``level`` is 0 and its ``path`` empty.
    """

    path: tuple[str, ...]
    level: int
    start: int
    heading_end: int
    body_end: int
    end: int
    parent: int
    has_children: bool = False
    blocks: list[Block] = field(default_factory=list[Block])


class Outline:
    """The sections of a document in order, each with the blocks that stand directly under its heading.

    Text that no block holds is a paragraph of its own, so that nothing is lost.
    """

    def __init__(self, document: ParsedDocument, text: str) -> None:
        self.text = text
        self.sections = _sections(document.blocks, text)
        self._starts = [section.start for section in self.sections]
        marks = sorted((block.char_start, block.page) for block in document.blocks if block.page is not None)
        self._page_offsets = [offset for offset, _ in marks]
        self._pages = [page for _, page in marks]

    def section_at(self, offset: int) -> int:
        """Return the index of the innermost section that holds ``offset``."""
        return max(bisect_right(self._starts, offset) - 1, 0)

    def page_at(self, offset: int) -> int | None:
        """Return the page that ``offset`` is on, where the document has pages."""
        if not self._pages:
            return None
        return self._pages[max(bisect_right(self._page_offsets, offset) - 1, 0)]


def heading_text(source: str) -> str:
    """Return a heading's words without the marks of Markdown or HTML around them, on one line."""
    text = _UNDERLINE.sub("", source)
    if _OPENING_HASHES.match(text):
        text = _CLOSING_HASHES.sub("", _OPENING_HASHES.sub("", text))
    text = _LINK.sub(r"\1", _TAG.sub("", text))
    text = _EMPHASIS.sub(r"\2", text)
    return " ".join(text.split())


def _sections(blocks: Sequence[Block], text: str) -> list[Section]:
    sections = [Section((), 0, 0, 0, len(text), len(text), parent=0)]
    open_sections = [0]
    position = 0
    for block in blocks:
        if block.char_end <= block.char_start:
            continue
        _add_text(sections[-1], text, position, block.char_start)
        position = block.char_end
        start, end = trim(text, block.char_start, block.char_end)
        if start == end:
            continue
        if block.kind != "heading":
            sections[-1].blocks.append(block)
            continue
        while sections[open_sections[-1]].level >= max(block.level, 1):
            sections[open_sections.pop()].end = start
        parent = open_sections[-1]
        sections[-1].body_end = start
        sections[parent].has_children = True
        path = (*sections[parent].path, heading_text(text[start:end]))
        open_sections.append(len(sections))
        sections.append(Section(path, max(block.level, 1), start, end, len(text), len(text), parent=parent))
    _add_text(sections[-1], text, position, len(text))
    return sections


def _add_text(section: Section, text: str, start: int, end: int) -> None:
    if text[start:end].isspace() or start >= end:
        return
    for first, last in paragraphs(text, start, end):
        span: Span = trim(text, first, last)
        if span[0] < span[1]:
            section.blocks.append(Block("paragraph", *span))
