"""The citable units of a source text, with exact offsets: sentences, lists, table rows, code blocks. Never a heading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragpg.answering.language import guess_language
from ragpg.text import split_sentences
from ragpg.types import SearchHit

UnitKind = Literal["sentence", "list", "row", "code"]

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_BULLET: Final = re.compile(r"\s*(?:>\s?)*(?:[-*+]\s+)+")
_NUMBER: Final = re.compile(r"\s*\d{1,9}[.)]\s+")
_TABLE_RULE: Final = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_CELL_BORDER: Final = re.compile(r"(?<!\\)\|")
_ENDED: Final = re.compile(r"[.!?…:;,。！？：；、؟।]\W*$")
_QUOTE_PREFIX: Final = re.compile(r"^\s*>\s?", re.MULTILINE)
_MARKUP: Final = re.compile(r"^[\s#*_>]+|[\s#*_]+$")
_HEADING_LENGTH: Final = 80
_LIST_LENGTH: Final = 600


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a source that means something by itself.

    ``content[start:end]`` is the exact source, ``text`` the same made readable on its own (a row with its column names), ``context``
    what stands above it and helps to judge it.
    """

    start: int
    end: int
    text: str
    context: str = ""
    kind: UnitKind = "sentence"


def sentence_spans(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """Find the sentences of a text in any language.

    Parameters
    ----------
    text
        Running text.
    language
        ISO 639-1 code; guessed from the text when not given.

    Returns
    -------
    list of (int, int)
        Start and end of each sentence, without the white space around it.
    """
    spans: list[tuple[int, int]] = []
    for start, end in split_sentences(text, language or guess_language(text)):
        sentence = text[start:end]
        if sentence.strip():
            start += len(sentence) - len(sentence.lstrip())
            spans.append((start, start + len(sentence.strip())))
    return spans


def hit_units(hit: SearchHit) -> list[Unit]:
    """Return the units of a hit; their offsets count from the beginning of ``hit.content``."""
    lines = hit.heading.split("\n")
    path = [part for line in lines if "|" not in line for part in line.split(" › ")]
    header = next((line for line in lines if "|" in line and not _TABLE_RULE.fullmatch(line)), "")
    return units(hit.content, headings=[*path, *hit.section_path, hit.title or ""], table_header=header)


def units(content: str, *, headings: Sequence[str] = (), table_header: str = "") -> list[Unit]:
    """Cut a source text into citable units.

    Parameters
    ----------
    content
        Markdown or plain text.
    headings
        The title and the section names of the text: a line that repeats one is no unit.
    table_header
        The header row of the table that the text continues, where an earlier chunk holds it.

    Returns
    -------
    list of Unit
        In the order of the text and without overlaps. Headings are left out; a table gives one unit a row.
    """
    return _Cutter(content, frozenset(map(_bare, headings)), table_header).cut()


def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable(["code", "html_block", "reference"])


class _Cutter:
    def __init__(self, content: str, headings: frozenset[str], table_header: str) -> None:
        self.content = content
        self.headings = headings
        self.table_header = table_header
        self.language = guess_language(content)
        self.line_starts = [0, *(match.end() for match in _LINE_END.finditer(content)), len(content)]
        self.found: list[Unit] = []
        self.introduction = ""

    def cut(self) -> list[Unit]:
        tokens = _markdown().parse(self.content)
        last_line = max((token.map[1] for token in tokens if token.map), default=0)
        skip_to = 0
        in_table = False
        columns: list[str] = []
        for token in tokens:
            if token.type == "heading_open" and token.map:
                skip_to = max(skip_to, token.map[1])
            if token.type == "table_close":
                in_table, columns = False, []
                self.introduction = ""
            if token.map is None or token.map[0] < skip_to:
                continue
            start, end = self._range(token)
            if token.type in {"bullet_list_open", "ordered_list_open"} and token.level == 0:
                if self._take_list(end):
                    skip_to = token.map[1]
            elif token.type == "fence":
                self._add(start, end, "code", self.content[start:end].strip())
                self.introduction = ""
            elif token.type == "table_open":
                in_table = True
            elif token.type == "thead_open":
                columns = _cells(self.content[start:end])
                skip_to = token.map[1]
            elif token.type == "tr_open":
                self._add_row(start, end, columns)
            elif token.type == "inline" and not in_table:
                self._take_paragraph(start, end, in_list=token.level > 1, is_last=token.map[1] == last_line)
        return self.found

    def _range(self, token: Token) -> tuple[int, int]:
        assert token.map is not None
        last = len(self.line_starts) - 1
        return self.line_starts[token.map[0]], self.line_starts[min(token.map[1], last)]

    def _add(self, start: int, end: int, kind: UnitKind, text: str) -> None:
        source = self.content[start:end]
        if text and source.strip():
            start += len(source) - len(source.lstrip())
            self.found.append(Unit(start, start + len(source.strip()), text, self.introduction, kind))

    def _add_row(self, start: int, end: int, columns: list[str]) -> None:
        values = _cells(self.content[start:end])
        names = columns if len(columns) >= len(values) else [*columns, *[""] * (len(values) - len(columns))]
        shown = [
            f"{name}: {value}" if name else value for name, value in zip(names, values, strict=False) if value
        ]
        self._add(start, end, "row", "; ".join(shown))

    def _take_list(self, end: int) -> bool:
        """Make one unit of a short list and the sentence that introduces it."""
        if not self.introduction:
            return False
        start = self.content.rfind(self.introduction, 0, end)
        if start < 0 or end - start > _LIST_LENGTH:
            return False
        self.introduction = ""
        self._add(start, end, "list", self.content[start:end].strip())
        return True

    def _take_paragraph(self, start: int, end: int, *, in_list: bool, is_last: bool) -> None:
        text = self.content[start:end]
        lines = text.strip().split("\n")
        if all(line.lstrip().startswith("|") for line in lines):
            columns = _cells(self.table_header)
            for line_start, line_end in self._lines(start, end):
                if not _TABLE_RULE.fullmatch(self.content[line_start:line_end].strip()):
                    self._add_row(line_start, line_end, columns)
            return
        if not in_list:
            self.introduction = ""
            if self._is_heading(lines, is_last):
                return
        bullet = _BULLET.match(text)
        start += bullet.end() if bullet else 0
        number = _NUMBER.match(self.content, start, end)
        body = number.end() if number else start
        for index, (left, right) in enumerate(sentence_spans(self.content[body:end], self.language)):
            left, right = (start if index == 0 else body + left), body + right
            self._add(left, right, "sentence", _one_line(self.content[left:right]))
        last = self.found[-1] if self.found else None
        if not in_list and not is_last and last and last.start >= start and last.text.endswith((":", "：")):
            self.introduction = self.content[last.start : last.end]
            self.found.pop()

    def _lines(self, start: int, end: int) -> list[tuple[int, int]]:
        bounds = [position for position in self.line_starts if start <= position < end]
        return list(zip(bounds, [*bounds[1:], end], strict=True))

    def _is_heading(self, lines: list[str], is_last: bool) -> bool:
        """Tell a heading without markup (PDF, plain text) from a sentence: one short line, no number, no punctuation, more to come."""
        if len(lines) != 1:
            return False
        if _bare(lines[0]) in self.headings:
            return True
        line = lines[0].strip()
        return (
            not is_last
            and len(line) <= _HEADING_LENGTH
            and not _ENDED.search(line)
            and not re.search(r"\d", line)
        )


def _cells(row: str) -> list[str]:
    if "|" not in row:
        return []
    parts = _CELL_BORDER.split(row.strip().removeprefix("|"))
    if not parts[-1].strip():
        parts.pop()
    return [part.replace("\\|", "|").strip() for part in parts]


def _bare(heading: str) -> str:
    return _one_line(_MARKUP.sub("", heading)).casefold()


def _one_line(text: str) -> str:
    return " ".join(_QUOTE_PREFIX.sub("", text).split())
