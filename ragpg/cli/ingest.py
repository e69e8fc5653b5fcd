"""``ragpg ingest`` and ``ragpg delete``."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragpg.cli.connect import open_client
from ragpg.cli.group import EXIT_PARTIAL
from ragpg.cli.options import (
    CollectionArgument,
    JsonOption,
    TenantOption,
    UrlOption,
    check_acl,
    check_external_id,
    parse_metadata,
)
from ragpg.cli.output import note_problems, print_json, print_report
from ragpg.cli.progress import ingest_progress
from ragpg.errors import DocumentNotFound

if TYPE_CHECKING:
    from ragpg.types import IngestReport

_STDIN = Path("-")


def ingest(
    collection: CollectionArgument,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Files, folders, glob patterns; - reads one document from standard input.",
            show_default=False,
        ),
    ],
    acl: Annotated[
        list[str] | None,
        typer.Option(
            "--acl",
            metavar="PRINCIPAL",
            help="Who may read the documents (user:ana, group:hr, public); repeat for several. Default: the manifest's, then "
            "the collection's.",
            callback=check_acl,
            show_default=False,
        ),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata", metavar="KEY=VALUE", help="Metadata for every document; repeat.", show_default=False
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="CONFIGURATION|auto",
            help="A text search configuration for documents that name none, or auto. Default: by the text of new documents, "
            "where ragpg[languages] is installed, else the collection's.",
            show_default=False,
        ),
    ] = None,
    tenant: TenantOption = None,
    sync: Annotated[
        bool, typer.Option("--sync", help="Also delete documents whose files under PATH are gone.")
    ] = False,
    external_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="NAME",
            help="With -: the document's external id.",
            callback=check_external_id,
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="With -: the document's title.", show_default=False)
    ] = None,
    media_type: Annotated[
        str | None,
        typer.Option(
            "--media-type", help="With -: text/markdown, text/html, … Default: by --id.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Ingest files: parse, chunk, embed, store. What has not changed is skipped.

    A file that fails does not stop the others; the exit code is then 3.
    """
    values = parse_metadata(metadata or [])
    piped = _STDIN in paths
    if piped and len(paths) > 1:
        raise typer.BadParameter("- stands alone: one document from standard input", param_hint="PATH")
    if piped and (external_id is None or sync):
        raise typer.BadParameter("- needs --id NAME, and can't be combined with --sync", param_hint="PATH")
    if not piped and (external_id, title, media_type) != (None, None, None):
        raise typer.BadParameter(
            "--id, --title and --media-type belong to - (standard input)", param_hint="PATH"
        )
    for path in paths:
        if path != _STDIN and not path.exists() and not has_magic(str(path)):
            raise typer.BadParameter(f"{path} does not exist", param_hint="PATH")

    begun = time.monotonic()
    with open_client(url) as client:
        if piped:
            report = client.ingest_bytes(
                collection,
                sys.stdin.buffer.read(),
                external_id=str(external_id),
                media_type=media_type,
                title=title,
                language=language,
                acl=acl,
                metadata=values or None,
                tenant_id=tenant,
            )
        else:
            with ingest_progress(shown=not as_json) as on_progress:
                report = client.ingest(
                    collection,
                    *paths,
                    language=language,
                    acl=acl,
                    metadata=values or None,
                    tenant_id=tenant,
                    sync=sync,
                    on_progress=on_progress,
                )
    _finish(collection, report, time.monotonic() - begun, as_json=as_json)


def _finish(collection: str, report: IngestReport, seconds: float, *, as_json: bool) -> None:
    if as_json:
        body: dict[str, Any] = {"collection": collection, **asdict(report), "seconds": round(seconds, 3)}
        print_json(body)
        note_problems(report)
    else:
        print_report(collection, report, seconds)
    if report.failures:
        raise typer.Exit(EXIT_PARTIAL)


def delete(
    collection: CollectionArgument,
    external_id: Annotated[
        str,
        typer.Argument(
            metavar="EXTERNAL_ID",
            help="The document's external id.",
            callback=check_external_id,
            show_default=False,
        ),
    ],
    tenant: TenantOption = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Delete one document with its chunks and vectors."""
    with open_client(url) as client:
        found = client.delete_document(collection, external_id, tenant_id=tenant)
    if not found:
        where = f"tenant {tenant!r} of {collection}" if tenant else collection
        raise DocumentNotFound(f"no document {external_id!r} in {where}; `ragpg search` shows external ids")
    if as_json:
        print_json({"collection": collection, "deleted": external_id})
    else:
        typer.echo(f"deleted {external_id} from {collection}")
