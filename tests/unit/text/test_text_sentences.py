from __future__ import annotations

import logging
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragpg.text import split_sentences

LANGUAGES = st.sampled_from(["en", "de", "fr", "ja", "zh", "hi", "th", "xx", ""])
PUNCTUATED = st.text(
    alphabet="aB .?!:\n\r。😀é\u0301\u200b\u2028\u3000\u00a0\x1c\x85\"'()|[]\t\x0b", max_size=80
)


def cut(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, language)]


def check_cover(text: str, language: str) -> None:
    spans = split_sentences(text, language)
    assert all(start < end for start, end in spans)
    assert "".join(text[start:end] for start, end in spans) == text
    position = 0
    for start, end in spans:
        assert start == position
        position = end
    assert position == len(text)


@given(st.text() | st.text(st.characters()) | PUNCTUATED, LANGUAGES)
@example("One.\ud800 Two.", "en")
@example("A\u00a0.", "en")
@example("B\u2028. \u2028Next\u3000one.", "en")
def test_any_text_is_covered_without_a_gap(text: str, language: str) -> None:
    check_cover(text, language)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Dr. Smith came. He left.", "en", ["Dr. Smith came. ", "He left."]),
        ("Das gilt z. B. am 3. Mai. Gut.", "de", ["Das gilt z. B. am 3. Mai. ", "Gut."]),
        (
            "返金は14日以内です。お問い合わせください！",
            "ja",
            ["返金は14日以内です。", "お問い合わせください！"],
        ),
        ("Un\u00a0? Deux\u00a0!", "fr", ["Un\u00a0? ", "Deux\u00a0!"]),
        ("", "en", []),
    ],
)
def test_sentences(text: str, language: str, expected: list[str]) -> None:
    assert cut(text, language) == expected


def test_long_text_is_cut_at_the_same_places_as_its_parts_in_linear_time() -> None:
    text = "The fee is 5 euros. It is paid once a year. " * 5000
    started = time.perf_counter()
    assert cut(text) == ["The fee is 5 euros. ", "It is paid once a year. "] * 5000
    assert time.perf_counter() - started < 20


class PanicException(BaseException):
    """Named as the class that pyo3 raises."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two? “Three!” Four", ["One. ", "Two? ", "“Three!” ", "Four"]),
        ("3.5 percent\nnext line\n\nlast", ["3.5 percent\n", "next line\n\n", "last"]),
        ("一つ。二つ！", ["一つ。", "二つ！"]),
    ],
)
def test_a_panic_of_the_segmenter_falls_back_to_full_stops_and_lines(
    text: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def panic(language: str, text: str) -> list[str]:
        raise PanicException("byte index 2 is not a char boundary")

    monkeypatch.setattr("ragpg.text.sentences._segment", panic)
    with caplog.at_level(logging.WARNING, "ragpg"):
        assert cut(text) == expected
    assert f"failed on {len(text)} characters" in caplog.text


def test_pieces_that_are_not_the_text_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragpg.text.sentences._segment", lambda language, text: ["One.", "Two."])
    assert cut("One. Two.") == ["One. ", "Two."]


def test_an_interrupt_is_no_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(language: str, text: str) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr("ragpg.text.sentences._segment", interrupt)
    with pytest.raises(KeyboardInterrupt):
        split_sentences("One. Two.")
