from __future__ import annotations

import hashlib
import json
import threading
import uuid
from typing import Any

import psycopg
import pytest

from tests.sql.helpers import Row, call, create, ids, upsert, vectors


def counts(connection: psycopg.Connection[Any]) -> tuple[int, int, int]:
    row = connection.execute(
        "select (select count(*) from ragpg.document), (select count(*) from ragpg.chunk), (select count(*) from ragpg.embedding)"
    ).fetchone()
    assert row is not None
    return row


def uuid8(digest: bytes) -> uuid.UUID:
    raw = bytearray(digest[:16])
    raw[6] = (raw[6] & 0x0F) | 0x80
    raw[8] = (raw[8] & 0x3F) | 0x80
    return uuid.UUID(bytes=bytes(raw))


def test_ids_can_be_computed_by_a_client(conn: psycopg.Connection) -> None:
    create(conn)
    document = upsert(conn, "naïve/ü.md", ["same", "same", "other"], tenant_id="acme")["document_id"]
    assert document == uuid8(hashlib.sha256("c\0acme\0naïve/ü.md".encode()).digest())
    rows = conn.execute("select id, content from ragpg.chunk order by ordinal").fetchall()
    expected = [
        uuid8(
            hashlib.sha256(
                document.bytes + hashlib.sha256(text.encode()).digest() + n.to_bytes(4, "big")
            ).digest()
        )
        for text, n in (("same", 0), ("same", 1), ("other", 0))
    ]
    assert [row[0] for row in rows] == expected


def test_the_same_again_writes_nothing(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        create(connection)
        arguments: Row = {
            "metadata": '{"a": 1}',
            "title": "T",
            "acl": ["group:x"],
            "expires_at": "2999-01-01",
        }
        first = upsert(connection, "d", ["one", "two"], [[1, 0, 0], [0, 1, 0]], **arguments)
        assert (first["status"], first["chunks_written"], first["embeddings_written"]) == ("created", 2, 2)
        query = "select xmin::text, ctid::text from ragpg.document union all select xmin::text, ctid::text from ragpg.chunk"
        before = connection.execute(query).fetchall()
        again = upsert(connection, "d", ["one", "two"], [None, None], **arguments)
        assert (
            again["status"],
            again["chunks_written"],
            again["chunks_deleted"],
            again["embeddings_written"],
        ) == (
            "unchanged",
            0,
            0,
            0,
        )
        assert connection.execute(query).fetchall() == before


def test_an_edit_keeps_the_vectors_of_unchanged_chunks(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "d", ["one", "two", "three"], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    before = dict(conn.execute("select chunk_id, embedding::text from ragpg.embedding").fetchall())
    result = upsert(conn, "d", ["zero, which moves the others", "one", "three"], [[1, 1, 0], None, None])
    assert (result["status"], result["chunks_deleted"], result["embeddings_written"]) == ("updated", 1, 1)
    after = dict(conn.execute("select chunk_id, embedding::text from ragpg.embedding").fetchall())
    kept = before.items() & after.items()
    assert sorted(value for _, value in kept) == ["[0,0,1]", "[1,0,0]"]
    rows = conn.execute(
        "select chunk.content = substr(document.content, char_start + 1, char_end - char_start), ordinal"
        " from ragpg.chunk join ragpg.document on document.id = chunk.document_id order by ordinal"
    ).fetchall()
    assert rows == [(True, 0), (True, 1), (True, 2)]


def test_deleted_text_is_gone_from_both_legs(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "d", ["alpha", "beta"], [[1, 0, 0], [0, 1, 0]])
    upsert(conn, "d", ["alpha"], [None])
    assert counts(conn) == (1, 1, 1)
    assert call(conn, "search_keyword", p_collection="c", p_query="beta") == []
    assert call(conn, "delete_document", p_collection="c", p_external_id="d") == [{"delete_document": True}]
    assert counts(conn) == (0, 0, 0)
    assert call(conn, "delete_document", p_collection="c", p_external_id="d") == [{"delete_document": False}]


def test_another_heading_asks_for_another_vector(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "d", ["alpha"], [[1, 0, 0]], headings=["Old"])
    result = upsert(conn, "d", ["alpha"], [None], headings=["New"])
    assert result["chunks_written"] == 1
    assert counts(conn) == (1, 1, 0)
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="new")) == ["d"]
    assert call(conn, "search_keyword", p_collection="c", p_query="old") == []
    assert conn.execute("select indexed_at from ragpg.document").fetchone() == (None,)


