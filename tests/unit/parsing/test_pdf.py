from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.platypus import Paragraph, Preformatted, Table, TableStyle

from ragpg.errors import ParseError
from ragpg.parsing import parse, parse_path
from tests.unit.parsing.support import check, data_path, headings, kinds, pdf, texts

STYLES = getSampleStyleSheet()
LONG = (
    "The quarterly report shows that revenue grew by seven percent, that costs fell, and that the margin is now higher than in any "
    "quarter since the company was founded, which the board has noted with great pleasure."
)


def text(words: str, style: str = "BodyText") -> Paragraph:
    return Paragraph(words, STYLES[style])


def ruled(rows: list[list[str]]) -> Table:
    return Table(rows, style=TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)]))


def report(**options: Any) -> bytes:
    return pdf(
        [
            [text("Results", "Heading1"), text(LONG), text(f"{LONG} Twice.")],
            [
                text("Regions", "Heading2"),
                text("Before the table."),
                ruled([["Region", "Revenue"], ["North", "4.2"], ["South | West", "3.1"]]),
                text("After the table."),
            ],
            [
                Preformatted("def f(x):\n    return x\n\nf(1)", STYLES["Code"]),
                text("• first"),
                text("• second"),
            ],
        ],
        **options,
    )


def test_pages_paragraphs_headings_tables_code_and_lists() -> None:
    document = check(parse(report(title="Quarterly results"), name="a.pdf"))
    assert document.title == "Quarterly results"
    assert document.metadata == {"page_count": 3}
    assert [
        (b.page, b.kind, b.level, document.content[b.char_start : b.char_end]) for b in document.blocks
    ] == [
        (1, "heading", 1, "Results"),
        (1, "paragraph", 0, LONG),
        (1, "paragraph", 0, f"{LONG} Twice."),
        (2, "page_break", 0, ""),
        (2, "heading", 2, "Regions"),
        (2, "paragraph", 0, "Before the table."),
        (2, "table", 0, "| Region | Revenue |\n| --- | --- |\n| North | 4.2 |\n| South \\| West | 3.1 |"),
        (2, "paragraph", 0, "After the table."),
        (3, "page_break", 0, ""),
        (3, "code", 0, "def f(x):\n    return x\n\nf(1)"),
        (3, "list", 0, "- first\n- second"),
    ]


def test_running_heads_and_page_numbers_stay_where_they_do_not_repeat() -> None:
    document = check(parse(pdf([[text("One page only.")]]), name="a.pdf"))
    assert set(texts(document, "paragraph")) == {"Example Corporation, internal", "One page only.", "Page 1"}


def test_hyphens_at_line_ends_are_undone_but_for_those_of_the_word() -> None:
    words = (
        "An inter-<br/>national well-<br/>known re-<br/>examination. It is well-known. See pages A-<br/>B."
    )
    document = check(parse(pdf([[text(words)]]), name="a.pdf"))
    assert "An international well-known reexamination. It is well-known. See pages A-B." in document.content


def test_a_page_without_text_is_named() -> None:
    document = check(parse_path(data_path("files", "pdf", "redp5110_sampled.pdf")))
    assert document.warnings == ("no text layer on page 17",)


def test_an_encrypted_file_is_refused() -> None:
    with pytest.raises(ParseError, match=r"^a\.pdf is encrypted"):
        parse(report(encrypt="secret"), name="a.pdf")


@pytest.mark.parametrize("part", [0.05, 0.5, 0.95])
def test_a_truncated_file_is_refused(part: float) -> None:
    data = report()
    with pytest.raises(ParseError, match=r"^a\.pdf is a broken PDF file"):
        parse(data[: int(len(data) * part)], name="a.pdf")


@pytest.mark.parametrize(
    "data", [b"words", b"%PDF-1.7\n%%EOF\n", b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n"]
)
def test_what_is_no_pdf_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match=r"^a\.pdf is a broken PDF file"):
        parse(data, name="a.pdf")


@pytest.mark.parametrize("seed", range(12))
def test_damage_gives_text_or_an_error_never_a_crash(seed: int) -> None:
    data = bytearray(report())
    for step in range(60 * (seed + 1)):
        data[(step * 7919 + seed * 104_729) % len(data)] = (step * 31 + seed) % 256
    try:
        check(parse(bytes(data), name="a.pdf"))
    except ParseError:
        return


def test_threads_may_parse_at_once() -> None:
    data = report()
    expected = parse(data, name="a.pdf")
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(lambda _: parse(data, name="a.pdf"), range(8)))


def test_headings_by_bookmarks() -> None:
    document = check(parse_path(data_path("files", "pdf", "bookmark_sample.pdf")))
    assert headings(document) == [
        (1, "PART I - DEFINITIONS"),
        (2, "1. Interpretation"),
        (2, "2. Construction of Terms"),
        (1, "PART II - OBLIGATIONS"),
        (2, "3. Payment Terms"),
        (3, "3.1 Payment Schedule"),
        (2, "4. Termination"),
        (1, "PART III - MISCELLANEOUS"),
    ]
    assert "Sample Agreement" not in document.content


def test_real_tables() -> None:
    document = check(parse_path(data_path("files", "pdf", "redp5110_sampled.pdf")))
    assert [
        (b.page, document.content[b.char_start : b.char_end].split("\n")[0])
        for b in document.blocks
        if b.kind == "table"
    ] == [
        (8, "| Column name | Data type | Description |"),
        (9, "| User action | *JOBCTL | QIBM_DB_SECADM | QIBM_DB_SQLADM | QIBM_DB_SYSMON | No Authority |"),
        (11, "| Special register | Corresponding value |"),
        (12, "| Global variable | Type | Description |"),
    ]
    assert document.content.count("Corresponding value") == 1
    assert kinds(document).count("page_break") == 17


def test_two_columns_are_read_one_after_the_other() -> None:
    document = check(parse_path(data_path("files", "pdf", "multicolumn.pdf")))
    assert headings(document)[0] == (1, "Two-Column Document with Lorem Ipsum")
    assert [block.page for block in document.blocks if block.kind == "page_break"] == [2, 3]
    first = next(
        part for part in texts(document, "paragraph") if part.startswith("Lorem ipsum dolor sit amet")
    )
    assert "adipiscing vitae, felis." in first


def test_code_keeps_its_lines() -> None:
    document = check(parse_path(data_path("files", "pdf", "code_and_formula.pdf")))
    assert texts(document, "code")[0].startswith("function add(a, b) {\n    return a + b;\n}\n")


def test_a_long_book() -> None:
    document = check(parse_path(data_path("files", "pdf", "GeoTopo-komprimiert.pdf")))
    assert document.title == "Geometrie und Topologie"
    assert document.metadata == {"page_count": 117, "author": "Martin Thoma"}
    assert document.blocks[-1].page == 117
    found = headings(document)
    assert (1, "1 Topologische Grundbegriffe") in found


def test_sizes_of_a_cover_do_not_push_the_sections_down() -> None:
    cover = [
        Paragraph(words, ParagraphStyle(words, fontSize=size, leading=2 * size))
        for size, words in ((30, "Guide"), (24, "A"), (18, "B"))
    ]
    pages = [[*cover, text(LONG)], *([text(f"Section {n}", "Heading2"), text(LONG)] for n in "XY")]
    document = check(parse(pdf(pages), name="a.pdf"))
    assert headings(document) == [(1, "Guide"), (2, "A"), (2, "B"), (2, "Section X"), (2, "Section Y")]
