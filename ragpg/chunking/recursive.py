"""The ``recursive`` strategy: paragraphs, then lines, sentences, words and characters, filled up to the limit."""

from __future__ import annotations

from collections.abc import Iterator

from ragpg.chunking.base import Piece, Source
from ragpg.chunking.cuts import Span, lines, paragraphs, sentences, trim, whole_character
from ragpg.chunking.packing import Unit
from ragpg.chunking.splitting import split


class Recursive:
    """Fills each chunk with whole paragraphs; one that is too long is cut into lines, then sentences, words, characters.

    A chunk begins with up to ``overlap`` tokens of the one before, from the start of a sentence where there is one.
    """

    def __init__(self, overlap: int) -> None:
        self._overlap = overlap

    def pieces(self, source: Source) -> Iterator[Piece]:
        """Yield the chunks in order."""
        text = source.text
        heading = source.heading()
        overlap = min(self._overlap, source.room(heading) - 1)
        budget = source.room(heading) - overlap
        units = split(source, *trim(text, 0, len(text)), budget, _CUTTERS)
        before: Span | None = None
        for own_start, end in _filled(units, budget):
            start, tokens = own_start, None
            if before and overlap:
                start = _overlap_start(source, before, overlap)
                tokens = source.measure(heading, start, end)
                if tokens > source.max_tokens:
                    start, tokens = own_start, None
            yield Piece(start, end, heading, source.outline.section_at(own_start), tokens=tokens)
            before = own_start, end


_CUTTERS = (paragraphs, lines, sentences)


def _filled(units: list[Unit], budget: int) -> Iterator[Span]:
    if not units:
        return
    start, end, tokens = units[0].start, units[0].end, units[0].tokens
    for unit in units[1:]:
        if tokens + unit.tokens <= budget:
            end, tokens = unit.end, tokens + unit.tokens
        else:
            yield start, end
            start, end, tokens = unit.start, unit.end, unit.tokens
    yield start, end


def _overlap_start(source: Source, before: Span, overlap: int) -> int:
    text = source.text
    start, end = before
    tail = max(start, end - 8 * overlap)
    ends = source.counter.token_ends(text[tail:end])
    if len(ends) > overlap:
        tail += ends[-overlap - 1]
    elif tail == start:
        return start
    earliest = whole_character(text, tail, start, end)
    starts = [trim(text, *span) for span in sentences(text, earliest, end)][1:]
    if starts:
        return starts[0][0]
    position = next((at for at in range(earliest, end) if text[at].isspace()), earliest)
    return trim(text, position, end)[0]
