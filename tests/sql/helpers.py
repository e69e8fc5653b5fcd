"""Short forms of the SQL calls that the tests make again and again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.rows import dict_row

Row = dict[str, Any]


def vector(values: Sequence[float]) -> str:
    """A vector as pgvector's text form."""
    return "[" + ",".join(map(repr, values)) + "]"


def vectors(rows: Sequence[Sequence[float] | None]) -> str:
    """An array of vectors, ``None`` for NULL."""
    return "{" + ",".join("NULL" if row is None else f'"{vector(row)}"' for row in rows) + "}"


def create(connection: psycopg.Connection[Any], name: str = "c", dimensions: int | None = 3) -> None:
    """Make a collection whose vectors have ``dimensions``, or that has none."""
    model = ("test", "test", dimensions) if dimensions else (None, None, None)
    connection.execute(
        "select ragpg.create_collection(%s, p_embedding_provider => %s, p_embedding_model => %s, p_embedding_dimensions => %s)",
        (name, *model),
    )


def upsert(
    connection: psycopg.Connection[Any],
    external_id: str,
    pieces: Sequence[str],
    embeddings: Sequence[Sequence[float] | None] | None = None,
    *,
    collection: str = "c",
    headings: Sequence[str] | None = None,
    chunk_metadata: Sequence[Row] | None = None,
    parents: Sequence[tuple[int, int]] | None = None,
    **attributes: Any,
) -> Row:
    """Write a document whose chunks are ``pieces``, joined by blank lines."""
    chunks: list[Row] = []
    start = 0
    for place, piece in enumerate(pieces):
        chunk: Row = {"char_start": start, "char_end": start + len(piece)}
        if headings is not None:
            chunk["heading"] = headings[place]
        if chunk_metadata is not None:
            chunk["metadata"] = chunk_metadata[place]
        if parents is not None:
            chunk["parent_start"], chunk["parent_end"] = parents[place]
        chunks.append(chunk)
        start += len(piece) + 2
    values: Row = {
        "p_collection": collection,
        "p_external_id": external_id,
        "p_content": "\n\n".join(pieces),
        "p_chunks": json.dumps(chunks),
        "p_embeddings": None if embeddings is None else vectors(embeddings),
        **{f"p_{name}": value for name, value in attributes.items()},
    }
    return call(connection, "upsert_document", **values)[0]


def call(connection: psycopg.Connection[Any], function: str, **parameters: Any) -> list[Row]:
    """The rows of a function of schema ragpg, called with named parameters."""
    arguments = ", ".join(f"{name} => %({name})s" for name in parameters)
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(f"select * from ragpg.{function}({arguments})", parameters).fetchall()


def ids(rows: Sequence[Row]) -> list[str]:
    """The external ids of hits, in order."""
    return [row["external_id"] for row in rows]