def test_attributes_change_without_touching_chunks(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "d", ["alpha"], [[1, 0, 0]], headings=["H"], title="A", acl=["group:x"])
    result = upsert(conn, "d", ["alpha"], [None], headings=["H"], title="B")
    assert (result["status"], result["chunks_written"]) == ("attributes", 0)
    assert conn.execute("select title, acl, version from ragpg.document").fetchone() == ("B", ["group:x"], 1)


def test_another_language_analyses_again(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "d", ["Die Häuser laufen"], [[1, 0, 0]], language="simple")
    assert call(conn, "search_keyword", p_collection="c", p_query="Haus") == []
    upsert(conn, "d", ["Die Häuser laufen"], [None], language="german")
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="Haus")) == ["d"]


def test_a_query_meets_documents_of_several_languages(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "en", ["The houses are running"], language="english")
    upsert(conn, "de", ["Die Häuser laufen"], language="german")
    upsert(conn, "ja", ["研究所は東京にある"], language="simple")
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="house")) == ["en"]
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="Häusern")) == ["de"]
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="東京の研究所")) == ["ja"]


def test_sql_alone_splits_and_searches(conn: psycopg.Connection) -> None:
    create(conn)
    content = "\n\n".join(
        f"Paragraph {number} tells of topic{number}. " + "Filler words. " * 20 for number in range(30)
    )
    call(conn, "upsert_document", p_collection="c", p_external_id="d", p_content=content, p_title="Book")
    rows = conn.execute(
        "select char_start, char_end, content, heading from ragpg.chunk order by ordinal"
    ).fetchall()
    assert len(rows) > 5
    for start, end, text, heading in rows:
        assert content[start:end] == text
        assert heading == "Book"
        assert len(text) < 3200
    covered = set().union(*(range(start, end) for start, end, _, _ in rows))
    assert all(place in covered or character.isspace() for place, character in enumerate(content))
    hits = call(conn, "search_hybrid", p_collection="c", p_query="topic17")
    assert "topic17" in hits[0]["content"]
    stats = call(conn, "collection_stats", p_collection="c")[0]
    assert (stats["documents"], stats["pending"]) == (1, 1)


@pytest.mark.parametrize(
    "content", ["x" * 200_000, "wort " * 40_000, "行" * 50_000, "\n" * 50 + "a" + "\n" * 50, " a"]
)
def test_sql_alone_takes_any_text(conn: psycopg.Connection, content: str) -> None:
    create(conn, dimensions=None)
    call(conn, "upsert_document", p_collection="c", p_external_id="d", p_content=content)
    rows = conn.execute("select char_start, char_end, content from ragpg.chunk").fetchall()
    assert rows
    assert all(content[start:end] == text for start, end, text in rows)
    covered = sum(end - start for start, end, _ in rows)
    assert covered >= sum(not character.isspace() for character in content)


