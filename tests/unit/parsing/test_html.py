from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragpg.errors import ParseError
from ragpg.parsing import parse, parse_path
from tests.unit.parsing.support import check, data_path, headings, kinds, texts

PAGE = """<!doctype html>
<html><head><title> Shipping &amp;
 returns </title><style>p {}</style></head>
<body>
<header><a href="/">Example shop</a></header>
<nav><ul><li>Home</li></ul></nav>
<main>
  <header><h1>Shipping <em>and</em> returns</h1></header>
  <p>Orders leave within
     <b>two</b> days.<script>track()</script></p>
  Loose&nbsp;text<br>on two lines
  <ul><li>Standard: 3 days<ul><li>Alps: 5 days</li></ul></li><li><p>Express:</p><p>next day</p></li></ul>
  <ol start="3"><li>Pack</li><li>Ship</li></ol>
  <h2>Prices<a href="#prices">¶</a></h2>
  <table><caption>In euro</caption>
    <tr><th>Zone</th><th>Standard</th></tr>
    <tr><td rowspan="2">EU</td><td>4.90 | net</td></tr>
    <tr><td>5.90</td></tr>
  </table>
  <pre class="highlight"><code class="language-python">
def f():
    return  1
</code></pre>
  <p hidden>secret</p><aside>Advertisement</aside>
</main>
<footer>Imprint</footer>
</body></html>"""


def test_a_page() -> None:
    document = check(parse(PAGE.encode(), name="a.html"))
    assert document.title == "Shipping & returns"
    assert document.media_type == "text/html"
    found = [
        (b.kind, b.level, b.code_language, document.content[b.char_start : b.char_end])
        for b in document.blocks
    ]
    assert found == [
        ("heading", 1, None, "Shipping and returns"),
        ("paragraph", 0, None, "Orders leave within two days."),
        ("paragraph", 0, None, "Loose text\non two lines"),
        ("list", 0, None, "- Standard: 3 days\n  - Alps: 5 days\n- Express:\n  next day"),
        ("list", 0, None, "3. Pack\n4. Ship"),
        ("heading", 2, None, "Prices"),
        ("paragraph", 0, None, "In euro"),
        ("table", 0, None, "| Zone | Standard |\n| --- | --- |\n| EU | 4.90 \\| net |\n| EU | 5.90 |"),
        ("code", 0, "python", "def f():\n    return  1"),
    ]


def test_without_main_the_header_and_footer_go_and_the_rest_stays() -> None:
    source = b"<body><header>Logo</header><div><h2>One</h2>text</div><div role='search'>find</div><footer>f</footer>"
    document = check(parse(source, name="a.html"))
    assert document.content == "One\n\ntext"
    assert document.title == "One"


def test_a_page_that_is_all_boilerplate_is_kept() -> None:
    assert check(parse(b"<body><aside>only this</aside></body>", name="a.html")).content == "only this"


def test_a_page_without_text_is_refused() -> None:
    with pytest.raises(ParseError, match=r"a\.html holds no text"):
        parse(b"<html><body><script>x()</script><img src='a.png'></body></html>", name="a.html")


def test_code_and_tables_in_a_list_are_blocks_of_their_own_and_the_list_goes_on() -> None:
    source = b"<ol><li>Run<pre>make\n  test</pre>then wait</li><li>Done</li></ol>"
    document = check(parse(source, name="a.html"))
    assert [(b.kind, document.content[b.char_start : b.char_end]) for b in document.blocks] == [
        ("list", "1. Run"),
        ("code", "make\n  test"),
        ("list", "   then wait\n2. Done"),
    ]


def test_a_layout_table_is_read_as_a_page() -> None:
    source = b"<table><tr><td><h1>Head</h1></td></tr><tr><td><table><tr><td>a<td>b<tr><td>c<td>d</table></td></tr></table>"
    document = check(parse(source, name="a.html"))
    assert kinds(document) == ["heading", "table"]
    assert texts(document, "table") == ["| a | b |\n| --- | --- |\n| c | d |"]


def test_definition_lists() -> None:
    document = check(parse(b"<dl><dt>RRF</dt><dd>fusion</dd><dt>ACL</dt><dd>rights</dd></dl>", name="a.html"))
    assert texts(document, "list") == ["- RRF\n  fusion\n- ACL\n  rights"]


