from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragpg.chunking import Chunker, make_chunker
from ragpg.types import Block, BlockKind, ParsedDocument
from tests.unit.chunking.support import check, times_covered

ALPHABET = st.one_of(
    st.characters(),
    st.sampled_from(
        [
            *"ab .!?:\n\t|#-",
            "\r\n",
            "\n\n",
            "。",
            "日本",
            "é",
            "e\u0301",
            "👩‍👩‍👧",
            "🇯🇵",
            "שלום",
            "مرحبا",
            "\u200d",
            "\u2028",
            "\u00a0",
            "\u3000",
            "A\u00a0.",
            "<|endoftext|>",
            "The word. ",
        ]
    ),
)
TEXT = st.lists(ALPHABET, max_size=300).map("".join)
KINDS: list[BlockKind] = ["heading", "paragraph", "list", "table", "code", "page_break"]
CHUNKERS = {
    (strategy, tokenizer): make_chunker(
        {
            "strategy": strategy,
            "tokenizer": tokenizer,
            "max_tokens": 24,
            "parent": "section",
            "parent_max_tokens": 60,
        }
    )
    for strategy in ("structure", "recursive", "fixed")
    for tokenizer in ("cl100k_base", "local")
}
SMALLEST = {
    strategy: make_chunker({"strategy": strategy, "max_tokens": 8})
    for strategy in ("structure", "recursive", "fixed")
}


@st.composite
def documents(draw: st.DrawFn) -> ParsedDocument:
    content = draw(TEXT)
    cuts = sorted(draw(st.lists(st.integers(0, len(content)), max_size=12)))
    blocks: list[Block] = []
    page = 0
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        kind = draw(st.sampled_from(KINDS))
        if kind == "page_break":
            page += 1
            blocks.append(Block(kind, start, start, page=page))
        else:
            blocks.append(Block(kind, start, end, level=draw(st.integers(1, 6)) if kind == "heading" else 0))
    return ParsedDocument(content, tuple(blocks), title=draw(st.none() | st.text(max_size=80)))


def checked(chunker: Chunker, document: ParsedDocument) -> Any:
    chunks = chunker.chunk(document)
    check(document, chunks, chunker.counter, chunker.spec["max_tokens"])
    assert chunker.chunk(document) == chunks
    return chunks


@pytest.mark.parametrize("key", CHUNKERS, ids="-".join)
@given(document=documents())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_strategy_gives_exact_slices_within_the_limit_that_cover_the_text(
    key: tuple[str, str], document: ParsedDocument
) -> None:
    chunks = checked(CHUNKERS[key], document)
    times = times_covered(document, chunks)
    headings = [block for block in document.blocks if block.kind == "heading"]
    for offset, character in enumerate(document.content):
        in_heading = any(block.char_start <= offset < block.char_end for block in headings)
        if character.isspace() or (key[0] == "structure" and in_heading):
            continue
        assert times[offset] >= 1, f"{character!r} at {offset} is in no chunk"
        if key[0] == "structure":
            assert times[offset] == 1, f"{character!r} at {offset} is in {times[offset]} chunks"


@pytest.mark.parametrize("strategy", SMALLEST)
@given(document=documents())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_smallest_limit_holds_too(strategy: str, document: ParsedDocument) -> None:
    checked(SMALLEST[strategy], document)


@pytest.mark.parametrize("key", CHUNKERS, ids="-".join)
def test_a_lone_surrogate_does_not_crash_and_keeps_the_offsets(key: tuple[str, str]) -> None:
    content = "A word \ud800 and a word. " * 30 + "\udfff"
    chunks = CHUNKERS[key].chunk(ParsedDocument(content, title="A \udc00 title"))
    assert chunks
    assert all(content[chunk.char_start : chunk.char_end] == chunk.content for chunk in chunks)


@pytest.mark.parametrize("key", CHUNKERS, ids="-".join)
@pytest.mark.parametrize("content", ["", " \n\t\r\n "])
def test_a_document_without_text_has_no_chunks(key: tuple[str, str], content: str) -> None:
    assert CHUNKERS[key].chunk(ParsedDocument(content)) == []
