"""The ``structure`` strategy: sections, with their paragraphs, lists, tables and code kept whole where they fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ragpg.chunking.base import Piece, Source
from ragpg.chunking.cuts import Cutter, code_sections, lines, list_items, paragraphs, sentences, trim
from ragpg.chunking.outline import Section
from ragpg.chunking.packing import Unit, pack
from ragpg.chunking.splitting import count_spans, split
from ragpg.chunking.tables import table_pieces
from ragpg.types import Block, BlockKind, ChunkKind

_CUTTERS: Mapping[BlockKind, Sequence[Cutter]] = {
    "paragraph": (sentences,),
    "list": (list_items, lines, sentences),
    "code": (code_sections, paragraphs, lines),
    "table": (lines,),
}
_KINDS: Mapping[BlockKind, ChunkKind] = {"table": "table", "code": "code"}
_TINY = 32
"""Neighbouring sections without subsections share a chunk if each takes less than this part of the limit."""


class Structure:
    """Chunks that follow the document's own structure; the heading path of each is its ``heading``.

    A section that fits is one chunk. In a longer one neighbouring blocks share a chunk, a paragraph over the limit is cut between
    sentences, a list between items, code between definitions, then lines, and a table between rows, with its header row carried in
    ``heading``. Sections are not mixed, but for neighbours of a few words each.
    """

    def pieces(self, source: Source) -> Iterator[Piece]:
        """Yield the pieces in order."""
        sections = source.outline.sections
        index = 0
        while index < len(sections):
            following = self._tiny_until(source, index)
            if following - index > 1:
                yield from _tiny_sections(source, range(index, following))
            elif sections[index].blocks:
                yield from _section(source, index)
            elif sections[index].path[-1:] > ("",) and not sections[index].has_children:
                yield from _bare_heading(source, index)
            index = following

    def _tiny_until(self, source: Source, index: int) -> int:
        sections = source.outline.sections
        following = index
        while (
            0 < following < len(sections)
            and sections[following].parent == sections[index].parent
            and _is_tiny(source, sections[following])
        ):
            following += 1
        return max(following, index + 1)


def _is_tiny(source: Source, section: Section) -> bool:
    if section.has_children or not section.blocks:
        return not section.has_children
    limit = source.max_tokens // _TINY
    body = source.text[section.blocks[0].char_start : section.blocks[-1].char_end]
    return len(body) <= 10 * limit and source.counter.count(body) <= limit


def _tiny_sections(source: Source, indexes: range) -> Iterator[Piece]:
    sections = source.outline.sections
    parent = sections[indexes[0]].parent
    heading = source.heading(sections[parent].path)
    room = source.room(heading)
    spans = [trim(source.text, sections[index].start, sections[index].body_end) for index in indexes]
    counts = count_spans(source, spans, room)
    units = [Unit(*span, tokens) for span, tokens in zip(spans, counts, strict=True)]
    numbers = dict(zip(units, indexes, strict=True))
    for group in pack(source.text, units, room):
        if len(group) > 1:
            yield Piece(group[0].start, group[-1].end, heading, parent)
        elif sections[numbers[group[0]]].blocks:
            yield from _section(source, numbers[group[0]])
        else:
            yield from _bare_heading(source, numbers[group[0]])


def _bare_heading(source: Source, index: int) -> Iterator[Piece]:
    section = source.outline.sections[index]
    heading = source.heading(section.path[:-1])
    room = source.room(heading)
    for unit in split(source, section.start, section.heading_end, room, (lines, sentences)):
        yield Piece(unit.start, unit.end, heading, index)


def _section(source: Source, index: int) -> Iterator[Piece]:
    section = source.outline.sections[index]
    heading = source.heading(section.path)
    room = source.room(heading)
    start, end = trim(source.text, section.blocks[0].char_start, section.blocks[-1].char_end)
    if end - start <= 5 * room:
        tokens = source.measure(heading, start, end)
        if tokens <= source.max_tokens:
            yield Piece(start, end, heading, index, _main_kind(section.blocks), tokens)
            return
    for part in _parts(source, section.blocks, room):
        if isinstance(part, Block):
            yield from table_pieces(source, part, heading, index)
        else:
            yield from _packed(source, part, heading, index, room)


def _packed(source: Source, units: Sequence[Unit], heading: str, index: int, room: int) -> Iterator[Piece]:
    for group in pack(source.text, units, room):
        start, end = group[0].start, group[-1].end
        tokens = source.measure(heading, start, end)
        excess = tokens - source.max_tokens
        if excess > 0 and len(group) > 1:
            # The parts' counts were a little under the whole's: pack this group again with less room.
            smaller = min(room - excess, sum(unit.tokens for unit in group) - 1)
            yield from _packed(source, group, heading, index, smaller)
        else:
            yield Piece(start, end, heading, index, _kind_of(group), tokens)


def _parts(source: Source, blocks: Sequence[Block], room: int) -> Iterator[list[Unit] | Block]:
    """Yield runs of units that may share chunks, and between them the tables that are over the limit."""
    spans = [trim(source.text, block.char_start, block.char_end) for block in blocks]
    counts = count_spans(source, spans, room)
    units: list[Unit] = []
    before: Block | None = None
    for block, span, tokens in zip(blocks, spans, counts, strict=True):
        if tokens > room and block.kind == "table":
            if units:
                yield units
            yield block
            units, before = [], None
            continue
        kind = _KINDS.get(block.kind, "text")
        # A table or code keeps to the paragraph before it rather than to what follows.
        depth = 1 if before and before.kind == "paragraph" and kind != "text" else 0
        new = [Unit(*span, tokens, kind, depth)]
        if tokens > room:
            new = split(source, *span, room, _CUTTERS[block.kind], kind=kind, depth=depth)
        if before and _leads_in(source.text, before, block):
            units[-1:], new[0] = _with_lead_in(source, units[-1], new[0], room)
            units += new[1:] if units[-1] is new[0] else new
        else:
            units += new
        before = block
    if units:
        yield units


def _leads_in(text: str, before: Block, block: Block) -> bool:
    if before.kind != "paragraph" or block.kind not in ("list", "table", "code"):
        return False
    if text[before.char_start : before.char_end].rstrip().endswith((":", "：")):
        return True
    return block.kind == "list" and not _parted(text, before, block)


def _parted(text: str, before: Block, block: Block) -> bool:
    end = trim(text, before.char_start, before.char_end)[1]
    return text.count("\n", end, block.char_start) > 1


def _with_lead_in(source: Source, lead: Unit, led: Unit, room: int) -> tuple[list[Unit], Unit]:
    """Join a paragraph, or its last sentence, to what it introduces; leave both as they are where that doesn't fit."""
    text = source.text
    if lead.tokens + led.tokens <= room:
        joined = _joined(lead, led)
        return [joined], joined
    spans = [trim(text, *span) for span in sentences(text, lead.start, lead.end)]
    if len(spans) < 2:
        return [lead], led
    rest, last = source.counter.count_many([text[lead.start : spans[-2][1]], text[spans[-2][1] : lead.end]])
    if last + led.tokens > room:
        return [lead], led
    joined = _joined(Unit(*spans[-1], last), led)
    return [Unit(lead.start, spans[-2][1], rest, lead.kind, lead.depth), joined], joined


def _joined(lead: Unit, led: Unit) -> Unit:
    kind = led.kind if led.end - led.start > lead.end - lead.start else lead.kind
    return replace(lead, end=led.end, tokens=lead.tokens + led.tokens, kind=kind)


def _kind_of(units: Sequence[Unit]) -> ChunkKind:
    lengths: Counter[ChunkKind] = Counter()
    for unit in units:
        lengths[unit.kind] += unit.end - unit.start
    return lengths.most_common(1)[0][0]


def _main_kind(blocks: Sequence[Block]) -> ChunkKind:
    lengths: Counter[ChunkKind] = Counter()
    for block in blocks:
        lengths[_KINDS.get(block.kind, "text")] += block.char_end - block.char_start
    return lengths.most_common(1)[0][0]
