"""What every strategy works with: the document as a ``Source``, and the ``Piece`` it makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragpg.chunking.outline import Outline
from ragpg.text import TokenCounter
from ragpg.types import ChunkKind, embedding_input

HEADING_SEPARATOR = " › "
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk before it has its number, pages and parent. ``section`` is an index into the outline's sections.

    ``tokens`` is the exact count of what is embedded, where the strategy knows it already. ``trimmed`` is false for windows whose white
    space belongs to them.
    """

    start: int
    end: int
    heading: str
    section: int
    kind: ChunkKind = "text"
    tokens: int | None = None
    trimmed: bool = True


class Strategy(Protocol):
    """One way to cut a document. A strategy may rely on ``Source`` alone."""

    def pieces(self, source: Source) -> Iterable[Piece]:
        """Yield the document's pieces in order."""
        ...


class Source:
    """One document on its way through a strategy: its text, its outline, and what still fits beside a heading.

    ``text`` has the document's offsets; only lone surrogates, which no tokenizer takes, are replaced.
    """

    def __init__(
        self, text: str, title: str, outline: Outline, counter: TokenCounter, max_tokens: int
    ) -> None:
        self.text = text
        self.outline = outline
        self.counter = counter
        self.max_tokens = max_tokens
        self.heading_limit = max_tokens // 3
        self._title = " ".join(title.split())
        self._headings: dict[tuple[str, ...], str] = {}
        self._room: dict[str, int] = {}

    def heading(self, path: Sequence[str] = ()) -> str:
        """Return the title and the heading path as one line, shortened from the left to a third of the token limit."""
        key = tuple(path)
        if key not in self._headings:
            names = [name for name in path if name]
            if self._title and names[:1] != [self._title]:
                names.insert(0, self._title)
            self._headings[key] = self._shortened(names)
        return self._headings[key]

    def room(self, heading: str) -> int:
        """Return how many tokens of content fit beside ``heading``."""
        if heading not in self._room:
            taken = self.counter.count(embedding_input(heading, ""))
            self._room[heading] = max(1, self.max_tokens - self.counter.special_tokens - taken)
        return self._room[heading]

    def measure(self, heading: str, start: int, end: int) -> int:
        """Return the exact number of tokens that is embedded for a range under ``heading``."""
        content = self.text[start:end]
        return self.counter.special_tokens + self.counter.count(embedding_input(heading, content))

    def counts(self, texts: Sequence[str], limit: int) -> list[int]:
        """Count ``texts``; one that can't fit ``limit`` by its length alone is only said to be over it."""
        # No token of ordinary text is 40 characters on average, and counting a 5 MB paragraph only to cut it is time lost.
        short = iter(self.counter.count_many([text for text in texts if len(text) <= 40 * limit]))
        return [next(short) if len(text) <= 40 * limit else limit + 1 for text in texts]

    def _shortened(self, names: list[str]) -> str:
        heading = HEADING_SEPARATOR.join(names)
        while self.counter.count(heading) > self.heading_limit:
            if len(names) == 1:
                return self._end_of(names[0])
            names = names[1:]
            heading = HEADING_SEPARATOR.join((_ELLIPSIS, *names))
        return heading

    def _end_of(self, name: str) -> str:
        while name:
            heading = _ELLIPSIS + name
            excess = self.counter.count(heading) - self.heading_limit
            if excess <= 0:
                return heading
            ends = self.counter.token_ends(name)
            name = name[max(ends[min(excess, len(ends)) - 1], 1) if ends else 1 :].lstrip()
        return ""
