from pathlib import Path

import pytest

from ragpg.errors import ConfigError
from ragpg.ingest.attributes import Defaults
from ragpg.ingest.manifest import MANIFEST_NAME, Manifests, read_manifest

LANGUAGES = frozenset({"english", "german", "pg_catalog.german", "public.house style"})


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST_NAME).write_text(text)
    return folder


def resolve(path: Path, **arguments: object) -> Defaults | None:
    return Manifests(Defaults(**arguments), LANGUAGES).resolve(path)  # type: ignore[arg-type]


def test_a_file_that_nobody_speaks_of_has_the_arguments(tmp_path: Path) -> None:
    assert resolve(tmp_path / "a.md", acl=("group:x",)) == Defaults(acl=("group:x",))
    assert read_manifest(tmp_path) is None


def test_the_deeper_folder_and_within_it_the_later_pattern_win(tmp_path: Path) -> None:
    write(
        tmp_path,
        "acl: [group:all]\nmetadata: {team: all, level: 1}\nlanguage: english\ntenant: acme\n"
        "files:\n  '*.md': {acl: [group:md], metadata: {kind: md}}\n  'b.md': {acl: [group:b], title: B}\n",
    )
    write(tmp_path / "hr", "acl: [group:hr]\nmetadata: {team: hr}\nlanguage: german\n")
    assert resolve(tmp_path / "a.txt", acl=("public",), metadata={"x": 1}) == Defaults(
        acl=("group:all",),
        metadata={"x": 1, "team": "all", "level": 1},
        language="english",
        tenant_id="acme",
    )
    b = resolve(tmp_path / "b.md")
    assert b is not None
    assert (b.acl, b.title, b.metadata["kind"]) == (("group:b",), "B", "md")
    hr = resolve(tmp_path / "hr" / "deep" / "a.md")
    assert hr is not None
    assert (hr.acl, hr.language, hr.tenant_id) == (("group:hr",), "german", "acme")
    assert hr.metadata == {"team": "hr", "level": 1, "kind": "md"}


def test_exclude_leaves_out(tmp_path: Path) -> None:
    write(tmp_path, "exclude: [drafts/, '*.tmp.md']\n")
    assert resolve(tmp_path / "drafts" / "x" / "a.md") is None
    assert resolve(tmp_path / "x.tmp.md") is None
    assert resolve(tmp_path / "a.md") is not None


def test_an_empty_manifest_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, "# nothing yet\n")
    assert resolve(tmp_path / "a.md") == Defaults()


def test_dates_become_text_and_repeated_principals_one(tmp_path: Path) -> None:
    write(tmp_path, "acl: [a, ' a', b]\nmetadata: {day: 2026-03-01, list: [1, 2.5, null]}\n")
    found = resolve(tmp_path / "a.md")
    assert found == Defaults(acl=("a", "b"), metadata={"day": "2026-03-01", "list": [1, 2.5, None]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("acl: group:hr", "acl is a list"),
        ("acl: [group: hr]", "no principal"),
        ("acl: ['']", "no principal"),
        ("acl: [1]", "no principal"),
        ("acl: ['*']", "acl can't hold"),
        ("acl:", "acl has no value"),
        ("files: {'*.md': {acl: }}", r"files\.\*\.md\.acl has no value"),
        ("tenant:", "tenant has no value"),
        ("tenant: 5", "tenant is a text, not 5"),
        ("metadata: {acl: [group:hr]}", "put acl beside metadata"),
        ("acls: [group:hr]", "unknown key 'acls'"),
        ("title: x", "unknown key 'title'"),
        ("files: {'*.md': {alc: [x]}}", "unknown key 'alc'"),
        ("files: {'*.md': {acl: x}}", r"files\.\*\.md\.acl"),
        ("files: ['*.md']", "files is a mapping"),
        ("files: {'*.md': x}", r"files\.\*\.md is a mapping"),
        ("files: {'': {acl: [x]}}", "pattern"),
        ("exclude: drafts", "exclude is a list"),
        ("exclude: [3]", "pattern"),
        ("metadata: [1]", "metadata is a mapping"),
        ("metadata: {a: .nan}", r"metadata\.a"),
        ("language: [x]", "language is a text"),
        ("- a", "the manifest is a mapping"),
        ("acl: [a\nmetadata: {", "no valid YAML"),
        ("acl: [a]\nacl: [b]", "'acl' is given twice"),
        ("files: {'*.md': {acl: [a], acl: [b]}}", "'acl' is given twice"),
        ("a: &a [*a]", "unknown key"),
        ("metadata: &a {b: *a}", "nested"),
    ],
)
def test_a_mistake_names_the_file_and_the_key(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as caught:
        read_manifest(tmp_path)
    assert str(tmp_path / MANIFEST_NAME) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "key"),
    [("language: klingon", "language is 'klingon'"), ("files: {'*.md': {language: xx}}", "language is 'xx'")],
)
def test_a_language_that_the_database_has_not_breaks_the_folder(tmp_path: Path, text: str, key: str) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError, match=key) as caught:
        resolve(tmp_path / "a.txt")
    assert str(tmp_path / MANIFEST_NAME) in str(caught.value)


@pytest.mark.parametrize("language", ["english", "English", "pg_catalog.german", 'public."house style"'])
def test_a_language_may_be_written_as_postgresql_reads_it(tmp_path: Path, language: str) -> None:
    write(tmp_path, f"language: '{language}'")
    found = resolve(tmp_path / "a.md")
    assert found is not None
    assert found.language == language


def test_text_that_is_no_utf8_is_a_mistake_too(tmp_path: Path) -> None:
    (tmp_path / MANIFEST_NAME).write_bytes(b"acl: [\xff]")
    with pytest.raises(ConfigError, match="utf-8"):
        read_manifest(tmp_path)


def test_nothing_below_a_broken_manifest_is_resolved(tmp_path: Path) -> None:
    folder = write(tmp_path / "hr", "acl: x")
    manifests = Manifests(Defaults(), LANGUAGES)
    for _ in range(2):
        with pytest.raises(ConfigError):
            manifests.resolve(folder / "deep" / "a.md")
    assert list(manifests.broken) == [folder]
    assert manifests.resolve(tmp_path / "a.md") == Defaults()
