"""Putting small units of text together into chunks that an edit elsewhere in the document does not move.

Filling chunks from the top lets one longer paragraph shift every boundary below it, and then everything is embedded again. Here a
boundary is chosen by what stands right after it: a run of units that is over the limit is cut at its boundary of the lowest rank (the
outermost structure first, then a hash of the text that follows), until every part fits; parts that fit together are then joined, the
smallest first. Each choice looks only at its neighbourhood, so an edit changes the chunks around it and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from zlib import crc32

from ragpg.types import ChunkKind

_JOIN_ROUNDS = 2
_HASHED_CHARACTERS = 64


@dataclass(frozen=True, slots=True)
class Unit:
    """A range that is not cut any more. ``depth`` says how deep in the structure the boundary before it lies (0: between blocks)."""

    start: int
    end: int
    tokens: int
    kind: ChunkKind = "text"
    depth: int = 0


def pack(text: str, units: Sequence[Unit], budget: int) -> list[list[Unit]]:
    """Group consecutive units so that no group's tokens are over ``budget``, unless one unit alone is."""
    total = [0, *accumulate(unit.tokens for unit in units)]
    if total[-1] <= budget:
        return [list(units)] if units else []
    ranks = [_rank(text, unit) for unit in units]
    groups = _split(ranks, total, budget)
    for _ in range(_JOIN_ROUNDS):
        groups = _join(groups, ranks, total, budget)
    return [list(units[first:last]) for first, last in groups]


Rank = tuple[int, int, int]
Group = tuple[int, int]


def _rank(text: str, unit: Unit) -> Rank:
    # The beginning first: an edit further on in the unit then leaves the boundary where it is.
    beginning = text[unit.start : min(unit.end, unit.start + _HASHED_CHARACTERS)].encode()
    return unit.depth, crc32(beginning), crc32(text[unit.start : unit.end].encode())


def _split(ranks: Sequence[Rank], total: Sequence[int], budget: int) -> list[Group]:
    groups: list[Group] = []
    pending = [(0, len(ranks))]
    while pending:
        first, last = pending.pop()
        if last - first == 1 or total[last] - total[first] <= budget:
            groups.append((first, last))
            continue
        lowest = min(ranks[first + 1 : last])
        middle = total[first] + total[last]
        cut = min(
            (index for index in range(first + 1, last) if ranks[index] == lowest),
            key=lambda index: abs(2 * total[index] - middle),
        )
        pending += [(cut, last), (first, cut)]
    return groups


def _join(groups: Sequence[Group], ranks: Sequence[Rank], total: Sequence[int], budget: int) -> list[Group]:
    # A pair is joined if it fits and is smaller than both pairs it overlaps with: a choice that needs no order.
    sums = [total[right[1]] - total[left[0]] for left, right in pairwise(groups)]
    keys = [
        (-ranks[right[0]][0], size, ranks[right[0]]) if size <= budget else None
        for size, right in zip(sums, groups[1:], strict=True)
    ]
    joined: list[Group] = []
    index = 0
    while index < len(groups):
        key = keys[index] if index < len(keys) else None
        before = keys[index - 1] if index > 0 else None
        after = keys[index + 1] if index + 1 < len(keys) else None
        if key and (before is None or key < before) and (after is None or key <= after):
            joined.append((groups[index][0], groups[index + 1][1]))
            index += 2
        else:
            joined.append(groups[index])
            index += 1
    return joined
