"""Real Markdown: nothing over the limit, and nothing cut that would have fitted whole."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from ragpg.chunking import make_chunker, token_counter
from ragpg.chunking.cuts import sentences
from ragpg.parsing import parse_path
from ragpg.types import Chunk, ParsedDocument
from tests.unit.chunking.support import check, data_path, times_covered

LIMIT = 256


def files() -> list[Path]:
    book = sorted(data_path("rustbook", "src").rglob("*.md"))
    return [*book, *sorted(data_path("chroma_chunking", "corpora").glob("*.md"))]


@functools.cache
def documents() -> list[ParsedDocument]:
    return [parse_path(path) for path in files()]


@pytest.mark.parametrize("strategy", ["structure", "recursive", "fixed"])
@pytest.mark.parametrize("tokenizer", ["cl100k_base", "local"])
def test_no_chunk_is_over_the_limit_and_every_slice_is_exact(strategy: str, tokenizer: str) -> None:
    counter = token_counter(tokenizer)
    chunker = make_chunker({"strategy": strategy, "max_tokens": LIMIT}, count_tokens=counter)
    count = 0
    for document in documents():
        chunks = chunker.chunk(document)
        check(document, chunks, counter, LIMIT)
        count += len(chunks)
    assert count > 1000


def test_structure_cuts_no_table_code_or_sentence_that_fits_and_covers_everything_once() -> None:
    chunker = make_chunker({"max_tokens": LIMIT})
    blocks = 0
    for document in documents():
        chunks = chunker.chunk(document)
        times = times_covered(document, chunks)
        headings = [block for block in document.blocks if block.kind == "heading"]
        under_heading = {at for block in headings for at in range(block.char_start, block.char_end)}
        for offset, character in enumerate(document.content):
            if not character.isspace() and offset not in under_heading:
                assert times[offset] == 1, (document.title, document.content[offset : offset + 40])
        for block in document.blocks:
            if block.kind in ("table", "code"):
                blocks += 1
                assert_whole(document, chunks, block.char_start, block.char_end)
            elif block.kind == "paragraph":
                for start, end in sentences(document.content, block.char_start, block.char_end):
                    assert_whole(document, chunks, start, end)
    assert blocks > 900


def test_kinds_follow_the_blocks() -> None:
    chunker = make_chunker({"max_tokens": LIMIT})
    kinds = [chunk.kind for document in documents() for chunk in chunker.chunk(document)]
    assert kinds.count("code") > 50
    assert kinds.count("table") >= 5
    assert kinds.count("text") > 1000


def assert_whole(document: ParsedDocument, chunks: list[Chunk], start: int, end: int) -> None:
    text = document.content[start:end]
    start, end = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    if start >= end or any(chunk.char_start <= start and end <= chunk.char_end for chunk in chunks):
        return
    heading = next(chunk.heading for chunk in chunks if chunk.char_start <= start < chunk.char_end)
    whole = f"{heading}\n\n{document.content[start:end]}"
    assert token_counter("cl100k_base").count(whole) > LIMIT, document.content[start:end]
