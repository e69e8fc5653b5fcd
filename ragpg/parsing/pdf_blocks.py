"""Lines of a PDF page to blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from ragpg.parsing.builder import ContentBuilder
from ragpg.parsing.pdf_layout import Style
from ragpg.parsing.pdf_lines import Line
from ragpg.parsing.pdf_tables import Table

_BULLET = re.compile(r"[•‣◦▪▫●○∙·\uf0b7\uf0a7➢✓–-]\s+(?=\S)")
_NUMBERED = re.compile(r"(?:\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_SENTENCE_END = (".", "!", "?", ":", "。", "؟", "”", '"', "…")
_LAST_WORD = re.compile(r"[^\W\d_][\w-]*$")
_FIRST_WORD = re.compile(r"[^\W_]\w*")
_MAX_SIZE_CHANGE = 1.18
_LOOSE = 1.3


class PageWriter:
    """Writes pages into a builder, one after the other.

    Parameters
    ----------
    builder
        Takes the blocks.
    style
        What is usual in the document.
    levels
        The lines that are headings.
    """

    def __init__(self, builder: ContentBuilder, style: Style, levels: Mapping[Line, int]) -> None:
        self._builder = builder
        self._style = style
        self._levels = levels
        self._page = 1
        self._group: list[Line] = []
        self._items: list[list[Line]] = []

    def write(self, page: int, lines: Sequence[Line], tables: Sequence[Table]) -> None:
        """Write a page; each table takes the place of the first line within it."""
        self._page = page
        waiting = list(tables)
        for line in lines:
            table = next((table for table in tables if table.holds(line)), None)
            if table is None:
                self._take(line)
            elif table in waiting:
                waiting.remove(table)
                self._end_group()
                self._end_list()
                self._builder.add("table", table.markdown, page=page)
        self._end_group()
        self._end_list()

    def _take(self, line: Line) -> None:
        if self._group and not self._continues(self._group, line):
            self._end_group()
        self._group.append(line)

    def _kind(self, line: Line) -> str:
        if line in self._levels:
            return "heading"
        if self._style.code_is_marked and line.monospaced:
            return "code"
        return "text"

    def _continues(self, group: Sequence[Line], line: Line) -> bool:
        before = group[-1]
        kind = self._kind(line)
        if kind != self._kind(before) or self._levels.get(line) != self._levels.get(before):
            return False
        gap = before.y - line.y
        normal = self._style.leading * _LOOSE * max(before.size, line.size)
        if kind == "code":
            return 0 < gap < 2 * normal
        if abs(gap) < before.size / 2 and line.x0 >= before.x1 - before.size:
            return True  # a superscript or a gap has cut one line in two
        if not 1 / _MAX_SIZE_CHANGE <= line.size / (before.size or 1) <= _MAX_SIZE_CHANGE or _is_item(line):
            return before.hyphenated and not _is_item(line)
        ended = before.text.endswith(_SENTENCE_END)
        if gap < 0:  # the top of the next column
            return not ended and line.text[:1].islower() and kind == "text"
        indented = line.size * 0.8 < line.x0 - min(other.x0 for other in group) < line.size * 4
        return gap <= normal and not (ended and indented and kind == "text" and not _is_item(group[0]))

    def _end_group(self) -> None:
        group = self._group
        self._group = []
        if not group:
            return
        kind = self._kind(group[0])
        if kind == "text" and _is_item(group[0]):
            self._items.append(group)
            return
        self._end_list()
        if kind == "heading":
            self._builder.add("heading", self._join(group), level=self._levels[group[0]], page=self._page)
        elif kind == "code":
            self._builder.add("code", _code(group, self._style.leading), page=self._page)
        else:
            self._builder.add("paragraph", self._join(group), page=self._page)

    def _end_list(self) -> None:
        if not self._items:
            return
        indents: list[float] = []
        for group in sorted(self._items, key=lambda group: group[0].x0):
            if not indents or group[0].x0 - indents[-1] > group[0].size * 0.8:
                indents.append(group[0].x0)
        items: list[str] = []
        for group in self._items:
            depth = sum(group[0].x0 >= indent for indent in indents) - 1
            items.append("  " * depth + _BULLET.sub("- ", self._join(group), count=1))
        self._builder.add("list", "\n".join(items), page=self._page)
        self._items = []

    def _join(self, lines: Sequence[Line]) -> str:
        """Put lines together, and words that a hyphen has cut."""
        text = lines[0].text
        hyphenated = lines[0].hyphenated
        for previous, line in pairwise(lines):
            before = _LAST_WORD.search(text.removesuffix("-")) if hyphenated or text.endswith("-") else None
            after = _FIRST_WORD.match(line.text)
            if before and after:
                text = text.removesuffix("-") + self._hyphen(before[0], after[0]) + line.text
            else:
                text += ("" if _touch(previous, line) else " ") + line.text
            hyphenated = line.hyphenated
        return text

    def _hyphen(self, before: str, after: str) -> str:
        """The hyphen stays where the word has it elsewhere in the document, or where what follows begins no lower-case word."""
        words = self._style.words
        if before + after in words:
            return ""
        return "-" if f"{before}-{after}" in words or not after[0].islower() or "-" in before else ""


def _touch(before: Line, line: Line) -> bool:
    """Whether a word goes on where a line was cut in two."""
    return abs(before.y - line.y) < before.size / 10 and abs(line.x0 - before.x1) < before.size * 0.12


def _is_item(line: Line) -> bool:
    return bool(_BULLET.match(line.text) or _NUMBERED.match(line.text))


def _code(lines: Sequence[Line], leading: float) -> str:
    """Lines of code with their indentation, taken from where they stand, and the empty lines between them."""
    left = min(line.x0 for line in lines)
    widths = sorted((line.x1 - line.x0) / len(line.text) for line in lines)
    width = widths[len(widths) // 2] or 1.0
    text = " " * round((lines[0].x0 - left) / width) + lines[0].text
    for before, line in pairwise(lines):
        gap = before.y - line.y
        if gap < line.size / 2:
            text += " " + line.text
        else:
            text += "\n\n" if gap > leading * 1.7 * line.size else "\n"
            text += " " * round((line.x0 - left) / width) + line.text
    return text
