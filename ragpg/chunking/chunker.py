"""From a parsed document to its chunks: runs the strategy, holds every piece to the limit, adds pages and parents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ragpg.chunking.base import Piece, Source, Strategy
from ragpg.chunking.cuts import trim, windows
from ragpg.chunking.fixed import Fixed
from ragpg.chunking.outline import Outline
from ragpg.chunking.parents import SectionParents
from ragpg.chunking.recursive import Recursive
from ragpg.chunking.spec import normalise_spec
from ragpg.chunking.structure import Structure
from ragpg.text import TokenCounter, token_counter
from ragpg.types import Chunk, ParsedDocument

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_STRATEGIES: Mapping[str, Callable[[Mapping[str, Any]], Strategy]] = {
    "structure": lambda spec: Structure(),
    "recursive": lambda spec: Recursive(spec["overlap"]),
    "fixed": lambda spec: Fixed(spec["overlap"]),
}


class Chunker:
    """Cuts documents by one chunking. Made by `make_chunker`; may be used from several threads.

    Attributes
    ----------
    spec
        The normalised chunking.
    counter
        Counts the tokens of what is embedded.
    """

    def __init__(self, spec: Mapping[str, Any], counter: TokenCounter) -> None:
        self.spec = dict(spec)
        self.counter = counter
        self._strategy = _STRATEGIES[spec["strategy"]](spec)

    def chunk(self, document: ParsedDocument) -> list[Chunk]:
        """Cut a document into chunks. The same document and chunking give the same chunks.

        Returns
        -------
        list[Chunk]
            In order. ``document.content[chunk.char_start:chunk.char_end] == chunk.content`` for each; ``token_count`` is that of
            ``chunk.embedding_input`` with the tokens the model adds, and at most ``max_tokens``.
        """
        text = _LONE_SURROGATE.sub("\ufffd", document.content)
        outline = Outline(document, text)
        title = _LONE_SURROGATE.sub("\ufffd", document.title or "")
        source = Source(text, title, outline, self.counter, self.spec["max_tokens"])
        pieces: list[Piece] = []
        counts: list[int] = []
        for piece in self._strategy.pieces(source):
            for fitting, tokens in _fitted(source, piece):
                pieces.append(fitting)
                counts.append(tokens)
        parents = self._parents(source, pieces, counts)
        return [
            _chunk(document, outline, ordinal, piece, counts[ordinal], parents)
            for ordinal, piece in enumerate(pieces)
        ]

    def _parents(self, source: Source, pieces: list[Piece], counts: list[int]) -> SectionParents | None:
        if self.spec["parent"] is None:
            return None
        own = [
            tokens - source.max_tokens + source.room(piece.heading)
            for piece, tokens in zip(pieces, counts, strict=True)
        ]
        spans = [(piece.start, piece.end) for piece in pieces]
        return SectionParents(source.outline, spans, own, self.spec["parent_max_tokens"])


def make_chunker(spec: Mapping[str, Any], *, count_tokens: TokenCounter | None = None) -> Chunker:
    """Make a chunker from a collection's chunking.

    Parameters
    ----------
    spec
        See `normalise_spec`.
    count_tokens
        Counts tokens in place of the counter that ``spec["tokenizer"]`` names.

    Raises
    ------
    ChunkingError
        The chunking is not valid.
    """
    normal = normalise_spec(spec)
    return Chunker(normal, count_tokens or token_counter(normal["tokenizer"]))


def _fitted(source: Source, piece: Piece) -> Iterator[tuple[Piece, int]]:
    """Yield the piece with its exact count, or where that is over the limit, smaller pieces."""
    if not source.text[piece.start : piece.end].strip():
        return
    tokens = piece.tokens or source.measure(piece.heading, piece.start, piece.end)
    room = source.room(piece.heading) - (tokens - source.max_tokens)
    if tokens <= source.max_tokens or piece.end - piece.start == 1:
        yield piece, tokens
        return
    spans = [(piece.start, piece.end)]
    while len(spans) == 1 and room > 0:
        cuts = windows(source.text, piece.start, piece.end, room, source.counter, words=piece.trimmed)
        spans = [(start, end) for start, end, _ in cuts]
        room -= 1
    if len(spans) == 1:
        middle = (piece.start + piece.end) // 2
        spans = [(piece.start, middle), (middle, piece.end)]
    for start, end in spans:
        if piece.trimmed:
            start, end = trim(source.text, start, end)
        part = Piece(start, end, piece.heading, piece.section, piece.kind, trimmed=piece.trimmed)
        yield from _fitted(source, part)


def _chunk(
    document: ParsedDocument,
    outline: Outline,
    ordinal: int,
    piece: Piece,
    tokens: int,
    parents: SectionParents | None,
) -> Chunk:
    parent_start, parent_end = parents.parent(ordinal, piece.section) if parents else (None, None)
    return Chunk(
        ordinal=ordinal,
        content=document.content[piece.start : piece.end],
        char_start=piece.start,
        char_end=piece.end,
        token_count=tokens,
        heading=piece.heading,
        section_path=outline.sections[piece.section].path,
        kind=piece.kind,
        parent_start=parent_start,
        parent_end=parent_end,
        page_start=outline.page_at(piece.start),
        page_end=outline.page_at(piece.end - 1),
    )
