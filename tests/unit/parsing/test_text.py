from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragpg.errors import ParseError
from ragpg.parsing import parse
from tests.unit.parsing.support import check, texts


def test_paragraphs_are_runs_of_lines_that_are_not_blank() -> None:
    source = "\n  first line\nsecond  \n \t\nthird\n\n\n"
    document = check(parse(source.encode(), name="a.log"))
    assert document.content == source
    assert texts(document, "paragraph") == ["  first line\nsecond", "third"]
    assert document.title is None
    assert document.media_type == "text/plain"


def test_source_code_is_unharmed() -> None:
    source = "def f(x):\n    if x:\n\n        return '# no heading'\n\n\n- no list\n"
    document = check(parse(source.encode(), name="a.txt"))
    assert document.content == source
    assert texts(document, "paragraph") == [
        "def f(x):\n    if x:",
        "        return '# no heading'",
        "- no list",
    ]


@given(st.text(st.characters()))
def test_any_text(source: str) -> None:
    try:
        document = parse(source.encode("utf-8", "surrogatepass"), name="a.txt")
    except ParseError:
        return
    check(document)
