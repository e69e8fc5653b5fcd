import os
from pathlib import Path
from typing import Any

import pytest

from ragpg.errors import InvalidArgument
from ragpg.ingest.sources import Sources, collect

SUFFIXES = frozenset({".md", ".txt"})


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "b.md",
        "a.MD",
        "hr/x.txt",
        "hr/deep/y.md",
        ".git/z.md",
        ".hidden.md",
        "image.png",
        "it/x.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def ids(sources: Sources) -> list[str]:
    return [source.external_id for source in sources.files]


def test_a_folder_gives_its_supported_files_in_order(tree: Path) -> None:
    sources = collect([tree], SUFFIXES)
    assert ids(sources) == ["a.MD", "b.md", "hr/deep/y.md", "hr/x.txt", "it/x.txt"]
    assert sources.roots == [tree]
    assert (sources.failures, sources.warnings, sources.unread) == ([], [], [])
    assert sources.files[1].uri == (tree / "b.md").as_uri()


def test_a_single_file_is_called_by_its_name(tree: Path) -> None:
    sources = collect([str(tree / "hr" / "x.txt")], SUFFIXES)
    assert ids(sources) == ["x.txt"]
    assert sources.roots == []


def test_several_arguments_are_relative_to_what_holds_them_all(tree: Path) -> None:
    assert ids(collect([tree / "hr", tree / "it"], SUFFIXES)) == ["hr/deep/y.md", "hr/x.txt", "it/x.txt"]
    assert ids(collect([tree / "b.md", tree / "a.MD"], SUFFIXES)) == ["a.MD", "b.md"]
    both = collect([tree / "b.md", tree / "hr", tree / "hr" / "deep"], SUFFIXES)
    assert ids(both) == ["b.md", "hr/deep/y.md", "hr/x.txt"]
    assert both.roots == [tree / "hr", tree / "hr" / "deep"]


def test_a_pattern_is_relative_to_its_plain_part(tree: Path) -> None:
    sources = collect([f"{tree}/hr/**/*.*"], SUFFIXES)
    assert ids(sources) == ["deep/y.md", "x.txt"]
    assert sources.roots == []
    assert ids(collect([f"{tree}/*"], SUFFIXES)) == ["a.MD", "b.md"]


def test_a_relative_pattern_begins_at_the_working_directory(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree)
    sources = collect(["*.md"], SUFFIXES)
    assert ids(sources) == ["b.md"]
    assert sources.files[0].shown == "b.md"


def test_a_pattern_that_matches_nothing_is_a_failure_and_the_rest_goes_on(tree: Path) -> None:
    sources = collect([tree / "hr", f"{tree}/*.pdf"], SUFFIXES)
    assert ids(sources) == ["deep/y.md", "x.txt"]
    assert [failure.path for failure in sources.failures] == [f"{tree}/*.pdf"]


@pytest.mark.parametrize("missing", ["gone", "gone.md"])
def test_a_path_that_is_not_there_is_refused(tree: Path, missing: str) -> None:
    with pytest.raises(InvalidArgument, match=missing):
        collect([tree / "hr", tree / missing], SUFFIXES)


def test_a_named_file_of_another_format_is_named_in_a_warning(tree: Path) -> None:
    sources = collect([tree / "image.png"], SUFFIXES)
    assert sources.files == []
    assert "image.png" in sources.warnings[0]


def test_the_same_file_twice_is_one(tree: Path) -> None:
    assert ids(collect([tree, tree / "b.md"], SUFFIXES)).count("b.md") == 1


def test_links_are_followed_but_not_in_circles(tree: Path) -> None:
    (tree / "hr" / "loop").symlink_to(tree)
    (tree / "linked").symlink_to(tree / "hr" / "deep")
    (tree / "dangling.md").symlink_to(tree / "gone.md")
    (tree / "self.md").symlink_to(tree / "self.md")
    (tree / "disk").symlink_to(tree / "unplugged")
    sources = collect([tree], SUFFIXES)
    found = ids(sources)
    nowhere = [tree / name for name in ("dangling.md", "disk", "self.md")]
    assert sources.unread == nowhere
    assert [failure.path for failure in sources.failures] == [str(nowhere[0]), str(nowhere[2])]
    assert str(nowhere[1]) in sources.warnings[0]
    assert "linked/y.md" in found
    assert "dangling.md" not in found
    assert not any("loop" in name for name in found)


def test_the_root_may_be_reached_through_a_link(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(tree)
    assert collect([link], SUFFIXES).files[0].uri == collect([tree], SUFFIXES).files[0].uri


def test_a_folder_that_can_not_be_listed_is_a_failure(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list_folder = os.scandir

    def scandir(path: Path) -> Any:
        if path == tree / "hr":
            raise PermissionError(13, "Permission denied")
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", scandir)
    sources = collect([tree], SUFFIXES)
    assert ids(sources) == ["a.MD", "b.md", "it/x.txt"]
    assert sources.unread == [tree / "hr"]
    assert sources.failures[0].path == str(tree / "hr")
    assert "Permission denied" in sources.failures[0].error


def test_a_file_name_that_is_no_text_is_a_failure(tree: Path) -> None:
    Path(os.fsdecode(os.fsencode(tree) + b"/bad\xff.md")).write_text("x")
    sources = collect([tree], SUFFIXES)
    assert len(sources.failures) == 1
    assert "UTF-8" in sources.failures[0].error
    assert len(sources.files) == 5


def test_no_arguments_give_nothing() -> None:
    assert collect([], SUFFIXES).files == []
