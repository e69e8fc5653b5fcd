"""Tables that are over the limit: cut between rows, each part with the header row above it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragpg.chunking.base import Piece, Source
from ragpg.chunking.cuts import lines, trim
from ragpg.chunking.packing import Unit, pack
from ragpg.chunking.splitting import count_spans, split
from ragpg.types import Block

_DELIMITER_ROW = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")

_LEAST_ROOM = 5
"""One character may take this many tokens, so a header row may not leave less beside it."""


def table_pieces(source: Source, table: Block, heading: str, section: int) -> Iterator[Piece]:
    """Cut a table between rows. Parts after the first carry its header row in ``heading``, on a line of its own."""
    text = source.text
    spans = [trim(text, *span) for span in lines(text, table.char_start, table.char_end)]
    rows = [(start, end) for start, end in spans if start < end]
    has_delimiter = len(rows) > 1 and _DELIMITER_ROW.fullmatch(text, *rows[1])
    header = rows[: 2 if has_delimiter else 1]
    header_end = header[-1][1]
    repeated = _under(source, heading, text[slice(*header[0])].strip())
    room = source.room(repeated)
    units: list[Unit] = []
    for span, tokens in zip(rows, count_spans(source, rows, room), strict=True):
        if tokens <= room:
            units.append(Unit(*span, tokens, "table"))
        else:
            units += split(source, *span, room, (), kind="table")
    for group in pack(text, _with_header(units, header_end, room), room):
        above = heading if group[0].start < header_end else repeated
        yield Piece(group[0].start, group[-1].end, above, section, "table")


def _with_header(units: list[Unit], header_end: int, room: int) -> list[Unit]:
    """Join the header rows to the first row below them, where they fit together."""
    count = next((index for index, unit in enumerate(units) if unit.start >= header_end), 0) + 1
    top = units[:count]
    tokens = sum(unit.tokens for unit in top)
    if tokens > room:
        return units
    return [Unit(top[0].start, top[-1].end, tokens, "table"), *units[count:]]


def _under(source: Source, heading: str, header_row: str) -> str:
    ends = source.counter.token_ends(header_row)
    if len(ends) > source.heading_limit:
        header_row = header_row[: ends[source.heading_limit - 2]].rstrip() + "…"
    repeated = f"{heading}\n{header_row}" if heading else header_row
    return repeated if source.room(repeated) >= max(_LEAST_ROOM, source.max_tokens // 4) else heading
