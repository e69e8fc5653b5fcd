import pytest

from ragpg.ingest.globs import matches


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.md", "a.md", True),
        ("*.md", "deep/er/a.md", True),
        ("*.md", "a.md.txt", False),
        ("a.md", "deep/a.md", True),
        ("/a.md", "a.md", True),
        ("/a.md", "deep/a.md", False),
        ("hr/*.md", "hr/a.md", True),
        ("hr/*.md", "hr/deep/a.md", False),
        ("hr/*.md", "x/hr/a.md", False),
        ("hr/**", "hr/deep/a.md", True),
        ("**/a.md", "a.md", True),
        ("**/a.md", "x/y/a.md", True),
        ("x/**/a.md", "x/a.md", True),
        ("x/**/a.md", "x/y/z/a.md", True),
        ("drafts", "drafts/a.md", True),
        ("drafts", "x/drafts/y/a.md", True),
        ("drafts/", "x/drafts/a.md", True),
        ("drafts/", "drafts", False),
        ("x/drafts/", "x/drafts/a.md", True),
        ("?.md", "a.md", True),
        ("?.md", "ab.md", False),
        ("[ab].md", "b.md", True),
        ("[!ab].md", "b.md", False),
        ("[!ab].md", "c.md", True),
        ("a+b(1).md", "a+b(1).md", True),
        ("A.md", "a.md", False),
    ],
)
def test_matches(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected
