"""From an HTML tree to text and blocks: headings, paragraphs, "- " lists, Markdown tables, code as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ragpg.parsing.builder import ContentBuilder
from ragpg.parsing.extras import require
from ragpg.parsing.html_tables import is_data_table, table_rows
from ragpg.parsing.tables import markdown_table

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
_ITEMS = frozenset({"li", "dt"})
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "main", "nav", "option", "p",
    "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
})  # fmt: skip
_WHITE_SPACE = re.compile(r"\s+")
_AROUND_BREAK = re.compile(r" *\n *")
_EMPTY_LINES = re.compile(r"\n{2,}")
_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:)[-_ ]?([\w+#.]+)(?:\s|$)"
)
_SOFT_HYPHEN = "\xad"
_MAX_INDENT = 40


@dataclass(slots=True)
class _List:
    """A list that is open: where its items stand, and the mark that the next line gets."""

    ordered: bool
    indent: int
    number: int = 1
    marker: str = "- "
    pending: bool = False

    def next_item(self) -> None:
        self.marker = f"{self.number}. " if self.ordered else "- "
        self.number += 1
        self.pending = True

    def prefix(self) -> str:
        prefix = " " * self.indent + (self.marker if self.pending else " " * len(self.marker))
        self.pending = False
        return prefix


class _Writer:
    """Gathers inline text and writes it as a block wherever a block begins or ends."""

    def __init__(self, builder: ContentBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []
        self._lines: list[str] = []
        self._lists: list[_List] = []
        self._heading = 0

    def text(self, text: str | None) -> None:
        if text:
            self._inline.append(_WHITE_SPACE.sub(" ", text))

    def line_break(self) -> None:
        self._inline.append("\n")

    def flush(self) -> None:
        """End the run of inline text."""
        text = "".join(self._inline).replace(_SOFT_HYPHEN, "")
        self._inline.clear()
        text = _AROUND_BREAK.sub("\n", re.sub(" {2,}", " ", text)).strip()
        if not text:
            return
        if self._heading:
            self._builder.add("heading", text.replace("\n", " "), level=self._heading)
        elif self._lists:
            self._lines += [self._lists[-1].prefix() + line for line in text.split("\n") if line]
        else:
            for paragraph in _EMPTY_LINES.split(text):
                self._builder.add("paragraph", paragraph)

    def start_heading(self, level: int) -> None:
        self.interrupt()
        self._heading = level

    def end_heading(self) -> None:
        self.flush()
        self._heading = 0

    def start_list(self, *, ordered: bool, first: int) -> None:
        self.end_heading()
        above = self._lists[-1] if self._lists else None
        indent = above.indent + len(above.marker) if above else 0
        self._lists.append(_List(ordered, min(indent, _MAX_INDENT), first))

    def end_list(self) -> None:
        self.flush()
        if self._lists:
            self._lists.pop()
        if not self._lists:
            self._write_list()

    def start_item(self) -> None:
        self.flush()
        if self._lists:
            self._lists[-1].next_item()

    def interrupt(self) -> None:
        """Make room for a block of its own; a list that is open goes on after it."""
        self.flush()
        self._write_list()
        self._heading = 0

    def code(self, text: str, language: str | None) -> None:
        self.interrupt()
        self._builder.add("code", text, code_language=language)

    def table(self, caption: str, rows: list[list[str]]) -> None:
        self.interrupt()
        self._builder.add("paragraph", " ".join(caption.split()))
        self._builder.add("table", markdown_table(rows))

    def boundary(self) -> None:
        """Pass the start or end of a block element; within a heading that is only a gap."""
        if self._heading:
            self._inline.append(" ")
        else:
            self.flush()

    def _write_list(self) -> None:
        self._builder.add("list", "\n".join(self._lines))
        self._lines.clear()


def add_blocks(builder: ContentBuilder, root: Any) -> None:
    """Write what an HTML element holds.

    Parameters
    ----------
    builder
        Takes the blocks.
    root
        An lxml element; it is read without recursion, so its depth does not matter.
    """
    writer = _Writer(builder)
    walk = require("lxml.etree").iterwalk(root, events=("start", "end"))
    skipped = None
    for event, element in walk:
        if event == "start":
            if _written_whole(writer, element):
                skipped = element
                walk.skip_subtree()
            else:
                _start(writer, element)
                writer.text(element.text)
            continue
        if element is skipped:
            skipped = None
        else:
            _end(writer, element.tag)
        if element is not root:
            writer.text(element.tail)
    writer.interrupt()


def _written_whole(writer: _Writer, element: Any) -> bool:
    if element.tag == "pre":
        writer.code(_verbatim(element), _language(element))
        return True
    if element.tag == "table" and is_data_table(element):
        writer.table(*table_rows(element))
        return True
    return False


def _start(writer: _Writer, element: Any) -> None:
    tag = element.tag
    if tag in _HEADINGS:
        writer.start_heading(_HEADINGS[tag])
    elif tag in _LISTS:
        start = element.get("start") or "1"
        writer.start_list(
            ordered=tag == "ol", first=int(start) if start.isdecimal() and len(start) < 9 else 1
        )
    elif tag in _ITEMS:
        writer.start_item()
    elif tag == "br":
        writer.line_break()
    elif tag == "p":
        writer.end_heading()  # an <h1> that was never closed must not swallow the page
    elif tag in _BLOCKS:
        writer.boundary()


def _end(writer: _Writer, tag: str) -> None:
    if tag in _HEADINGS:
        writer.end_heading()
    elif tag in _LISTS:
        writer.end_list()
    elif tag in _ITEMS or tag in _BLOCKS:
        writer.boundary()


def _verbatim(element: Any) -> str:
    parts: list[str] = []
    for event, inner in require("lxml.etree").iterwalk(element, events=("start", "end", "comment", "pi")):
        if event == "start":
            parts.append("\n" if inner.tag == "br" else inner.text or "")
        elif inner is not element:
            parts.append(inner.tail or "")
    return "".join(parts).removeprefix("\n")


def _language(pre: Any) -> str | None:
    """``class="language-rust"`` on the pre, the code in it, or the div around it."""
    for element in (pre, pre.find("code"), pre.getparent()):
        if element is not None and (match := _LANGUAGE_CLASS.search(element.get("class") or "")):
            return match[1].lower()
    return None
