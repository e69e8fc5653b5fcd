"""``ragpg status``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ragpg.cli.connect import find_database, open_client
from ragpg.cli.options import JsonOption, UrlOption
from ragpg.cli.output import note, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.types import CollectionStats


def status(
    collection: Annotated[
        str | None,
        typer.Argument(metavar="COLLECTION", help="Only this collection. Default: all.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Show the database and its collections: documents, chunks, vectors, what is pending."""
    database = find_database(url)
    with open_client(url, database=database) as client:
        collections = [client.stats(collection)] if collection is not None else client.collections()
    if as_json:
        print_json({"database": database.shown, "collections": [asdict(stats) for stats in collections]})
        return
    typer.echo(f"database: {database.shown}")
    print_collections(collections)


def embedder_name(stats: CollectionStats) -> str:
    """Name a collection's embedder as ``collection create --embedder`` takes it.

    Parameters
    ----------
    stats
        The collection.

    Returns
    -------
    str
        For example ``openai:text-embedding-3-small``; ``none`` for a collection without vectors.
    """
    if stats.embedding_provider is None:
        return "none"
    return f"{stats.embedding_provider}:{stats.embedding_model}"


def print_collections(collections: Sequence[CollectionStats]) -> None:
    """Print collections as a table.

    Parameters
    ----------
    collections
        The collections.
    """
    if not collections:
        note("no collections yet: ragpg collection create NAME")
        return
    rows = [
        [
            stats.name,
            str(stats.documents),
            str(stats.chunks),
            str(stats.embeddings),
            str(stats.pending),
            embedder_name(stats),
            str(stats.chunking.get("strategy", "")),
            stats.language,
            f"{stats.indexed_at:%Y-%m-%d %H:%M}" if stats.indexed_at else "never",
        ]
        for stats in collections
    ]
    print_table(
        [
            "collection",
            "documents",
            "chunks",
            "vectors",
            "pending",
            "embedder",
            "chunking",
            "language",
            "indexed",
        ],
        rows,
    )
