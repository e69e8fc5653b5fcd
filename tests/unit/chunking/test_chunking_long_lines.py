"""Text that slows tokenizers and splitters down: long lines, with and without spaces."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from ragpg.chunking import make_chunker
from ragpg.types import Block, ParsedDocument

STRATEGIES = ["structure", "recursive", "fixed"]


def letters() -> str:
    rng = random.Random(0)
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(200_000))


LINES: dict[str, Callable[[], str]] = {
    "random letters": letters,
    "one letter": lambda: "a" * 200_000,
    "Japanese": lambda: "日本語の文" * 13_333,
    "emoji": lambda: "👩‍👩‍👧" * 8_000,
    "combining marks": lambda: "e" + "\u0301" * 100_000,
    "punctuation": lambda: "=-" * 100_000,
    "spaces": lambda: "a" + " " * 200_000 + "b",
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("line", LINES)
def test_200_kilobytes_without_a_space_take_no_time_and_stay_under_the_limit(
    line: str, strategy: str
) -> None:
    text = LINES[line]()
    chunker = make_chunker({"strategy": strategy})
    chunker.counter.count("loads the vocabulary")
    started = time.process_time()
    chunks = chunker.chunk(ParsedDocument(text, (Block("paragraph", 0, len(text)),)))
    assert time.process_time() - started < 1.5
    assert max(chunk.token_count for chunk in chunks) <= 256
    assert all(text[chunk.char_start : chunk.char_end] == chunk.content for chunk in chunks)
    covered = sum(len(chunk.content) for chunk in chunks)
    assert line == "spaces" or covered >= len(text)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_five_megabytes_on_one_line(strategy: str) -> None:
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(1, 9))) for _ in range(5000)]
    text = " ".join(rng.choices(words, k=870_000))
    assert len(text) > 5_000_000
    chunker = make_chunker({"strategy": strategy})
    chunker.counter.count("loads the vocabulary")
    started = time.process_time()
    chunks = chunker.chunk(ParsedDocument(text))
    assert time.process_time() - started < 8
    assert max(chunk.token_count for chunk in chunks) <= 256
    assert all(text[chunk.char_start : chunk.char_end] == chunk.content for chunk in chunks)
    assert chunks[-1].char_end == len(text)


def test_a_long_line_without_spaces_is_cut_in_the_local_tokenizer_too() -> None:
    text = letters()
    chunks = make_chunker({"tokenizer": "local"}).chunk(ParsedDocument(text))
    assert max(len(chunk.content) for chunk in chunks) < 2000
    assert "".join(chunk.content for chunk in chunks) == text


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2028", "\x85", "\u202f"])
def test_spaces_outside_ascii_do_not_stop_the_sentence_segmenter(space: str) -> None:
    text = f"Plan A{space}. Voilà{space}! Plan B{space}. " * 60
    chunks = make_chunker({"max_tokens": 32}).chunk(ParsedDocument(text))
    assert len(chunks) > 10
