"""Content and blocks, made together, so that every block is an exact slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragpg.errors import ParseError
from ragpg.parsing.cleanup import clean
from ragpg.types import Block, BlockKind, ParsedDocument

_SEPARATOR = "\n\n"


@dataclass(slots=True)
class ContentBuilder:
    """Puts a document's text together block by block (for formats whose source is not its text)."""

    blocks: list[Block] = field(default_factory=list[Block])
    warnings: list[str] = field(default_factory=list[str])
    _parts: list[str] = field(default_factory=list[str])
    _length: int = 0
    _breaks: list[int] = field(default_factory=list[int])

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        page: int | None = None,
        code_language: str | None = None,
    ) -> None:
        """Append a block; text that is nothing but white space is left out."""
        text, warnings = clean(text)
        self.warnings += [warning for warning in warnings if warning not in self.warnings]
        text = text.strip("\n").rstrip() if kind in ("code", "list", "table") else text.strip()
        if not text:
            return
        if self._parts:
            self._parts.append(_SEPARATOR)
            self._length += len(_SEPARATOR)
        start = self._length
        self._write_breaks()
        self._parts.append(text)
        self._length += len(text)
        self.blocks.append(Block(kind, start, self._length, level, page, code_language))

    def page_break(self, page: int) -> None:
        """Say that ``page`` begins with what comes next."""
        self._breaks.append(page)

    def _write_breaks(self) -> None:
        self.blocks += [Block("page_break", self._length, self._length, page=page) for page in self._breaks]
        self._breaks.clear()

    def first_heading(self) -> str | None:
        """The text of the first heading of the highest level that is used, if there is one."""
        headings = [block for block in self.blocks if block.kind == "heading"]
        if not headings:
            return None
        best = min(headings, key=lambda block: block.level)
        return " ".join(self.content[best.char_start : best.char_end].split())

    @property
    def content(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    def build(
        self,
        *,
        name: str,
        title: str | None,
        media_type: str,
        metadata: Mapping[str, Any] | None = None,
        warnings: Sequence[str] = (),
    ) -> ParsedDocument:
        """Finish the document.

        Raises
        ------
        ParseError
            When no text was added.
        """
        if not self._parts:
            raise ParseError(f"{name} holds no text")
        self._write_breaks()
        return ParsedDocument(
            content=self.content,
            blocks=tuple(self.blocks),
            title=title,
            media_type=media_type,
            metadata=dict(metadata or {}),
            warnings=(*warnings, *self.warnings),
        )


def paragraphs(content: str, start: int, end: int) -> Iterator[Block]:
    """Give the paragraphs of ``content[start:end]``: runs of lines that are not blank.

    A block begins at its first line's indentation, because text that looks like code must stay as it is.
    """
    first: int | None = None
    last = position = start
    while position < end:
        newline = content.find("\n", position, end)
        line_end = end if newline < 0 else newline
        line = content[position:line_end].rstrip()
        if line:
            first = position if first is None else first
            last = position + len(line)
        elif first is not None:
            yield Block("paragraph", first, last)
            first = None
        position = line_end + 1
    if first is not None:
        yield Block("paragraph", first, last)
