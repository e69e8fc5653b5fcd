"""The ``fixed`` strategy: windows of tokens with overlap, whatever they cut."""

from __future__ import annotations

from collections.abc import Iterator

from ragpg.chunking.base import Piece, Source
from ragpg.chunking.cuts import windows


class Fixed:
    """Windows of as many tokens as fit beside the title; each shares ``overlap`` tokens with the one before.

    A window ends after a whole token, or where a token is half a character, after the last whole character.
    """

    def __init__(self, overlap: int) -> None:
        self._overlap = overlap

    def pieces(self, source: Source) -> Iterator[Piece]:
        """Yield the windows in order."""
        heading = source.heading()
        room = source.room(heading)
        text = source.text
        for start, end, _ in windows(
            text, 0, len(text), room, source.counter, words=False, overlap=self._overlap
        ):
            yield Piece(start, end, heading, source.outline.section_at(start), trimmed=False)
