from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragpg.errors import ParseError
from ragpg.parsing import parse, parse_path
from tests.unit.parsing.support import check, data_path, headings, kinds, texts

PIECES = st.sampled_from(
    ["# ", "## T\n", "- ", "1. ", "> ", "```", "~~~rust\n", "    ", "\t", "| a | b |\n|---|---|\n", "[x]: /y\n", "---\n",
     "\n", "\n\n", "===\n", "<!--", "-->", "<div>\n", "a", "word ", "é", "😀", "\r\n", "\x0b", "\x85", "\u2028", "\ufeff"]
)  # fmt: skip


def test_every_kind_of_block_is_an_exact_slice() -> None:
    source = (
        "# Title *here*\n\nFirst\nparagraph.\n\nSetext\n------\n\n- one\n  - two\n\n    ```py\n    x\n    ```\n- three\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust,ignore\nfn f() {}\n\n```\n\n    indented()\n\n---\n\n[ref]: /url\n"
    )
    document = check(parse(source.encode(), name="a.md"))
    assert document.content == source
    assert document.title == "Title here"
    assert document.media_type == "text/markdown"
    assert [
        (b.kind, b.level, b.code_language, source[b.char_start : b.char_end]) for b in document.blocks
    ] == [
        ("heading", 1, None, "# Title *here*"),
        ("paragraph", 0, None, "First\nparagraph."),
        ("heading", 2, None, "Setext\n------"),
        ("list", 0, None, "- one\n  - two\n\n    ```py\n    x\n    ```\n- three"),
        ("table", 0, None, "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("code", 0, "rust", "```rust,ignore\nfn f() {}\n\n```"),
        ("code", 0, None, "    indented()"),
        ("paragraph", 0, None, "---"),
        ("paragraph", 0, None, "[ref]: /url"),
    ]


def test_a_quotation_is_one_block_unless_it_holds_more_than_paragraphs() -> None:
    document = check(
        parse(b"> one\n>\n> two\n\nbetween\n\n> # head\n>\n> ```sh\n> ls\n> ```\n> after\n", name="a.md")
    )
    assert [(b.kind, document.content[b.char_start : b.char_end]) for b in document.blocks] == [
        ("paragraph", "> one\n>\n> two"),
        ("paragraph", "between"),
        ("paragraph", "> # head\n>"),
        ("code", "> ```sh\n> ls\n> ```"),
        ("paragraph", "> after"),
    ]
    assert document.title is None


def test_front_matter_becomes_metadata() -> None:
    source = "---\ntitle: Leave policy\ndate: 2026-02-03\ntags: [a, b]\nacl:\n  - group:hr\n---\n\n# Other\n"
    document = check(parse(source.replace("\n", "\r\n").encode(), name="a.md"))
    assert document.metadata == {
        "title": "Leave policy",
        "date": "2026-02-03",
        "tags": ["a", "b"],
        "acl": ["group:hr"],
    }
    assert document.title == "Leave policy"
    assert document.content == "\n# Other\n"


@pytest.mark.parametrize(
    "source", ["---\njust text\n---\nafter\n", "---\n\nafter\n", "text\n---\na: 1\n---\n"]
)
def test_rules_are_not_front_matter(source: str) -> None:
    document = check(parse(source.encode(), name="a.md"))
    assert (document.content, document.metadata, document.warnings) == (source, {}, ())


@pytest.mark.parametrize(
    "yaml",
    [
        "a: b: c",
        "a: &a [*a]",
        "[" * 400,
        "d: 2026-99-99",
        "x: " + "y" * 70_000,
        "a0: &a0 [1,1,1,1,1,1,1,1,1]\n"
        + "\n".join(f"a{i + 1}: &a{i + 1} [{','.join([f'*a{i}'] * 9)}]" for i in range(9)),
    ],
    ids=["syntax", "cycle", "depth", "date", "length", "bomb"],
)
def test_front_matter_that_cannot_be_read_stays_in_the_text_with_a_warning(yaml: str) -> None:
    source = f"---\n{yaml}\n---\nafter\n"
    document = check(parse(source.encode(), name="a.md"))
    assert document.content == source
    assert document.metadata == {}
    assert len(document.warnings) == 1
    assert document.warnings[0].startswith("the front matter is not read, and kept as text: ")


def test_front_matter_values_fit_jsonb() -> None:
    document = parse(b'---\na: "x\\0y"\nb: .nan\n2: !!set {q}\n---\nafter', name="a.md")
    assert document.metadata == {"a": "xy", "b": "nan", "2": ["q"]}


def test_nothing_but_front_matter_is_empty() -> None:
    with pytest.raises(ParseError, match="empty"):
        parse(b"---\ntitle: T\n---\n\n", name="a.md")


@given(st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join))
@example("a\n---\n\n    b\n\tc")
@example("> - > 1. a\n\nb")
@example("- a\n\n\x0b\n\nb")
def test_any_text(source: str) -> None:
    try:
        document = parse(source.encode("utf-8", "surrogatepass"), name="a.md")
    except ParseError:
        return
    check(document)


def test_the_rust_book() -> None:
    files = sorted(data_path("rustbook", "src").glob("*.md"))
    assert len(files) == 112
    counted = {"heading": 0, "code": 0, "table": 0, "list": 0}
    for file in files:
        document = check(parse_path(file))
        assert document.content == file.read_text()
        for kind in kinds(document):
            if kind in counted:
                counted[kind] += 1
    assert counted == {"heading": 529, "code": 956, "table": 13, "list": 68}


def test_a_real_file() -> None:
    document = check(parse_path(data_path("files", "md", "duck.md")))
    assert document.title == "Swimming in the lake"
    assert headings(document) == [(1, "# Swimming in the lake"), (2, "## Let’s swim!"), (2, "## Let’s eat")]
    assert kinds(document).count("list") == 3
    assert texts(document, "code") == ["```\nLeaves\n\nBerries\nGrain\n```"]
    assert texts(document, "table")[0].startswith("|         | Food ")
