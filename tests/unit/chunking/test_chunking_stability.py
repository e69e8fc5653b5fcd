"""An edit of one paragraph changes the chunks around it, not those after it: their vectors are kept."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from ragpg.chunking import make_chunker
from ragpg.chunking.packing import Unit, pack
from ragpg.types import ParsedDocument
from tests.unit.chunking.support import Part, document

VOCABULARY = [
    *("the", "of", "a", "to", "server", "index", "chunk", "query", "vector", "page"),
    *("user", "writes", "reads", "when", "then", "before", "after", "table", "key"),
]
Edit = Callable[[random.Random, list[str], int], None]


def paragraph(rng: random.Random, sentences: int) -> str:
    return " ".join(
        " ".join(rng.choices(VOCABULARY, k=rng.randint(6, 14))).capitalize() + "." for _ in range(sentences)
    )


def change_words(rng: random.Random, texts: list[str], at: int) -> None:
    texts[at] = texts[at] + " One more remark was added here."


def replace_whole(rng: random.Random, texts: list[str], at: int) -> None:
    texts[at] = paragraph(rng, rng.randint(1, 8))


def insert(rng: random.Random, texts: list[str], at: int) -> None:
    texts.insert(at, paragraph(rng, rng.randint(1, 8)))


def delete(rng: random.Random, texts: list[str], at: int) -> None:
    del texts[at]


def with_headings(texts: list[str]) -> ParsedDocument:
    parts: list[Part] = []
    for number, text in enumerate(texts):
        if number % 12 == 0:
            parts.append(("heading", f"## Part {number // 12}", 2))
        parts.append(("paragraph", text))
    return document(*parts)


def one_section(texts: list[str]) -> ParsedDocument:
    return document(*[("paragraph", text) for text in texts])


def one_paragraph(texts: list[str]) -> ParsedDocument:
    return document(("paragraph", " ".join(texts)))


@pytest.mark.parametrize("edit", [change_words, replace_whole, insert, delete])
@pytest.mark.parametrize("layout", [one_section, one_paragraph])
def test_an_edit_in_a_document_of_200_chunks_changes_about_three(
    layout: Callable[[list[str]], ParsedDocument], edit: Edit
) -> None:
    rng = random.Random(7)
    texts = [paragraph(rng, rng.randint(1, 8)) for _ in range(760)]
    chunker = make_chunker({"max_tokens": 256})
    before = {chunk.embedding_input for chunk in chunker.chunk(layout(texts))}
    assert len(before) >= 200
    new: list[int] = []
    for _ in range(25):
        edited = list(texts)
        edit(rng, edited, rng.randrange(len(texts)))
        after = {chunk.embedding_input for chunk in chunker.chunk(layout(edited))}
        new.append(len(after - before))
    assert sum(new) / len(new) <= 2
    assert sorted(new)[-2] <= 3
    assert max(new) <= 5


def test_under_headings_an_edit_stays_in_its_section() -> None:
    rng = random.Random(3)
    texts = [paragraph(rng, rng.randint(1, 8)) for _ in range(760)]
    chunker = make_chunker({"max_tokens": 256})
    before = chunker.chunk(with_headings(texts))
    assert len(before) >= 200
    for _ in range(25):
        at = rng.randrange(len(texts))
        edited = list(texts)
        replace_whole(rng, edited, at)
        known = {chunk.embedding_input for chunk in before}
        new = [chunk for chunk in chunker.chunk(with_headings(edited)) if chunk.embedding_input not in known]
        assert 1 <= len(new) <= 4
        assert {chunk.heading for chunk in new} == {f"Part {at // 12}"}


def test_chunks_are_well_filled_all_the_same() -> None:
    rng = random.Random(1)
    chunker = make_chunker({"max_tokens": 256})
    chunks = chunker.chunk(one_section([paragraph(rng, rng.randint(1, 8)) for _ in range(600)]))
    assert sum(chunk.token_count for chunk in chunks) / len(chunks) > 0.65 * 256


def test_packing_keeps_every_unit_in_order_and_under_the_budget() -> None:
    rng = random.Random(5)
    text = paragraph(rng, 400)
    cuts = sorted(rng.sample(range(1, len(text)), 300))
    units = [
        Unit(start, end, rng.randint(1, 120), depth=rng.randint(0, 2))
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    ]
    groups = pack(text, units, 100)
    assert [unit for group in groups for unit in group] == units
    assert all(len(group) == 1 or sum(unit.tokens for unit in group) <= 100 for group in groups)
    assert pack(text, [], 100) == []


def test_identical_units_are_cut_in_the_middle() -> None:
    units = [Unit(number, number + 1, 10) for number in range(64)]
    assert [len(group) for group in pack("x" * 64, units, 160)] == [16, 16, 16, 16]
