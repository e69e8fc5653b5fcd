from __future__ import annotations

import pytest

from ragpg.answering import check_citations
from ragpg.answering.markers import find_markers, without_markers
from tests.unit.answering.conftest import MakeHit

SOURCE = (
    "## Returns\n\nYou may send goods back within 30 days. The refund is paid within 10 business days after inspection.\n\n"
    "| Plan | Price |\n|---|---|\n| Basic | 10 € |\n| Pro | 25 € |\n"
)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a [1].", [1]),
        ("a [1, 3].", [1, 3]),
        ("a [1][3].", [1, 3]),
        ("a [1-3].", [1, 2, 3]),
        ("a [1–2; 4].", [1, 2, 4]),
        ("a [3-1].", [1, 2, 3]),
        ("a 【2】.", [2]),
        ("a [ 2 ].", [2]),
        ("a [1 and 2].", [1, 2]),
        ("code `x[1]` and\n```\ny[2]\n```\n", []),
        ("a [b] [1a] [] [-1] [1.5]", []),
    ],
)
def test_markers_are_read(text: str, numbers: list[int]) -> None:
    assert [number for marker in find_markers(text) for number in marker.numbers(4)] == numbers


@pytest.mark.parametrize(
    ("text", "cleaned", "removed"),
    [
        ("It takes 10 days [7].", "It takes 10 days.", ("[7]",)),
        ("It takes 10 days [1][7].", "It takes 10 days [1].", ("[7]",)),
        ("It takes 10 days [1, 7].", "It takes 10 days [1].", ("[1, 7]",)),
        ("It takes 10 days [1-9].", "It takes 10 days [1][2].", ("[1-9]",)),
        ("It takes 10 days [0].", "It takes 10 days.", ("[0]",)),
        ("It takes 10 days [1-999999999].", "It takes 10 days [1][2].", ("[1-999999999]",)),
        ("[9] It takes 10 days [2].", "It takes 10 days [2].", ("[9]",)),
        ("It takes 10 days [1, 2].", "It takes 10 days [1, 2].", ()),
        ("Use `a[9]` [2].", "Use `a[9]` [2].", ()),
    ],
)
def test_numbers_without_a_source_are_removed(
    make_hit: MakeHit, text: str, cleaned: str, removed: tuple[str, ...]
) -> None:
    checked = check_citations(text, [make_hit("One."), make_hit("Two.")])
    assert (checked.text, checked.removed) == (cleaned, removed)


def test_citations_come_in_order_of_first_use_once_each(make_hit: MakeHit) -> None:
    context = [make_hit("First."), make_hit("Second."), make_hit("Third.")]
    checked = check_citations("A [3]. B [1]. C [3][1].", context)
    assert [citation.number for citation in checked.citations] == [3, 1]
    assert [citation.chunk_id for citation in checked.citations] == [context[2].chunk_id, context[0].chunk_id]


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        (
            "Refunds are paid 10 business days after the inspection [1].",
            "The refund is paid within 10 business days after inspection.",
        ),
        (
            "Refunds are paid 10 business days after the inspection. [1]",
            "The refund is paid within 10 business days after inspection.",
        ),
        (
            "Send the goods back within 30 days [1]. Anything else is by contract.",
            "You may send goods back within 30 days.",
        ),
        ("Contracts differ. The Pro plan costs 25 € [1].", "| Pro | 25 € |"),
        ("Returns [1].", "You may send goods back within 30 days."),
    ],
)
def test_the_quote_is_the_sentence_that_says_it(make_hit: MakeHit, answer: str, quote: str) -> None:
    document = "Preface. " * 7 + SOURCE
    hit = make_hit(SOURCE, char_start=63, heading="Shop › Returns", title="Shop")
    (citation,) = check_citations(answer, [hit]).citations
    assert citation.quote == quote
    assert document[citation.char_start : citation.char_end] == quote
    assert (citation.external_id, citation.heading, citation.title) == ("doc.md", "Shop › Returns", "Shop")


def test_the_quote_in_german_and_japanese(make_hit: MakeHit) -> None:
    german = make_hit(
        "Die Lieferung dauert z. B. nach Wien drei Tage. Rücksendungen sind bis zum 3. Mai möglich."
    )
    japanese = make_hit("送料は無料です。返金は14日以内に行われます。お問い合わせください。")
    text = "Rücksendungen sind bis 3. Mai möglich [1]. 返金は14日以内です。[2]"
    quotes = [citation.quote for citation in check_citations(text, [german, japanese]).citations]
    assert quotes == ["Rücksendungen sind bis zum 3. Mai möglich.", "返金は14日以内に行われます。"]


def test_a_source_that_is_nothing_but_a_heading_is_quoted_whole(make_hit: MakeHit) -> None:
    (citation,) = check_citations("See there [1].", [make_hit("# Contact", char_start=5)]).citations
    assert (citation.quote, citation.char_start, citation.char_end) == ("# Contact", 5, 14)


def test_markers_in_a_source_become_harmless() -> None:
    assert without_markers("As shown [1], and 【2, 3】; `a[1]`") == "As shown (1), and (2, 3); `a[1]`"