def test_pending_chunks_get_their_vectors_later(conn: psycopg.Connection) -> None:
    create(conn)
    call(conn, "upsert_document", p_collection="c", p_external_id="d", p_content="alpha")
    pending = call(conn, "_pending_chunks", p_collection="c")
    assert [row["content"] for row in pending] == ["alpha"]
    written = call(
        conn,
        "_set_embeddings",
        p_collection="c",
        p_document_ids=[row["document_id"] for row in pending],
        p_chunk_ids=[row["chunk_id"] for row in pending],
        p_embeddings=vectors([[1, 0, 0]]),
    )
    assert written == [{"_set_embeddings": 1}]
    assert call(conn, "_pending_chunks", p_collection="c") == []
    assert call(conn, "collection_stats", p_collection="c")[0]["pending"] == 0


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"p_collection": "nowhere"}, "RG001"),
        ({"p_external_id": ""}, "RG007"),
        ({"p_content": ""}, "RG007"),
        ({"p_content": " \n\t "}, "RG007"),
        ({"p_content": None}, "RG007"),
        ({"p_metadata": "[1]"}, "RG007"),
        ({"p_metadata": None}, "RG007"),
        ({"p_acl": ["group:x", None]}, "RG007"),
        ({"p_acl": ["*"]}, "RG007"),
        ({"p_acl": [" "]}, "RG007"),
        ({"p_language": "klingon"}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 99}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": 3, "char_end": 3}]'}, "RG007"),
        ({"p_chunks": '[{"char_end": 3}]'}, "RG007"),
        ({"p_chunks": '{"char_start": 0, "char_end": 3}'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3, "kind": "poem"}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": "a", "char_end": 3}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0.5, "char_end": 3}]'}, "RG007"),
        ({"p_chunks": "[7, null]"}, "RG007"),
        ({"p_chunks": '[[{"char_start": 0, "char_end": 3}]]'}, "RG007"),
        ({"p_chunks": '[{"char_start": [0], "char_end": 3}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3, "token_count": 1e12}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3, "kind": ["text"]}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3, "section_path": ["a", 1]}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3, "page_start": 2, "page_end": 1}]'}, "RG007"),
        ({"p_language": "-"}, "RG007"),
        ({"p_language": "99999"}, "RG007"),
        ({"p_external_id": "x" * 1001}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3, "parent_start": 5, "parent_end": 2}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3, "parent_start": 0}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3, "metadata": [1]}]'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3, "section_path": "x"}]'}, "RG007"),
        ({"p_embeddings": '{"[1,2,3]"}'}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3}]', "p_embeddings": "{}"}, "RG007"),
        ({"p_chunks": '[{"char_start": 0, "char_end": 3}]', "p_embeddings": '{"[1,2]"}'}, "RG005"),
        ({"p_index_version": 99999}, "RG004"),
    ],
)
def test_bad_documents_are_refused_and_leave_nothing(
    conn: psycopg.Connection, parameters: Row, code: str
) -> None:
    create(conn)
    given: Row = {"p_collection": "c", "p_external_id": "d", "p_content": "some text"}
    with pytest.raises(psycopg.Error) as refused, conn.transaction():
        call(conn, "upsert_document", **{**given, **parameters})
    assert refused.value.sqlstate == code
    assert counts(conn) == (0, 0, 0)


def test_set_acl_of_an_unknown_document(conn: psycopg.Connection) -> None:
    create(conn)
    with pytest.raises(psycopg.Error) as refused:
        call(conn, "set_acl", p_collection="c", p_external_id="d", p_acl=["public"])
    assert refused.value.sqlstate == "RG003"


