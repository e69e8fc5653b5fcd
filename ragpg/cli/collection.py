"""``ragpg collection create | list | drop``."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer

from ragpg.cli.connect import open_client
from ragpg.cli.group import EXIT_USAGE
from ragpg.cli.options import JsonOption, UrlOption, YesOption, check_acl, check_new_name
from ragpg.cli.output import note, print_json
from ragpg.cli.status import embedder_name, print_collections

app = typer.Typer(help="Create, list and drop collections.", no_args_is_help=True)


class Strategy(StrEnum):
    """How documents are cut into chunks."""

    structure = "structure"
    recursive = "recursive"
    fixed = "fixed"


@app.command("create")
def create(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The collection's name.", callback=check_new_name, show_default=False
        ),
    ],
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder",
            metavar="local|openai:MODEL|hash|none",
            help="What makes the vectors. Default: OpenAI where OPENAI_API_KEY is set, else local. none: keyword search only.",
            show_default=False,
        ),
    ] = None,
    chunking: Annotated[
        Strategy, typer.Option("--chunking", help="How documents are cut.")
    ] = Strategy.structure,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", min=1, help="The longest chunk, in tokens.", show_default=False),
    ] = None,
    overlap: Annotated[
        int | None,
        typer.Option(
            "--overlap", min=0, help="Tokens that neighbours share (recursive, fixed).", show_default=False
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            "--language", help="A text search configuration of PostgreSQL: english, german, simple …"
        ),
    ] = "english",
    default_acl: Annotated[
        list[str] | None,
        typer.Option(
            "--default-acl",
            metavar="PRINCIPAL",
            help="Who may read a document that names no ACL; repeat for several. Default: public.",
            callback=check_acl,
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Create a collection. It remembers its embedder, chunking and language."""
    spec: dict[str, Any] = {"strategy": chunking.value}
    if max_tokens is not None:
        spec["max_tokens"] = max_tokens
    if overlap is not None:
        spec["overlap"] = overlap
    with open_client(url) as client:
        collection_id = client.create_collection(
            name, embedder=embedder, chunking=spec, language=language, default_acl=default_acl
        )
        stats = client.stats(name)
    if as_json:
        print_json({"id": collection_id, **asdict(stats)})
        return
    typer.echo(
        f"created {name}: embedder {embedder_name(stats)}, chunking {chunking.value}, language {language}"
    )
    note(f"next: ragpg ingest {shlex.quote(name)} PATH")


@app.command("list")
def list_(as_json: JsonOption = False, url: UrlOption = None) -> None:
    """List the collections."""
    with open_client(url) as client:
        collections = client.collections()
    if as_json:
        print_json({"collections": [asdict(stats) for stats in collections]})
    else:
        print_collections(collections)


@app.command("drop")
def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The collection's name.", show_default=False)],
    yes: YesOption = False,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Drop a collection with all its documents. Needs --yes."""
    with open_client(url) as client:
        stats = client.stats(name)
        if not yes:
            note(
                f"would drop {name}: {stats.documents} documents, {stats.chunks} chunks. Add --yes to do it."
            )
            raise typer.Exit(EXIT_USAGE)
        client.drop_collection(name)
    if as_json:
        print_json({"dropped": name, "documents": stats.documents, "chunks": stats.chunks})
    else:
        typer.echo(f"dropped {name}: {stats.documents} documents, {stats.chunks} chunks")
