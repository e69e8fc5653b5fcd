"""Worked examples, counted in words: what is in each chunk was written out by hand."""

from __future__ import annotations

from dataclasses import replace

from ragpg.types import Block, ParsedDocument
from tests.unit.chunking.support import Part, chunks_of, document

POLICY: tuple[Part, ...] = (
    ("heading", "# Refund policy", 1),
    ("heading", "## Returns", 2),
    ("paragraph", "Goods may be returned within thirty days. Keep the receipt. Opened software is excluded."),
    ("heading", "## Refunds", 2),
    ("paragraph", "Refunds take five working days. They go to the card that paid."),
)


def test_two_sections_that_fit_come_out_as_exactly_the_two_sections() -> None:
    returns, refunds = chunks_of(document(*POLICY), max_tokens=18)
    assert returns.heading == "Refund policy › Returns"
    assert returns.section_path == ("Refund policy", "Returns")
    assert returns.content == (
        "Goods may be returned within thirty days. Keep the receipt. Opened software is excluded."
    )
    assert returns.token_count == 4 + 14
    assert refunds.heading == "Refund policy › Refunds"
    assert refunds.content == "Refunds take five working days. They go to the card that paid."


def test_at_half_the_limit_each_piece_carries_its_sections_heading() -> None:
    chunks = chunks_of(document(*POLICY), max_tokens=12)
    assert [(chunk.heading, chunk.content) for chunk in chunks] == [
        ("Refund policy › Returns", "Goods may be returned within thirty days."),
        ("Refund policy › Returns", "Keep the receipt. Opened software is excluded."),
        ("Refund policy › Refunds", "Refunds take five working days."),
        ("Refund policy › Refunds", "They go to the card that paid."),
    ]


def test_small_blocks_of_a_section_share_a_chunk() -> None:
    source = document(
        ("heading", "# Install", 1),
        ("paragraph", "Get the wheel."),
        ("list", "- from the registry\n- from a mirror"),
        ("code", "```\npip install ragpg\n```"),
    )
    (chunk,) = chunks_of(source)
    assert chunk.content == source.content.removeprefix("# Install\n\n")
    assert chunk.heading == "Install"


def test_the_title_comes_first_unless_it_is_the_first_heading() -> None:
    parts: tuple[Part, ...] = (("heading", "# Setup", 1), ("paragraph", "One two three."))
    assert chunks_of(document(*parts, title="Handbook"))[0].heading == "Handbook › Setup"
    assert chunks_of(document(*parts, title="Setup"))[0].heading == "Setup"
    assert chunks_of(document(*parts))[0].heading == "Setup"


def test_a_heading_is_read_without_its_marks() -> None:
    source = document(
        ("heading", "Guide\n=====", 1),
        ("heading", "## The `ragpg` [client](https://example.org) **now** ##", 2),
        ("paragraph", "One two three four five six seven eight nine."),
    )
    assert chunks_of(source)[0].section_path == ("Guide", "The ragpg client now")


def test_sections_end_at_a_heading_of_their_level_or_above() -> None:
    body = "One two three four five six seven eight nine ten."
    source = document(
        ("paragraph", body),
        ("heading", "# A", 1),
        ("paragraph", body),
        ("heading", "### A.1", 3),
        ("paragraph", body),
        ("heading", "## A.2", 2),
        ("paragraph", body),
        ("heading", "# B", 1),
        ("paragraph", body),
    )
    assert [chunk.section_path for chunk in chunks_of(source)] == [
        (),
        ("A",),
        ("A", "A.1"),
        ("A", "A.2"),
        ("B",),
    ]


def test_a_heading_with_nothing_under_it_does_not_vanish() -> None:
    body = "One two three four five six seven eight nine ten."
    source = document(
        ("heading", "# Guide", 1),
        ("heading", "## Limits", 2),
        ("heading", "## Costs", 2),
        ("paragraph", body),
        ("heading", "# Appendix", 1),
    )
    chunks = chunks_of(source)
    assert [(chunk.heading, chunk.content) for chunk in chunks] == [
        ("Guide", "## Limits"),
        ("Guide › Costs", body),
        ("", "# Appendix"),
    ]
    assert chunks[0].section_path == ("Guide", "Limits")


def test_neighbours_of_a_few_words_under_one_heading_share_a_chunk_with_their_headings() -> None:
    source = document(
        ("heading", "# Offices", 1),
        ("heading", "## Bonn", 2),
        ("paragraph", "Rheinweg 1"),
        ("heading", "## Lyon", 2),
        ("paragraph", "Rue 2"),
        ("heading", "# Rules", 1),
        ("paragraph", "Be kind."),
    )
    offices, rules = chunks_of(source)
    assert offices.content == "## Bonn\n\nRheinweg 1\n\n## Lyon\n\nRue 2"
    assert (offices.heading, offices.section_path) == ("Offices", ("Offices",))
    assert (rules.heading, rules.content) == ("Rules", "Be kind.")


def test_a_list_keeps_its_lead_in_when_the_section_is_cut() -> None:
    before = "Alpha beta gamma delta epsilon zeta eta theta iota."
    source = document(
        ("paragraph", before),
        ("paragraph", "You need three things:"),
        ("list", "- a wheel\n- a key\n- a server"),
        ("paragraph", "Kappa lambda mu nu xi omicron pi rho sigma tau upsilon."),
    )
    contents = [chunk.content for chunk in chunks_of(source, max_tokens=14)]
    assert contents[0] == before
    assert contents[1] == "You need three things:\n\n- a wheel\n- a key\n- a server"


