"""What the chunking tests share: documents built by hand, a tokenizer one can count by eye, and the rules every chunk obeys."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragpg.chunking import TokenCounter, make_chunker
from ragpg.types import Block, BlockKind, Chunk, ParsedDocument

ROOT = Path(__file__).parents[3]

Part = tuple[BlockKind, str] | tuple[BlockKind, str, int]


class Words:
    """A tokenizer whose tokens are the words between white space."""

    special_tokens = 0

    def count(self, text: str) -> int:
        return len(text.split())

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def token_ends(self, text: str) -> list[int]:
        return [match.end() for match in re.finditer(r"\S+", text)]


def document(*parts: Part, title: str | None = None, separator: str = "\n\n") -> ParsedDocument:
    """A document of blocks with ``separator`` between them; the third value of a part is a heading's level or a block's page."""
    content = ""
    blocks: list[Block] = []
    for kind, text, *number in parts:
        if content and kind != "page_break":
            content += separator
        level = number[0] if kind == "heading" else 0
        page = number[0] if number and kind != "heading" else None
        blocks.append(Block(kind, len(content), len(content) + len(text), level=level, page=page))
        content += text
    return ParsedDocument(content=content, blocks=tuple(blocks), title=title)


def chunks_of(
    source: ParsedDocument | str, *, counter: TokenCounter | None = None, **spec: Any
) -> list[Chunk]:
    """Chunk with the tokens counted in words, and hold the result to the rules."""
    parsed = ParsedDocument(source) if isinstance(source, str) else source
    counter = counter or Words()
    chunks = make_chunker(spec, count_tokens=counter).chunk(parsed)
    check(parsed, chunks, counter, spec.get("max_tokens", 256))
    return chunks


def check(source: ParsedDocument, chunks: Sequence[Chunk], counter: TokenCounter, max_tokens: int) -> None:
    """Assert what holds for every chunk of every strategy."""
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert source.content[chunk.char_start : chunk.char_end] == chunk.content
        assert chunk.content.strip()
        if not re.search("[\ud800-\udfff]", chunk.embedding_input):
            assert chunk.token_count == counter.count(chunk.embedding_input) + counter.special_tokens
        assert chunk.token_count <= max_tokens
        if chunk.parent_start is not None and chunk.parent_end is not None:
            assert chunk.parent_start <= chunk.char_start < chunk.char_end <= chunk.parent_end
    starts = [chunk.char_start for chunk in chunks]
    assert starts == sorted(starts)


def times_covered(source: ParsedDocument, chunks: Sequence[Chunk]) -> list[int]:
    """How many chunks hold each character."""
    times = [0] * len(source.content)
    for chunk in chunks:
        for offset in range(chunk.char_start, chunk.char_end):
            times[offset] += 1
    return times


def data_path(*parts: str) -> Path:
    """A path in the test data, or skip the test where there is none."""
    root = Path(os.environ.get("RAGPG_TEST_DATA", ROOT.parent / "shared" / "data"))
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is absent: set RAGPG_TEST_DATA to the test data's folder")
    return path