def test_two_writers_of_one_document_follow_each_other(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as owner:
        create(owner)
        errors: list[Exception] = []

        def write(number: int) -> None:
            try:
                with psycopg.connect(database, autocommit=True) as connection:
                    for turn in range(10):
                        upsert(connection, "d", [f"text {number} {turn}", "shared"], [[1, 0, 0], [0, 1, 0]])
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert counts(owner) == (1, 2, 2)
        row = owner.execute("select version from ragpg.document").fetchone()
        assert row is not None
        assert row[0] > 1


def test_index_versions_are_built_beside_and_roll_back(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "d", ["alpha beta"], [[1, 0, 0]])
    old = call(conn, "_index_version", p_collection="c")[0]["index_version_id"]
    new = call(
        conn,
        "create_index_version",
        p_collection="c",
        p_embedding_provider="test",
        p_embedding_model="other",
        p_embedding_dimensions=2,
    )[0]["create_index_version"]
    content = json.dumps([{"char_start": 0, "char_end": 5}, {"char_start": 6, "char_end": 10}])
    call(
        conn,
        "upsert_document",
        p_collection="c",
        p_external_id="d",
        p_content="alpha beta",
        p_chunks=content,
        p_embeddings='{"[1,0]","[0,1]"}',
        p_index_version=new,
    )
    near = {"p_collection": "c", "p_embedding": "[1,0,0]"}
    assert [row["content"] for row in call(conn, "search_vector", **near)] == ["alpha beta"]
    assert len(call(conn, "search_vector", p_collection="c", p_embedding="[1,0]", p_index_version=new)) == 2
    call(conn, "activate_index_version", p_collection="c", p_index_version=new)
    assert len(call(conn, "search_vector", p_collection="c", p_embedding="[1,0]")) == 2
    with pytest.raises(psycopg.Error) as refused, conn.transaction():
        call(conn, "search_vector", **near)
    assert refused.value.sqlstate == "RG005"
    call(conn, "activate_index_version", p_collection="c", p_index_version=old)
    assert [row["content"] for row in call(conn, "search_vector", **near)] == ["alpha beta"]
    assert dict(conn.execute("select id, status from ragpg.index_version").fetchall()) == {
        old: "active",
        new: "retired",
    }
    with pytest.raises(psycopg.Error) as refused, conn.transaction():
        call(conn, "drop_index_version", p_collection="c", p_index_version=old)
    assert refused.value.sqlstate == "RG011"
    call(conn, "drop_index_version", p_collection="c", p_index_version=new)
    assert counts(conn) == (1, 1, 1)
    assert conn.execute("select to_regclass(%s)", (f"ragpg.chunk_v{new}",)).fetchone() == (None,)


def test_collections_are_made_and_dropped_whole(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "d", ["alpha"], [[1, 0, 0]])
    for parameters, code in (
        ({"p_name": "c"}, "RG002"),
        ({"p_name": " "}, "RG007"),
        ({"p_name": "x", "p_language": "klingon"}, "RG007"),
        ({"p_name": "x", "p_embedding_provider": "openai"}, "RG007"),
        (
            {
                "p_name": "x",
                "p_embedding_provider": "a",
                "p_embedding_model": "b",
                "p_embedding_dimensions": 20000,
            },
            "RG007",
        ),
        ({"p_name": "x", "p_default_acl": ["*"]}, "RG007"),
    ):
        with pytest.raises(psycopg.Error) as refused, conn.transaction():
            call(conn, "create_collection", **parameters)
        assert refused.value.sqlstate == code
    call(conn, "drop_collection", p_name="c")
    assert counts(conn) == (0, 0, 0)
    assert conn.execute("select count(*) from ragpg.index_version").fetchone() == (0,)
    with pytest.raises(psycopg.Error) as refused, conn.transaction():
        call(conn, "drop_collection", p_name="c")
    assert refused.value.sqlstate == "RG001"


def test_nulls_in_a_chunk_are_defaults(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    chunk = dict.fromkeys(
        ("heading", "kind", "parent_start", "parent_end", "page_start", "metadata", "section_path")
    )
    chunks = json.dumps([{**chunk, "char_start": 0, "char_end": 4, "token_count": 1.0}])
    call(conn, "upsert_document", p_collection="c", p_external_id="d", p_content="text", p_chunks=chunks)
    row = conn.execute(
        "select kind, heading, section_path, metadata, token_count from ragpg.chunk"
    ).fetchone()
    assert row == ("text", "", [], {}, 1)


def test_long_texts_are_cut_exactly(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    content = "".join(f"ü{number}🙂 " for number in range(90_000))
    starts = sorted(
        {0, 9_990, 10_000, 199_995, 200_000, 399_999, len(content) - 30}
        | set(range(0, len(content) - 30, 997))
    )
    chunks = [{"char_start": start, "char_end": start + 25} for start in starts]
    chunks.append({"char_start": 5, "char_end": len(content) - 5})
    rows = conn.execute(
        "select place, content from ragpg._cut(%s, %s) order by place", (content, json.dumps(chunks))
    ).fetchall()
    assert [text for _, text in rows] == [
        content[chunk["char_start"] : chunk["char_end"]] for chunk in chunks
    ]


def test_what_is_pending_is_told_apart_by_index_version(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "d", ["alpha"], [[1, 0, 0]])
    old = call(conn, "_index_version", p_collection="c")[0]["index_version_id"]
    new = call(conn, "create_index_version", p_collection="c")[0]["create_index_version"]
    near = {"p_collection": "c", "p_embedding": "[1,0,0]"}
    chunks = json.dumps([{"char_start": 0, "char_end": 5}])
    building = {
        "p_collection": "c",
        "p_external_id": "d",
        "p_content": "alpha",
        "p_chunks": chunks,
        "p_index_version": new,
    }
    call(conn, "upsert_document", **building)
    assert call(conn, "search_vector", **near)[0]["degraded"] == []
    assert [
        row["content"] for row in call(conn, "_pending_chunks", p_collection="c", p_index_version=new)
    ] == ["alpha"]
    assert call(conn, "_pending_chunks", p_collection="c") == []
    call(conn, "activate_index_version", p_collection="c", p_index_version=new)
    assert call(conn, "collection_stats", p_collection="c")[0]["pending"] == 1
    call(conn, "activate_index_version", p_collection="c", p_index_version=old)
    assert call(conn, "collection_stats", p_collection="c")[0]["pending"] == 0


def test_a_new_collection_locks_no_search_out(database: str) -> None:
    with psycopg.connect(database) as maker, psycopg.connect(database, autocommit=True) as other:
        create(other)
        upsert(other, "d", ["alpha"], [[1, 0, 0]])
        create(maker, "second")
        other.execute("set statement_timeout = '5s'")
        assert ids(
            call(other, "search_hybrid", p_collection="c", p_query="alpha", p_embedding="[1,0,0]")
        ) == ["d"]
        maker.rollback()


def test_removed_text_is_gone_from_every_index_version(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "d", ["the old secret", "what stays"], [[1, 0, 0], [0, 1, 0]])
    upsert(conn, "e", ["another document"], [[0, 0, 1]])
    old = call(conn, "_index_version", p_collection="c")[0]["index_version_id"]
    new = call(conn, "create_index_version", p_collection="c")[0]["create_index_version"]
    upsert(conn, "d", ["the new text", "what stays"], [[1, 0, 0], [0, 1, 0]], index_version=new)
    upsert(conn, "e", ["another document"], [[0, 0, 1]], index_version=new)
    call(conn, "activate_index_version", p_collection="c", p_index_version=new)
    call(conn, "activate_index_version", p_collection="c", p_index_version=old)
    assert call(conn, "search_keyword", p_collection="c", p_query="secret") == []
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="another")) == ["e"]
    near = call(conn, "search_vector", p_collection="c", p_embedding="[1,0,0]")
    assert ids(near) == ["e"]
    assert near[0]["degraded"] == ["stale_embeddings"], "a document waits to be written to this version"
    state = call(conn, "_document_states", p_collection="c", p_external_ids=["d"])[0]
    assert state["chunk_count"] == 0
    upsert(conn, "d", ["the new text", "what stays"], [[1, 0, 0], [0, 1, 0]])
    assert "d" in ids(call(conn, "search_keyword", p_collection="c", p_query="new text"))


def test_an_empty_index_version_is_not_activated(conn: psycopg.Connection) -> None:
    create(conn)
    new = call(conn, "create_index_version", p_collection="c")[0]["create_index_version"]
    upsert(conn, "d", ["alpha"], [[1, 0, 0]])
    with pytest.raises(psycopg.Error) as refused, conn.transaction():
        call(conn, "activate_index_version", p_collection="c", p_index_version=new)
    assert refused.value.sqlstate == "RG011"


def test_what_is_being_activated_is_not_dropped(database: str) -> None:
    with psycopg.connect(database) as first, psycopg.connect(database) as second:
        create(first)
        new = call(first, "create_index_version", p_collection="c")[0]["create_index_version"]
        first.commit()
        call(first, "activate_index_version", p_collection="c", p_index_version=new)
        failure: list[psycopg.Error] = []

        def drop() -> None:
            try:
                call(second, "drop_index_version", p_collection="c", p_index_version=new)
            except psycopg.Error as error:
                failure.append(error)

        thread = threading.Thread(target=drop)
        thread.start()
        waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        while first.execute(waiting).fetchone() == (0,) and thread.is_alive():
            pass
        first.commit()
        thread.join()
        assert [error.sqlstate for error in failure] == ["RG011"]


def test_a_language_is_stored_by_its_full_name(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "d", ["Die Häuser"], language=" German ")
    assert conn.execute("select language from ragpg.document").fetchone() == ("german",)


def test_a_configuration_of_one_session_is_refused(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    conn.execute("create text search configuration pg_temp.mine (copy = simple)")
    with pytest.raises(psycopg.Error) as refused, conn.transaction():
        upsert(conn, "d", ["text"], language="pg_temp.mine")
    assert refused.value.sqlstate == "RG007"


def test_a_configuration_that_was_dropped_breaks_no_search(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    conn.execute("create schema words")
    conn.execute("create text search configuration words.mine (copy = simple)")
    upsert(conn, "a", ["alpha text"], language="words.mine")
    upsert(conn, "b", ["alpha text"])
    conn.execute("drop text search configuration words.mine")
    rows = call(conn, "search_keyword", p_collection="c", p_query="alpha")
    assert set(ids(rows)) == {"a", "b"}
    assert rows[0]["degraded"] == ["language_missing"]


def test_a_new_title_reaches_what_was_split_in_the_database(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    given = {"p_collection": "c", "p_external_id": "d", "p_content": "some text"}
    call(conn, "upsert_document", **given, p_title="Oldtitle")
    call(conn, "upsert_document", **given, p_title="Newtitle")
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="newtitle")) == ["d"]
    assert call(conn, "search_keyword", p_collection="c", p_query="oldtitle") == []


def test_a_write_that_waited_for_a_deletion_writes_anew(database: str) -> None:
    with psycopg.connect(database) as first, psycopg.connect(database, autocommit=True) as second:
        create(second)
        upsert(second, "d", ["alpha"], [[1, 0, 0]])
        call(first, "delete_document", p_collection="c", p_external_id="d")
        result: list[Row] = []
        thread = threading.Thread(target=lambda: result.append(upsert(second, "d", ["beta"], [[0, 1, 0]])))
        thread.start()
        waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        while first.execute(waiting).fetchone() == (0,) and thread.is_alive():
            pass
        first.commit()
        thread.join()
        assert result[0]["status"] == "created"
        assert counts(second) == (1, 1, 1)


def test_dropping_a_collection_waits_and_deadlocks_with_nobody(database: str) -> None:
    with psycopg.connect(database) as reader, psycopg.connect(database, autocommit=True) as owner:
        create(owner)
        create(owner, "going")
        upsert(owner, "d", ["alpha"], [[1, 0, 0]])
        upsert(owner, "g", ["alpha"], [[1, 0, 0]], collection="going")
        call(reader, "search_keyword", p_collection="c", p_query="alpha")
        errors: list[psycopg.Error] = []

        def drop() -> None:
            try:
                call(owner, "drop_collection", p_name="going")
            except psycopg.Error as error:
                errors.append(error)

        thread = threading.Thread(target=drop)
        thread.start()
        waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        while reader.execute(waiting).fetchone() == (0,) and thread.is_alive():
            pass
        reader.execute("set statement_timeout = '5s'")
        assert ids(call(reader, "search_vector", p_collection="c", p_embedding="[1,0,0]")) == ["d"]
        reader.commit()
        thread.join()
        assert errors == []
