"""Cutting a range that is over the limit, by the coarsest cutter that cuts it, then by finer ones where a part is still too long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragpg.chunking.base import Source
from ragpg.chunking.cuts import Cutter, Span, trim, windows
from ragpg.chunking.packing import Unit
from ragpg.types import ChunkKind


def split(
    source: Source,
    start: int,
    end: int,
    budget: int,
    cutters: Sequence[Cutter],
    *,
    kind: ChunkKind = "text",
    depth: int = 0,
) -> list[Unit]:
    """Cut a range into units of at most ``budget`` tokens: by ``cutters`` in turn, at last between words and characters.

    ``depth`` is that of the boundary before the range; the boundaries inside lie deeper.
    """
    text = source.text
    for level, cutter in enumerate(cutters, start=1):
        spans = _trimmed(text, cutter(text, start, end))
        if len(spans) > 1:
            return _outermost(_cut_further(source, spans, budget, cutters[level:], kind, depth + 1), depth)
    units: list[Unit] = []
    for first, last, tokens in windows(text, start, end, budget, source.counter):
        first, last = trim(text, first, last)
        if first < last:
            units.append(Unit(first, last, tokens, kind, depth + 1))
    return _outermost(units, depth)


def _cut_further(
    source: Source, spans: list[Span], budget: int, cutters: Sequence[Cutter], kind: ChunkKind, depth: int
) -> list[Unit]:
    units: list[Unit] = []
    for span, tokens in zip(spans, count_spans(source, spans, budget), strict=True):
        if tokens <= budget:
            units.append(Unit(*span, tokens, kind, depth))
        else:
            units += split(source, *span, budget, cutters, kind=kind, depth=depth)
    return units


def count_spans(source: Source, spans: Sequence[Span], budget: int) -> list[int]:
    """Count each range with the space before it, so that the sum is what they take together; alone if only that fits."""
    text = source.text
    befores = [spans[0][0], *(end for _, end in spans[:-1])] if spans else []
    counts = source.counts(
        [text[before:end] for before, (_, end) in zip(befores, spans, strict=True)], budget
    )
    over = [index for index, tokens in enumerate(counts) if tokens > budget]
    alone = source.counts([text[spans[index][0] : spans[index][1]] for index in over], budget)
    for index, tokens in zip(over, alone, strict=True):
        counts[index] = tokens
    return counts


def _trimmed(text: str, spans: Iterable[Span]) -> list[Span]:
    return [(start, end) for start, end in (trim(text, *span) for span in spans) if start < end]


def _outermost(units: list[Unit], depth: int) -> list[Unit]:
    return [replace(units[0], depth=depth), *units[1:]] if units else units
