from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragpg.answering.language import guess_language, is_unknown_answer, unknown_answer
from ragpg.answering.units import hit_units, sentence_spans, units
from ragpg.answering.words import content_terms, terms
from tests.unit.answering.conftest import MakeHit

DOCUMENT = """# Handbook

Dr. Smith wraps a line
here. Next sentence!

What is covered
---------------

Covered are, with a receipt:

- trains in second class
- flights. In economy only.

* * *

Loose list follows

1. Press the button. Wait.
2. Let go

| Plan  | Price | Note |
|-------|-------|------|
| Basic | 10 €  |      |
| Pro   | 25 €  | a \\| b |

> quoted text
> goes on.

```bash
run --now
# not a heading
```

The end
"""


def test_a_document_is_cut_into_units_that_are_exact_slices() -> None:
    found = units(DOCUMENT)
    assert [(unit.kind, unit.text) for unit in found] == [
        ("sentence", "Dr. Smith wraps a line here."),
        ("sentence", "Next sentence!"),
        ("list", "Covered are, with a receipt:\n\n- trains in second class\n- flights. In economy only."),
        ("sentence", "1. Press the button."),
        ("sentence", "Wait."),
        ("sentence", "2. Let go"),
        ("row", "Plan: Basic; Price: 10 €"),
        ("row", "Plan: Pro; Price: 25 €; Note: a | b"),
        ("sentence", "quoted text goes on."),
        ("code", "```bash\nrun --now\n# not a heading\n```"),
        ("sentence", "The end"),
    ]
    for unit in found:
        piece = DOCUMENT[unit.start : unit.end]
        assert piece == piece.strip()
        if unit.kind in {"list", "code"}:
            assert piece == unit.text


def test_a_long_list_gives_its_items_with_what_introduces_them() -> None:
    items = "".join(f"- item {i} is long enough to make this list too long to show\n" for i in range(12))
    found = units(f"These are covered:\n\n{items}\nAfter it. And more.\n")
    assert found[3].text == "item 3 is long enough to make this list too long to show"
    assert {unit.context for unit in found[:12]} == {"These are covered:"}
    assert [unit.context for unit in found[12:]] == ["", ""]


def test_rows_of_a_table_that_began_earlier_get_its_header(make_hit: MakeHit) -> None:
    hit = make_hit(
        "| PX-1 | 640 |\n| PX-2 | 980 |", heading="Catalogue › Stations\n| SKU | Price |\n|---|---|"
    )
    assert [unit.text for unit in hit_units(hit)] == ["SKU: PX-1; Price: 640", "SKU: PX-2; Price: 980"]


def test_lines_that_repeat_a_known_heading_are_no_units(make_hit: MakeHit) -> None:
    hit = make_hit(
        "Leave policy 2026\n\nTime off in 2026\n\nYou get 27 days.",
        heading="Leave policy 2026 › Time off in 2026",
        title="Leave policy 2026",
        section_path=("Time off in 2026",),
    )
    assert [unit.text for unit in hit_units(hit)] == ["You get 27 days."]


@pytest.mark.parametrize("separator", ["\r\n", "\r", "\n"])
def test_line_ends_of_any_kind_keep_offsets(separator: str) -> None:
    text = separator.join(["# Top", "", "One two.", "Three.", "", "| a |", "|---|", "| b |"])
    assert [text[unit.start : unit.end] for unit in units(text)] == ["One two.", "Three.", "| b |"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "Das gilt z. B. am 3. Mai. Herr Dr. Maier kommt.",
            ["Das gilt z. B. am 3. Mai.", "Herr Dr. Maier kommt."],
        ),
        ("返金は14日以内です。お問い合わせください！", ["返金は14日以内です。", "お問い合わせください！"]),
        ("😀 one. 😀 two.", ["😀 one.", "😀 two."]),
        ("  \n ", []),
        (
            "B\u2028. \u2028Next\u3000one.\u2028\u00a0Then\u00a0two.",
            ["B\u2028.", "Next\u3000one.", "Then\u00a0two."],
        ),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@given(st.text(alphabet="aB .?!:\n\r。😀é\u0301\u2028\u3000\u00a0\"'()|-#*>`1[]\t\x0b", max_size=60))
def test_units_of_any_text_are_ordered_and_inside_it(text: str) -> None:
    end = 0
    for unit in units(text):
        assert end <= unit.start < unit.end <= len(text)
        assert text[unit.start : unit.end].strip()
        assert unit.text.strip()
        end = unit.end
    spans = sentence_spans(text)
    covered = {position for start, stop in spans for position in range(start, stop)}
    assert covered >= {position for position, char in enumerate(text) if not char.isspace()}


def test_terms_match_across_forms() -> None:
    assert terms("refunds")[0] == terms("Refund")[0]
    assert terms("policies") == terms("policy")
    assert terms("shipping") == terms("ship")
    assert terms("ERR-1042") == terms("err1042") == ["err1042", "1042"]
    assert terms("C++ or C#") != terms("C or C")
    assert terms("Rückerstattungen") == terms("Rückerstattung")
    assert terms("14-day") == terms("14 days")
    assert set(terms("返金の期間")) & set(terms("返金は14日以内です"))
    assert not set(terms("ですから")) & set(terms("そうですから"))
    assert terms("हिन्दी") == ["हिन्दी"]


def test_function_words_are_left_out() -> None:
    assert content_terms("How long do the refunds take?", "en") == ["refund", "take"]
    assert content_terms("Wie lange dauert die Erstattung?", "de") == ["dauert", "erstattung"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How long do refunds take?", "en"),
        ("Wie lange dauert die Erstattung?", "de"),
        ("Combien de temps prend le remboursement ?", "fr"),
        ("¿Cuánto tarda el reembolso de un pedido?", "es"),
        ("返金にはどのくらいかかりますか", "ja"),
        ("退款需要多长时间？", "zh"),
        ("환불은 얼마나 걸리나요?", "ko"),
        ("Сколько времени занимает возврат?", "ru"),
        ("ERR-1042", "en"),
        ("12345 !?", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_guessed(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("I don't know: the sources do not answer this question.", True),
        ("I don’t know.", True),
        ("I do not know based on these sources", True),
        ("**Das weiß ich nicht.**", True),
        (unknown_answer("退款需要多长时间？"), True),
        ("わかりません。", True),
        ("The sources say that I don't know is no answer [1].", False),
        ("Refunds take 14 days [1].", False),
    ],
)
def test_the_phrase_for_not_knowing_is_recognised(text: str, unknown: bool) -> None:
    assert is_unknown_answer(text) is unknown
