from __future__ import annotations

from tests.unit.chunking.support import chunks_of


def test_whole_paragraphs_fill_a_chunk() -> None:
    text = "One two three.\n\nFour five six.\n\nSeven eight nine ten."
    chunks = chunks_of(text, strategy="recursive", max_tokens=8, overlap=0)
    assert [chunk.content for chunk in chunks] == [
        "One two three.\n\nFour five six.",
        "Seven eight nine ten.",
    ]


def test_a_long_paragraph_is_cut_into_lines_then_sentences_then_words() -> None:
    text = "a b c d e f\ng h i j k l\n\nOne two three four five. Six seven eight nine.\n\n" + "w " * 20
    chunks = chunks_of(text, strategy="recursive", max_tokens=8, overlap=0)
    assert [chunk.content for chunk in chunks] == [
        "a b c d e f",
        "g h i j k l",
        "One two three four five.",
        "Six seven eight nine.",
        "w w w w w w w w",
        "w w w w w w w w",
        "w w w w",
    ]


def test_the_overlap_begins_at_a_sentence() -> None:
    text = "One two three. Four five. Six seven eight. Nine ten eleven."
    chunks = chunks_of(text, strategy="recursive", max_tokens=11, overlap=3)
    assert [chunk.content for chunk in chunks] == [
        "One two three. Four five. Six seven eight.",
        "Six seven eight. Nine ten eleven.",
    ]


def test_the_overlap_begins_at_a_word_where_no_sentence_does() -> None:
    text = " ".join(f"w{number}" for number in range(20))
    chunks = chunks_of(text, strategy="recursive", max_tokens=10, overlap=2)
    assert [chunk.content.split()[0] for chunk in chunks] == ["w0", "w6", "w14"]


def test_carriage_returns_and_indentation_stay() -> None:
    text = "def f():\r\n    return 1\r\n\r\n    # one two three four five six seven\r\n    pass"
    chunks = chunks_of(text, strategy="recursive", max_tokens=8, overlap=0)
    assert chunks[0].content == "def f():\r\n    return 1"
    assert chunks[1].content.startswith("    # one")
