"""Parents as ranges: the section around a chunk, or where that is too long, the chunks around it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from ragpg.chunking.cuts import Span, trim
from ragpg.chunking.outline import Outline, Section


class SectionParents:
    """Finds the smallest section that holds a chunk and is not over ``max_tokens``, else a window of whole chunks in it.

    Parameters
    ----------
    outline
        The document's sections.
    spans
        The chunks' ranges, in order.
    tokens
        What each chunk's content takes, without its heading.
    max_tokens
        The largest parent.
    """

    def __init__(
        self, outline: Outline, spans: Sequence[Span], tokens: Sequence[int], max_tokens: int
    ) -> None:
        self._outline = outline
        self._spans = spans
        self._tokens = tokens
        self._starts = [start for start, _ in spans]
        self._total = [0, *accumulate(tokens)]
        self._max_tokens = max_tokens

    def parent(self, ordinal: int, section: int) -> Span:
        """Return the range of the parent of one chunk, which begins in ``section``."""
        start, end = self._spans[ordinal]
        sections = self._outline.sections
        holding: list[Span] = []
        while not holding:
            holding = [span for span in _ranges(sections[section]) if span[0] <= start and end <= span[1]]
            section = sections[section].parent
        for span in holding:
            if self._size(*span) <= self._max_tokens:
                first, last = trim(self._outline.text, *span)
                return min(first, start), max(last, end)
        return self._window(ordinal, *min(holding, key=lambda span: span[1] - span[0]))

    def _size(self, start: int, end: int) -> int:
        return self._total[bisect_left(self._starts, end)] - self._total[bisect_left(self._starts, start)]

    def _window(self, ordinal: int, start: int, end: int) -> Span:
        first = last = ordinal
        room = self._max_tokens - self._tokens[ordinal]
        grown = True
        while grown:
            grown = False
            following, before = last + 1, first - 1
            if self._fits(following, start, end, room):
                last, room, grown = following, room - self._tokens[following], True
            if self._fits(before, start, end, room):
                first, room, grown = before, room - self._tokens[before], True
        return self._spans[first][0], self._spans[last][1]

    def _fits(self, ordinal: int, start: int, end: int, room: int) -> bool:
        if not 0 <= ordinal < len(self._spans) or self._tokens[ordinal] > room:
            return False
        return start <= self._spans[ordinal][0] and self._spans[ordinal][1] <= end


def _ranges(section: Section) -> tuple[Span, Span]:
    own, whole = (section.start, section.body_end), (section.start, section.end)
    # Before the first heading the text stands alone; under a heading its subsections belong to it.
    return (own, whole) if section.level == 0 else (whole, own)
