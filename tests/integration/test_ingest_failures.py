"""Bad files, a model that is down, a database that goes away: what is reported, what stays, what the next run completes."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import psycopg.conninfo
import pytest

from ragpg import Client
from ragpg.embedding import make_embedder
from ragpg.errors import DatabaseError, DatabaseUnavailable, EmbeddingError
from tests.integration.conftest import CountingEmbedder

Query = Callable[..., list[tuple[Any, ...]]]

FAIL_ON = """
create function public.fail() returns trigger language plpgsql as
$$ begin raise exception using errcode = '{}', message = 'made to fail'; end $$;
create trigger fail before insert on ragpg.document for each row when (new.content like '%{}%') execute function public.fail()
"""


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Store each document before the next is read, as a large folder does."""
    monkeypatch.setattr("ragpg.ingest.pipeline._FULL_BATCH", 1)


def write(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:02}.md").write_text(f"# Document {number}\n\nText of number {number}.\n")
    return folder


def execute(database: str, statement: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(statement)


def consistent(query: Query) -> bool:
    """No document without chunks, no chunk without its vector."""
    return query(
        "select (select count(*) from ragpg.document d where not exists (select from ragpg.chunk c where c.document_id = d.id)),"
        " (select count(*) from ragpg.chunk) - (select count(*) from ragpg.embedding)"
    ) == [(0, 0)]


def test_bad_files_are_reported_and_the_others_stored(rag: Client, folder: Path) -> None:
    (folder / "empty.md").write_bytes(b"")
    (folder / "blank.txt").write_text(" \n\n")
    (folder / "binary.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing that follows")
    (folder / "acl.md").write_text("---\nacl: group:hr\n---\nText.\n")
    (folder / "yaml.md").write_text("---\nacl: [group:hr\n---\nSecret.\n")
    (folder / "language.md").write_text("---\nlanguage: klingon\n---\nText.\n")
    report = rag.ingest("docs", folder)
    assert report.created == 3
    failed = {Path(failure.path).name: failure.error for failure in report.failures}
    assert set(failed) == {
        "empty.md", "blank.txt", "binary.md", "broken.pdf", "acl.md", "yaml.md", "language.md"
    }  # fmt: skip
    assert "empty" in failed["empty.md"]
    assert "acl is a list" in failed["acl.md"]
    assert "klingon" in failed["language.md"]
    assert rag.stats("docs").documents == 3
    assert rag.search("docs", "secret", mode="keyword") == []


def test_what_was_repaired_is_reported(rag: Client, folder: Path, query: Query) -> None:
    (folder / "nul.txt").write_bytes(b"Ze\0bra\0s run.\n")
    (folder / "surrogate.txt").write_bytes("Giraffes \ud800 run.\n".encode("utf-8", "surrogatepass"))
    (folder / "latin.txt").write_bytes(
        "Die Hühner müssen über die große Straße gehen, sagte der Bäcker.\n".encode("cp1252")
    )
    report = rag.ingest("docs", folder)
    assert report.failures == []
    assert len(report.warnings) == 3
    assert any("nul.txt" in warning and "NUL" in warning for warning in report.warnings)
    assert query("select content from ragpg.document where external_id = 'nul.txt'") == [("Zebras run.\n",)]
    assert rag.search("docs", "Hühner", mode="keyword")[0].external_id == "latin.txt"


def test_a_parser_that_breaks_costs_one_file(
    rag: Client, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import ragpg.ingest.entry as entry

    parse_path = entry.parse_path

    def breaks(path: Path) -> Any:
        if path.name == "vpn.txt":
            raise ZeroDivisionError("in a library")
        return parse_path(path)

    monkeypatch.setattr(entry, "parse_path", breaks)
    report = rag.ingest("docs", folder)
    assert report.created == 2
    assert "ZeroDivisionError: in a library" in report.failures[0].error
    assert "vpn.txt" in caplog.text


def test_a_file_that_vanishes_during_the_run_is_a_failure(
    rag: Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ragpg.ingest.entry as entry

    find = entry._find

    def find_then_lose(*args: Any) -> Any:
        found = find(*args)
        (folder / "refunds.md").unlink()
        return found

    monkeypatch.setattr(entry, "_find", find_then_lose)
    report = rag.ingest("docs", folder, sync=True)
    assert (report.created, len(report.failures)) == (2, 1)


def test_a_five_megabyte_line_is_stored(rag: Client, folder: Path) -> None:
    rag.create_collection("words", embedder="none", chunking={"strategy": "recursive"})
    (folder / "line.txt").write_text("zebra " + "lorem ipsum dolor " * 290_000)
    report = rag.ingest("words", folder / "line.txt")
    assert report.failures == []
    assert report.created == 1
    assert rag.search("words", "zebra", k=1)[0].external_id == "line.txt"


def test_a_model_that_is_down_leaves_keyword_search_and_the_next_run_embeds(
    rag: Client, folder: Path, embedder: CountingEmbedder, query: Query
) -> None:
    embedder.refuse = lambda text: True
    report = rag.ingest("docs", folder)
    assert (report.created, report.embedded) == (3, 0)
    (failure,) = report.failures
    assert "3 chunks" in failure.error
    assert "the model is down" in failure.error
    assert rag.stats("docs").pending == 3
    assert rag.search("docs", "VPN", mode="keyword")[0].external_id == "it/vpn.txt"
    assert "stale_embeddings" in rag.search("docs", "VPN").degraded
    embedder.refuse = lambda text: False
    report = rag.ingest("docs", folder)
    assert (report.unchanged, report.embedded, report.failures) == (3, 3, [])
    assert consistent(query)
    assert rag.search("docs", "VPN").degraded == []


def test_a_model_that_is_down_is_not_asked_for_every_document(
    rag: Client, tmp_path: Path, embedder: CountingEmbedder
) -> None:
    embedder.refuse = lambda text: True
    rag.ingest("docs", write(tmp_path / "many", 40))
    assert len(embedder.batches) <= 4
    assert rag.stats("docs").pending == 40


def test_one_text_that_the_model_refuses_costs_one_document(
    rag: Client, folder: Path, embedder: CountingEmbedder
) -> None:
    embedder.refuse = lambda text: "VPN" in text
    report = rag.ingest("docs", folder)
    assert (report.created, report.embedded) == (3, 2)
    assert "1 chunks" in report.failures[0].error
    assert rag.stats("docs").pending == 1


def test_texts_that_the_model_refuses_do_not_keep_the_others_from_it(
    rag: Client, folder: Path, embedder: CountingEmbedder, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both at the front and more than are looked at together, whatever the order of the documents' ids.
    monkeypatch.setattr("ragpg.ingest.pipeline._PENDING_AT_ONCE", 3)
    for number in range(12):
        (folder / f"bad{number}.md").write_text(f"# Bad {number}\n\nUnspeakable {number}.\n")
    embedder.refuse = lambda text: True
    rag.ingest("docs", folder)
    assert rag.stats("docs").pending == 15
    embedder.refuse = lambda text: "Unspeakable" in text
    report = rag.ingest("docs", folder)
    assert report.embedded == 3
    assert "12 chunks" in report.failures[0].error
    assert query("select count(*) from ragpg.embedding") == [(3,)]


def test_a_long_text_that_the_model_refuses_does_not_hide_the_next(
    rag: Client, tmp_path: Path, embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragpg.ingest.pipeline._PENDING_AT_ONCE", 3)
    embedder.refuse = lambda text: True
    for number in range(8):
        bad = "\n\n".join(f"Unspeakable {number} {line} " + "word " * 50 for line in range(9))
        (tmp_path / f"bad{number}.txt").write_text(bad if number % 2 else f"Good text {number}.")
    rag.ingest("docs", tmp_path)
    embedder.refuse = lambda text: "Unspeakable" in text
    assert rag.ingest("docs", tmp_path).embedded == 4


def test_upsert_with_a_model_that_is_down_writes_nothing(
    rag: Client, embedder: CountingEmbedder, query: Query
) -> None:
    embedder.refuse = lambda text: True
    with pytest.raises(EmbeddingError):
        rag.upsert_document("docs", external_id="a", content="text")
    assert query("select * from ragpg.document") == []


def test_what_the_database_refuses_costs_one_document(rag: Client, folder: Path, database: str) -> None:
    execute(database, FAIL_ON.format("54000", "VPN"))
    report = rag.ingest("docs", folder)
    assert report.created == 2
    assert [failure.error for failure in report.failures] == ["made to fail [SQLSTATE 54000]"]


def test_a_full_disk_ends_the_run_and_the_next_one_completes(
    rag: Client, tmp_path: Path, database: str, query: Query, one_by_one: None
) -> None:
    folder = write(tmp_path / "many", 9)
    execute(database, FAIL_ON.format("53100", "number 5"))
    with pytest.raises(DatabaseError, match="disk is full") as caught:
        rag.ingest("docs", folder)
    assert "5 documents were written" in caught.value.__notes__[0]
    assert rag.stats("docs").documents == 5
    assert consistent(query)
    execute(database, "drop trigger fail on ragpg.document")
    report = rag.ingest("docs", folder)
    assert (report.unchanged, report.created, report.failures) == (5, 4, [])
    assert consistent(query)


def test_a_lost_database_ends_the_run_and_the_next_one_completes(
    rag: Client, tmp_path: Path, database: str, pg_server: Any, query: Query, embedder: CountingEmbedder, one_by_one: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("ragpg.client.sync_database._POOL_TIMEOUT", 0.5)
    name = str(psycopg.conninfo.conninfo_to_dict(database)["dbname"])

    def gone(text: str) -> bool:
        if "number 4" in text:
            pg_server.run(f'alter database "{name}" allow_connections false')
            query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ragpg'")
        return False

    embedder.refuse = gone
    folder = write(tmp_path / "many", 9)
    with Client(database, embedder=embedder) as client, pytest.raises(DatabaseUnavailable):
        client.ingest("docs", folder)
    pg_server.run(f'alter database "{name}" allow_connections true')
    embedder.refuse = lambda text: False
    assert query("select count(*) from ragpg.document") == [(4,)]
    assert consistent(query)
    report = rag.ingest("docs", folder)
    assert (report.unchanged, report.created, report.failures) == (4, 5, [])
    assert consistent(query)


def test_a_killed_session_is_replaced_and_the_run_goes_on(
    rag: Client, tmp_path: Path, query: Query, database: str, one_by_one: None
) -> None:
    folder = write(tmp_path / "many", 9)
    waiting = "select pid from pg_stat_activity where application_name = 'ragpg' and wait_event_type = 'Lock'"
    with psycopg.connect(database) as blocker, ThreadPoolExecutor(1) as thread:
        blocker.execute("lock table ragpg.document in share row exclusive mode")
        running = thread.submit(rag.ingest, "docs", folder)
        deadline = time.monotonic() + 20
        while not query(waiting) and time.monotonic() < deadline:
            time.sleep(0.01)
        killed = query(f"select pg_terminate_backend(pid) from ({waiting}) as w")
        assert killed == [(True,)]
        blocker.rollback()
        report = running.result(30)
    assert (report.created, report.failures) == (9, [])
    assert consistent(query)


def test_two_runs_over_one_folder_at_once_leave_one_set_of_rows(
    database: str, tmp_path: Path, query: Query, one_by_one: None
) -> None:
    folder = write(tmp_path / "many", 30)
    with Client(database, embedder="hash") as rag:
        rag.create_collection("docs")
    start = threading.Barrier(4)

    def ingest(_: int) -> Any:
        with Client(database, embedder=make_embedder("hash")) as client:
            start.wait()
            return client.ingest("docs", folder, sync=True)

    for text in ("Text of number 7.", "Text of number seven."):
        (folder / "07.md").write_text(f"# Document 7\n\n{text}\n")
        with ThreadPoolExecutor(4) as threads:
            reports = list(threads.map(ingest, range(4)))
        assert [report.failures for report in reports] == [[]] * 4
        assert [report.deleted for report in reports] == [0] * 4
        assert query("select count(*) from ragpg.document") == [(30,)]
        assert query("select count(*) from ragpg.chunk") == [(30,)]
        assert consistent(query)
    assert sum(report.updated for report in reports) == 1
