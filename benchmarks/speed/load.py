"""Loads a corpus as fast as Postgres takes it, and builds the indexes afterwards, each by itself."""

from __future__ import annotations

import hashlib
import json
import time
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from .source import SEPARATOR, Batch, Source, Vectors

COLLECTION = "bench"
_HALFVEC_HEADER = 4
Report = dict[str, Any]


def load(url: str, source: Source) -> Report:
    """Fill an empty, migrated database with a corpus; return seconds and sizes."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: print(f"  {notice.severity}: {notice.message_primary}"))
        connection.execute(
            "select ragpg.create_collection(%s, p_language => %s, p_embedding_provider => 'bench',"
            " p_embedding_model => 'bench', p_embedding_dimensions => %s)",
            (COLLECTION, source.language, source.dimensions),
        )
        collection, version = connection.execute(
            "select id, active_index_version_id from ragpg.collection where name = %s", (COLLECTION,)
        ).fetchall()[0]
        tables = ("document", f"chunk_v{version}", f"embedding_v{version}")
        later = _drop_indexes(connection, tables)
        seconds: dict[str, float] = {}
        started = time.perf_counter()
        for batch in source.batches():
            _load_batch(connection, collection, version, source, batch)
        seconds["rows"] = time.perf_counter() - started
        print(f"  rows loaded in {seconds['rows']:.0f} s")
        seconds.update(_build_indexes(connection, later))
        _prove(connection)
        sizes = _sizes(connection, tables)
    return {"seconds": seconds, "sizes": sizes, "loaded_at": datetime.now(UTC).isoformat(timespec="seconds")}


def _build_indexes(connection: psycopg.Connection[Any], definitions: dict[str, str]) -> dict[str, float]:
    seconds: dict[str, float] = {}
    for name, definition in definitions.items():
        seconds[name] = _timed(connection, definition)
        print(f"  {name} built in {seconds[name]:.1f} s", flush=True)
    vacuum = "vacuum (analyze) ragpg.document, ragpg.chunk, ragpg.embedding"
    seconds["vacuum analyze"] = _timed(connection, vacuum)
    refresh = "select ragpg.refresh_statistics(%s)"
    seconds["refresh_statistics"] = _timed(connection, refresh, (COLLECTION,))
    print(f"  refresh_statistics took {seconds['refresh_statistics']:.1f} s", flush=True)
    return seconds


def _sizes(connection: psycopg.Connection[Any], tables: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """Kind and bytes of the tables (TOAST with them) and of their indexes."""
    return {
        name: (kind, size)
        for name, kind, size in connection.execute(
            "select relname, case relkind when 'i' then 'index' else 'table' end,"
            " case relkind when 'i' then pg_relation_size(oid) else pg_table_size(oid) end from pg_class"
            " where relnamespace = 'ragpg'::regnamespace and (oid = any (%(tables)s::regclass[]) or oid in ("
            "  select indexrelid from pg_index where indrelid = any (%(tables)s::regclass[])))",
            {"tables": [f"ragpg.{table}" for table in tables]},
        ).fetchall()
    }


def _drop_indexes(connection: psycopg.Connection[Any], tables: tuple[str, ...]) -> dict[str, str]:
    """Drop the GIN and HNSW indexes; return their definitions, to be built over the loaded rows."""
    found: dict[str, str] = dict(
        connection.execute(
            "select class.relname, pg_get_indexdef(class.oid) from pg_class as class"
            " join pg_am as method on method.oid = class.relam join pg_index as index on index.indexrelid = class.oid"
            " where method.amname in ('gin', 'hnsw') and index.indrelid = any (%s::regclass[]) order by method.amname",
            ([f"ragpg.{table}" for table in tables],),
        ).fetchall()
    )
    for name in found:
        connection.execute(sql.SQL("drop index ragpg.{}").format(sql.Identifier(name)))
    return found


def _load_batch(
    connection: psycopg.Connection[Any], collection: int, version: int, source: Source, batch: Batch
) -> None:
    now = datetime.now(UTC)
    document_ids: list[bytes] = []
    chunk_ids: list[bytes] = []
    with connection.transaction(), connection.cursor() as cursor:
        with cursor.copy(
            "copy ragpg.document (id, collection_id, external_id, language, metadata, acl, content, content_hash,"
            " created_at, updated_at, indexed_at) from stdin"
        ) as copy:
            for document in batch.documents:
                identity = uuid8(f"{COLLECTION}\0\0{document.external_id}".encode())
                content = SEPARATOR.join(document.chunks)
                document_ids += [identity] * len(document.chunks)
                copy.write_row(
                    (
                        UUID(bytes=identity), collection, document.external_id, source.language, Jsonb(document.metadata),
                        document.acl, content, hashlib.sha256(content.encode()).digest(), now, now, now,
                    )
                )  # fmt: skip
        cursor.execute(
            "create temporary table staged (document_id uuid, id uuid, ordinal integer, content text,"
            " char_start integer, metadata jsonb) on commit drop"
        )
        with cursor.copy("copy staged from stdin") as copy:
            for document in batch.documents:
                start = 0
                metadata = json.dumps(document.metadata)
                for ordinal, content in enumerate(document.chunks):
                    parent = document_ids[len(chunk_ids)]
                    chunk_ids.append(
                        uuid8(parent + hashlib.sha256(content.encode()).digest() + (0).to_bytes(4, "big"))
                    )
                    copy.write_row(
                        (UUID(bytes=parent), UUID(bytes=chunk_ids[-1]), ordinal, content, start, metadata)
                    )
                    start += len(content) + len(SEPARATOR)
        analyse = sql.SQL("to_tsvector" if source.plain_words else "ragpg._analyze")
        cursor.execute(
            sql.SQL(
                "insert into ragpg.chunk (index_version_id, document_id, id, ordinal, content, char_start, char_end,"
                " parent_start, parent_end, metadata, content_tsv, lexeme_count, written_at)"
                " select %s, staged.document_id, staged.id, staged.ordinal, staged.content, staged.char_start,"
                "  staged.char_start + length(staged.content), null, null, staged.metadata, analysed.tsv,"
                "  ragpg._lexeme_count(analysed.tsv), clock_timestamp()"
                " from staged cross join lateral {analyse}(%s::regconfig, E'\\n' || staged.content) as analysed (tsv)"
            ).format(analyse=analyse),
            (version, source.language),
        )
        with cursor.copy("copy ragpg.embedding from stdin (format binary)") as copy:
            copy.write(_binary_rows(version, document_ids, chunk_ids, batch.vectors))


def _binary_rows(version: int, document_ids: list[bytes], chunk_ids: list[bytes], vectors: Vectors) -> bytes:
    """The rows of ``ragpg.embedding`` as COPY's binary format has them, every field after its length."""
    dimensions = vectors.shape[1]
    rows = np.zeros(
        len(vectors),
        dtype=[
            ("fields", ">i2"), ("l1", ">i4"), ("version", ">i8"), ("l2", ">i4"), ("document", "V16"),
            ("l3", ">i4"), ("chunk", "V16"), ("l4", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"),
            ("values", ">f2", (dimensions,)),
        ],
    )  # fmt: skip
    rows["fields"], rows["l1"], rows["l2"], rows["l3"] = 4, 8, 16, 16
    rows["l4"] = _HALFVEC_HEADER + 2 * dimensions
    rows["version"], rows["dimensions"], rows["values"] = version, dimensions, vectors
    rows["document"] = np.frombuffer(b"".join(document_ids), dtype="V16")
    rows["chunk"] = np.frombuffer(b"".join(chunk_ids), dtype="V16")
    return b"PGCOPY\n\xff\r\n\0" + bytes(8) + rows.tobytes() + b"\xff\xff"


def uuid8(source: bytes) -> bytes:
    """The id that ragpg gives: see ``ragpg._uuid8``."""
    digest = bytearray(hashlib.sha256(source).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return bytes(digest)


def _prove(connection: psycopg.Connection[Any]) -> None:
    """Compare some rows with what ragpg's own functions would have written."""
    wrong = connection.execute(
        "select count(*) filter (where chunk.id <> ragpg._chunk_id(document.id, chunk.content, 0)"
        "  or document.id <> ragpg._document_id(%s, document.tenant_id, document.external_id)"
        "  or chunk.content <> substr(document.content, chunk.char_start + 1, chunk.char_end - chunk.char_start)"
        "  or chunk.content_tsv <> ragpg._analyze(document.language::regconfig, chunk.heading || E'\\n' || chunk.content)"
        "  or chunk.lexeme_count <> ragpg._lexeme_count(chunk.content_tsv)),"
        " count(*)"
        " from (select * from ragpg.chunk limit 500) as chunk join ragpg.document on document.id = chunk.document_id",
        (COLLECTION,),
    ).fetchall()[0]
    if wrong[0] or not wrong[1]:
        raise RuntimeError(f"{wrong[0]} of {wrong[1]} loaded rows are not as ragpg writes them")


def _timed(connection: psycopg.Connection[Any], statement: Any, parameters: tuple[Any, ...] = ()) -> float:
    started = time.perf_counter()
    connection.execute(statement, parameters or None)
    return time.perf_counter() - started