def test_only_the_last_sentence_leads_in_where_the_whole_paragraph_does_not_fit() -> None:
    source = document(
        ("paragraph", "Alpha beta gamma delta epsilon zeta. You need three things:"),
        ("list", "- a wheel\n- a key\n- a server"),
    )
    contents = [chunk.content for chunk in chunks_of(source, max_tokens=14)]
    assert contents == [
        "Alpha beta gamma delta epsilon zeta.",
        "You need three things:\n\n- a wheel\n- a key\n- a server",
    ]


def test_a_long_list_is_cut_between_its_outer_items() -> None:
    items = [f"- item {number} says\n  - something more here" for number in range(6)]
    source = document(("paragraph", "All items:"), ("list", "\n".join(items)))
    contents = [chunk.content for chunk in chunks_of(source, max_tokens=20)]
    assert "\n".join(contents).replace("All items:\n\n", "All items:\n") == "All items:\n" + "\n".join(items)
    assert contents[0].startswith("All items:\n\n- item 0 says")
    assert all(content.startswith(("- item", "All items:")) for content in contents)


def test_a_table_that_fits_is_whole_and_one_that_does_not_is_cut_between_rows_with_its_header_carried() -> (
    None
):
    rows = [f"| p{number} | {number} |" for number in range(4)]
    header = "| name | price |"
    table = "\n".join((header, "|---|---|", *rows))
    source = document(("heading", "# Prices", 1), ("paragraph", "All prices."), ("table", table))
    (whole,) = chunks_of(source)
    assert whole.kind == "table"
    text, *parts = chunks_of(source, max_tokens=18)
    assert (text.content, text.kind) == ("All prices.", "text")
    assert parts[0].content == "\n".join((header, "|---|---|", rows[0]))
    assert parts[0].heading == "Prices"
    assert all(part.heading == f"Prices\n{header}" for part in parts[1:])
    assert all(part.kind == "table" and part.section_path == ("Prices",) for part in parts)
    assert "\n".join(part.content for part in parts) == table


def test_code_is_cut_at_definitions_first_then_lines_and_never_loses_its_indentation() -> None:
    code = "\n\n".join(
        f"def f{number}(x):\n    y = x + {number}\n\n    return y * {number}" for number in range(4)
    )
    contents = [chunk.content for chunk in chunks_of(document(("code", code)), max_tokens=12)]
    assert contents == [f"def f{n}(x):\n    y = x + {n}\n\n    return y * {n}" for n in range(4)]
    assert all(chunk.kind == "code" for chunk in chunks_of(document(("code", code)), max_tokens=12))
    narrow = [chunk.content for chunk in chunks_of(document(("code", code)), max_tokens=8)]
    assert narrow[:2] == ["def f0(x):\n    y = x + 0", "    return y * 0"]


def test_a_paragraph_without_sentences_is_cut_between_words() -> None:
    words = " ".join(f"w{number}" for number in range(30))
    contents = [chunk.content for chunk in chunks_of(words, max_tokens=8)]
    assert " ".join(contents) == words


def test_a_long_heading_path_is_shortened_from_the_left() -> None:
    source = document(
        ("heading", "# The first of all the headings", 1),
        ("heading", "## Second heading", 2),
        ("heading", "### Third", 3),
        ("paragraph", "One two three four five six seven eight."),
    )
    chunks = chunks_of(source, max_tokens=21)
    assert [chunk.heading for chunk in chunks] == ["… › Second heading › Third"]
    assert chunks[0].section_path == ("The first of all the headings", "Second heading", "Third")
    assert chunks_of(source, max_tokens=8)[0].heading == "…Third"


def test_text_that_no_block_holds_is_not_lost() -> None:
    source = document(("heading", "# A", 1), ("paragraph", "One two."))
    content = "Before.\n\n" + source.content + "\n\nAfter."
    shifted = chunks_of(ParsedDocument(content, tuple(_moved(block, 9) for block in source.blocks)))
    assert [chunk.content for chunk in shifted] == ["Before.", "One two.\n\nAfter."]


def test_pages_come_from_the_page_breaks() -> None:
    source = document(
        ("page_break", "", 1),
        ("paragraph", "One two three four five six seven."),
        ("page_break", "", 2),
        ("paragraph", "Eight nine ten eleven twelve thirteen."),
        ("paragraph", "Fourteen fifteen sixteen seventeen eighteen nineteen twenty."),
        ("page_break", "", 3),
        ("paragraph", "Last words."),
    )
    pages = [(chunk.page_start, chunk.page_end) for chunk in chunks_of(source, max_tokens=8)]
    assert pages == [(1, 1), (2, 2), (2, 2), (3, 3)]
    (whole,) = chunks_of(source)
    assert (whole.page_start, whole.page_end) == (1, 3)
    assert chunks_of("One two.")[0].page_start is None


def _moved(block: Block, by: int) -> Block:
    return replace(block, char_start=block.char_start + by, char_end=block.char_end + by)
