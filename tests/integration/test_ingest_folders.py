"""Manifests, permissions and deletion, from files to searches."""

from pathlib import Path

import pytest

from ragpg import Client
from ragpg.errors import InvalidArgument
from tests.integration.conftest import CountingEmbedder


def seen(rag: Client, words: str, *principals: str, tenant_id: str | None = None) -> set[str]:
    hits = rag.search("docs", words, mode="keyword", k=50, principals=principals, tenant_id=tenant_id)
    return {hit.external_id for hit in hits}


def fill(folder: Path) -> None:
    for name in ("a.md", "hr/b.md", "hr/pay/c.md", "hr/pay/d.md", "it/e.md", "it/drafts/f.md"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n\nPolicy text of {path.stem}.\n")
    (folder / "hr" / ".ragpg.yaml").write_text(
        "acl: [group:hr]\nmetadata: {team: hr}\nfiles:\n  pay/c.md: {acl: [user:boss], title: Pay}\n"
    )
    (folder / "it" / ".ragpg.yaml").write_text("exclude: [drafts/]\ntenant: acme\n")
    (folder / "hr" / "pay" / "d.md").write_text("---\nacl: [user:ana]\nyear: 2026\n---\nPolicy text of d.\n")


def test_permissions_go_from_the_files_to_the_search(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    report = rag.ingest("docs", tmp_path, acl=["group:staff"], metadata={"source": "files", "team": "none"})
    assert (report.created, report.failures, report.warnings) == (5, [], [])
    assert seen(rag, "policy") == set()
    assert seen(rag, "policy", "group:staff") == {"a.md"}
    assert seen(rag, "policy", "group:hr") == {"hr/b.md"}
    assert seen(rag, "policy", "user:boss") == {"hr/pay/c.md"}
    assert seen(rag, "policy", "user:ana") == {"hr/pay/d.md"}
    assert seen(rag, "policy", "group:staff", tenant_id="acme") == {"it/e.md"}
    (hit,) = rag.search("docs", "policy", mode="keyword", principals=["user:ana"])
    assert hit.metadata == {"source": "files", "team": "hr", "year": 2026}
    (hit,) = rag.search("docs", "policy", mode="keyword", principals=["user:boss"])
    assert hit.title == "Pay"


def test_a_sub_folder_has_the_manifests_above_it(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    rag.ingest("docs", tmp_path / "hr" / "pay")
    assert seen(rag, "policy") == set()
    assert seen(rag, "policy", "user:boss", "user:ana") == {"c.md", "d.md"}


def test_a_changed_manifest_changes_the_permissions(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    rag.ingest("docs", tmp_path)
    (tmp_path / "hr" / ".ragpg.yaml").write_text("acl: [group:legal]\n")
    report = rag.ingest("docs", tmp_path)
    assert report.attributes + report.updated == 3
    assert report.embedded == 1  # "Pay" is no title any more, and titles are embedded
    assert seen(rag, "policy", "group:hr", "user:boss") == {"a.md"}
    assert seen(rag, "policy", "group:legal") == {"a.md", "hr/b.md", "hr/pay/c.md"}


def test_what_set_acl_gave_stays_where_the_files_say_nothing(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    rag.ingest("docs", tmp_path)
    rag.set_acl("docs", "a.md", ["user:me"])
    rag.set_acl("docs", "hr/b.md", ["user:me"])
    rag.ingest("docs", tmp_path)
    assert seen(rag, "policy", "user:me") == {"a.md"}
    assert seen(rag, "policy", "group:hr") == {"hr/b.md"}


def test_nothing_below_a_broken_manifest_is_ingested_or_deleted(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    rag.ingest("docs", tmp_path)
    manifest = tmp_path / "hr" / ".ragpg.yaml"
    manifest.write_text("acls: [group:hr]\n")
    (tmp_path / "hr" / "new.md").write_text("New policy.\n")
    (tmp_path / "hr" / "b.md").unlink()
    report = rag.ingest("docs", tmp_path, sync=True)
    assert (report.unchanged, report.created, report.deleted) == (2, 0, 0)
    (failure,) = report.failures
    assert failure.path == str(manifest.parent)
    assert "acls" in failure.error
    assert "3 files" in failure.error
    assert seen(rag, "policy", "group:hr") == {"a.md", "hr/b.md"}
    manifest.write_text("acl: [group:hr]\n")
    report = rag.ingest("docs", tmp_path, sync=True)
    assert (report.created, report.deleted, report.failures) == (1, 1, [])


def test_what_a_manifest_gets_wrong_is_found_before_a_model_is_asked(
    rag: Client, tmp_path: Path, embedder: CountingEmbedder
) -> None:
    fill(tmp_path)
    manifest = tmp_path / ".ragpg.yaml"
    for text in ("language: klingon\n", "acl: ['*']\n", "acl:\n", "tenant: 5\n"):
        manifest.write_text(text)
        report = rag.ingest("docs", tmp_path, sync=True)
        (failure,) = report.failures
        assert failure.path == str(tmp_path)
        assert str(manifest) in failure.error
        assert text.partition(":")[0] in failure.error
    assert embedder.texts == []
    manifest.write_text("language: pg_catalog.german\n")
    assert rag.ingest("docs", tmp_path).failures == []


def test_sync_deletes_what_is_gone_and_nothing_else(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "other.md").write_text("Policy of another folder.\n")
    rag.ingest("docs", tmp_path / "one")
    rag.ingest("docs", tmp_path / "two")
    rag.upsert_document("docs", external_id="by-hand", content="Policy by hand.")
    rag.upsert_document("docs", external_id="elsewhere", content="Policy.", uri="https://x.example/policy")
    (tmp_path / "one" / "a.md").unlink()
    (tmp_path / "one" / "hr" / "b.md").write_bytes(b"")
    assert rag.ingest("docs", tmp_path / "one").deleted == 0
    report = rag.ingest("docs", tmp_path / "one", sync=True)
    assert report.deleted == 1
    assert [failure.path.endswith("b.md") for failure in report.failures] == [True]
    assert seen(rag, "policy", "group:hr") == {"hr/b.md", "other.md", "by-hand", "elsewhere"}
    assert rag.ingest("docs", tmp_path / "one", sync=True).deleted == 0


def test_sync_deletes_what_a_manifest_leaves_out_in_every_tenant(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "it" / "g.md").write_text("Policy text of g.\n")
    rag.ingest("docs", tmp_path)
    (tmp_path / ".ragpg.yaml").write_text("exclude: [a.md, g.md]\n")
    assert rag.ingest("docs", tmp_path, sync=True).deleted == 2
    assert seen(rag, "policy", tenant_id="acme") == {"it/e.md"}
    assert seen(rag, "policy", "group:hr") == {"hr/b.md"}


def test_sync_takes_a_document_out_of_the_tenant_that_its_file_has_left(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    rag.ingest("docs", tmp_path, tenant_id="old")
    (tmp_path / ".ragpg.yaml").write_text("files: {a.md: {tenant: new}}\n")
    report = rag.ingest("docs", tmp_path, tenant_id="old", sync=True)
    assert (report.created, report.deleted) == (1, 1)
    assert seen(rag, "policy", tenant_id="old") == set()
    assert seen(rag, "policy", tenant_id="new") == {"a.md"}


def test_sync_keeps_what_a_run_over_a_sub_folder_brought(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    rag.ingest("docs", tmp_path / "hr")
    report = rag.ingest("docs", tmp_path, sync=True)
    assert (report.created, report.deleted) == (5, 0)
    (tmp_path / "hr" / "b.md").unlink()
    assert rag.ingest("docs", tmp_path, sync=True).deleted == 2


def test_a_path_that_is_not_there_ends_the_run_before_it_begins(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path / "disk")
    rag.ingest("docs", tmp_path / "disk")
    (tmp_path / "disk").rename(tmp_path / "unplugged")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "new.md").write_text("New policy.\n")
    with pytest.raises(InvalidArgument, match="disk"):
        rag.ingest("docs", tmp_path / "here", tmp_path / "disk", sync=True)
    assert rag.stats("docs").documents == 5


def test_sync_over_an_empty_folder_deletes_nothing(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path / "disk")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "o.md").write_text("Other policy.\n")
    rag.ingest("docs", tmp_path / "disk")
    (tmp_path / "disk").rename(tmp_path / "unplugged")
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "image.png").write_bytes(b"x")
    report = rag.ingest("docs", tmp_path / "disk", tmp_path / "other", sync=True)
    assert (report.created, report.deleted) == (1, 0)
    (failure,) = report.failures
    assert failure.path == str(tmp_path / "disk")
    assert "4 documents" in failure.error
    assert rag.stats("docs").documents == 6
    (tmp_path / "new").mkdir()
    assert rag.ingest("docs", tmp_path / "new", sync=True).failures == []


def test_sync_keeps_a_document_whose_file_became_a_link_to_nothing(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    rag.ingest("docs", tmp_path)
    (tmp_path / "a.md").unlink()
    (tmp_path / "a.md").symlink_to(tmp_path / "gone.md")
    (tmp_path / "hr").rename(tmp_path / ".elsewhere")
    (tmp_path / "hr").symlink_to(tmp_path / "gone")
    report = rag.ingest("docs", tmp_path, sync=True)
    assert (report.unchanged, report.deleted) == (1, 0)
    assert [(Path(failure.path).name, "link" in failure.error) for failure in report.failures] == [
        ("a.md", True)
    ]
    assert rag.stats("docs").documents == 5


def test_sync_without_a_folder_says_that_it_deletes_nothing(rag: Client, tmp_path: Path) -> None:
    fill(tmp_path)
    report = rag.ingest("docs", tmp_path / "a.md", sync=True)
    assert "no folder" in report.warnings[0]


def test_another_file_under_the_same_id_is_named(rag: Client, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"Text of {name}.\n")
    rag.ingest("docs", tmp_path / "one")
    (warning,) = rag.ingest("docs", tmp_path / "two").warnings
    assert "README.md" in warning
    assert "still there" in warning
    (tmp_path / "two").rename(tmp_path / "three")
    assert rag.ingest("docs", tmp_path / "three").warnings == []


def test_a_users_file_can_not_choose_its_tenant_or_override_the_caller(rag: Client) -> None:
    data = b"---\nacl: [public]\ntenant: victim\n---\nPolicy of a user.\n"
    rag.ingest_bytes("docs", data, external_id="up.md", acl=["user:ana"], tenant_id="acme")
    assert seen(rag, "policy", tenant_id="victim") == set()
    assert seen(rag, "policy", tenant_id="acme") == set()
    assert seen(rag, "policy", "user:ana", tenant_id="acme") == {"up.md"}