def test_an_unclosed_heading_does_not_swallow_the_page() -> None:
    document = check(parse(b"<h1>Head<p>body text<p>more", name="a.html"))
    assert headings(document) == [(1, "Head")]
    assert texts(document, "paragraph") == ["body text", "more"]


@pytest.mark.parametrize(
    "source",
    [
        b"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2",
        b"<?xml version='1.0' encoding='windows-1251'?><html><p>\xcf\xf0\xe8\xe2\xe5\xf2",
        b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>\xcf\xf0\xe8\xe2\xe5\xf2',
    ],
)
def test_the_declared_charset_is_heeded(source: bytes) -> None:
    document = check(parse(source, name="a.html"))
    assert (document.content, document.warnings) == ("Привет", ())


def test_deep_nesting_does_not_recurse() -> None:
    assert check(parse(b"<div>" * 1500 + b"deep", name="a.html")).content == "deep"
    assert check(parse(b"<ul><li>" * 900 + b"deep", name="a.html")).content.strip() == "- deep"
    with pytest.raises(ParseError, match="nested too deeply"):
        parse(b"<div>" * 200_000 + b"deep", name="a.html")


def test_spans_that_would_fill_the_memory_are_not_honoured() -> None:
    source = b"<table>" + b"<tr><td rowspan=60000 colspan=500>a<td>b" * 300
    document = check(parse(source, name="a.html"))
    assert len(document.content) < 1_000_000


TAGS = st.sampled_from(
    ["<p>", "</p>", "<div>", "<h1>", "</h1>", "<ul>", "<li>", "</ul>", "<ol start=7>", "<table>", "<tr>", "<td colspan=2>",
     "<td rowspan=3>", "</table>", "<pre>", "</pre>", "<br>", "<b>", "<dl><dt>", "<dd>", "<nav>", "</nav>", "<!--", "-->",
     "<main>", "<article>", "<caption>", "&#0;", "&#xD800;", "&#13;", "&nbsp;", "&shy;", "&lt;", "<a href='#'>#</a>", "word "]
)  # fmt: skip


@given(st.lists(TAGS | st.text(max_size=6), max_size=40).map("".join))
def test_any_text(source: str) -> None:
    try:
        document = parse(source.encode("utf-8", "surrogatepass"), name="a.html")
    except ParseError:
        return
    check(document)


def test_verbatim_text_with_breaks_comments_and_controls() -> None:
    document = check(parse(b"<pre>a<br>b<!-- no -->c<b>d<br>\x1fe</b>f</pre>", name="a.html"))
    assert document.content == "a\nbcd\n\x1fef"


def test_wikipedia() -> None:
    document = check(parse_path(data_path("files", "html", "wiki_duck.html")))
    assert document.title == "Duck - Wikipedia"
    assert [text for level, text in headings(document) if level < 3] == [
        "Duck",
        "Etymology",
        "Taxonomy",
        "Morphology",
        "Distribution and habitat",
        "Behaviour",
        "Relationship with humans",
        "See also",
        "Notes",
        "External links",
    ]
    assert texts(document, "table")[0].startswith(
        "| Duck |  |\n| --- | --- |\n| Bufflehead (Bucephala albeola) |"
    )
    assert "| Kingdom: | Animalia |" in document.content
    for boilerplate in ("Jump to content", "Edit links", "Afrikaans", "[edit]", "Privacy policy", "[1]"):
        assert boilerplate not in document.content


def test_real_lists_and_tables() -> None:
    document = check(parse_path(data_path("files", "html", "example_03.html")))
    assert [text for _, text in headings(document)] == [
        "Example Document",
        "Introduction",
        "Background",
        "Data Table",
    ]
    assert texts(document, "list") == [
        "- First item in unordered list\n  - Nested item 1\n  - Nested item 2\n- Second item in unordered list",
        "1. First item in ordered list\n   1. Nested ordered item 1\n   2. Nested ordered item 2\n"
        "2. Second item in ordered list",
    ]
    assert texts(document, "table")[0].count("\n") == 4
