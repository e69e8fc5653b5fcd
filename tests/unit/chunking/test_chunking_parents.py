from __future__ import annotations

import pytest

from ragpg.types import ParsedDocument
from tests.unit.chunking.support import chunks_of, document


def words(prefix: str, count: int) -> str:
    return " ".join(f"{prefix}{number}" for number in range(count)) + "."


def parents_of(source: ParsedDocument, **spec: object) -> list[str]:
    return [source.content[c.parent_start : c.parent_end] for c in chunks_of(source, **spec)]


SOURCE = document(
    ("paragraph", words("p", 6)),
    ("heading", "# A", 1),
    ("paragraph", words("a", 6)),
    ("paragraph", words("b", 6)),
    ("heading", "## A.1", 2),
    ("paragraph", words("c", 6)),
    ("heading", "# B", 1),
    ("paragraph", words("d", 6)),
)


def test_the_parent_is_the_section_with_its_heading_and_subsections() -> None:
    content = SOURCE.content
    first, second = content.index("# A"), content.index("# B")
    section_a = content[first:second].strip()
    assert parents_of(SOURCE, max_tokens=8) == [
        words("p", 6),
        section_a,
        section_a,
        content[content.index("## A.1") : second].strip(),
        content[second:],
    ]


def test_a_section_over_the_limit_gives_its_own_text_without_subsections() -> None:
    first = SOURCE.content.index("# A")
    own = SOURCE.content[first : SOURCE.content.index("## A.1")].strip()
    assert parents_of(SOURCE, max_tokens=8, parent_max_tokens=15)[1] == own


def test_a_long_section_gives_a_window_of_whole_chunks() -> None:
    source = document(("heading", "# A", 1), *[("paragraph", words(f"x{n}y", 6)) for n in range(20)])
    paragraphs = source.content.split("\n\n")[1:]
    parents = parents_of(source, max_tokens=8, parent_max_tokens=20)
    assert len(parents) == 20
    assert parents[0] == "\n\n".join(paragraphs[0:3])
    assert parents[10] == "\n\n".join(paragraphs[9:12])
    assert parents[19] == "\n\n".join(paragraphs[17:20])


def test_without_headings_the_parent_is_the_document() -> None:
    source = ParsedDocument("One two three four five. Six seven eight nine ten.")
    assert parents_of(source, max_tokens=8) == [source.content] * 2


@pytest.mark.parametrize("strategy", ["fixed", "recursive"])
def test_other_strategies_have_parents_on_request(strategy: str) -> None:
    (first, *_) = chunks_of(SOURCE, strategy=strategy, max_tokens=8)
    assert (first.parent_start, first.parent_end) == (None, None)
    chunks = chunks_of(SOURCE, strategy=strategy, max_tokens=8, parent="section")
    assert all(chunk.parent_start is not None for chunk in chunks)


def test_structure_without_parents() -> None:
    assert {chunk.parent_start for chunk in chunks_of(SOURCE, parent=None)} == {None}
