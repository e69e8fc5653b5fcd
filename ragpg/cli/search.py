"""``ragpg search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragpg.cli.connect import open_client
from ragpg.cli.explain import print_explanation
from ragpg.cli.options import (
    AsOption,
    CollectionArgument,
    ExpandOption,
    FilterOption,
    Idf,
    IdfOption,
    JsonOption,
    Mode,
    ModeOption,
    TenantOption,
    UrlOption,
)
from ragpg.cli.output import hit_dict, note, note_degraded, one_line, place, print_json

if TYPE_CHECKING:
    from ragpg.types import SearchHit, SearchHits


def search(
    collection: CollectionArgument,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="The question, or words of it.", show_default=False)
    ],
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="How many hits.")] = 10,
    mode: ModeOption = Mode.hybrid,
    principals: AsOption = None,
    tenant: TenantOption = None,
    filter_: FilterOption = None,
    expand: ExpandOption = None,
    idf: IdfOption = Idf.corpus,
    explain: Annotated[bool, typer.Option("--explain", help="Say how the answer was found.")] = False,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Search a collection: BM25, vectors, or both fused.

    A search that finds nothing exits with 0 and says why on standard error.
    """
    explanation: dict[str, Any] | None = None
    with open_client(url) as client:
        hits = client.search(
            collection,
            query,
            k=k,
            mode=mode.value,
            principals=principals,
            tenant_id=tenant,
            filter=filter_,
            expand=expand,
            idf=idf.value,
        )
        if explain:
            explanation = client.explain(
                collection,
                query,
                k=k,
                mode=mode.value,
                principals=principals,
                tenant_id=tenant,
                filter=filter_,
                idf=idf.value,
            )
    if as_json:
        body: dict[str, Any] = {"hits": [hit_dict(hit) for hit in hits], "degraded": hits.degraded}
        if explanation is not None:
            body["explain"] = explanation
        print_json(body)
        return
    _print_hits(hits, whole=expand is not None)
    if explanation is not None:
        print_explanation(explanation)


def _print_hits(hits: SearchHits, *, whole: bool) -> None:
    for number, hit in enumerate(hits, start=1):
        if number > 1:
            typer.echo()
        typer.secho(f"{number}. {place(hit)}", bold=True)
        typer.secho(f"   {_ranks(hit)}", dim=True)
        text = hit.content.strip() if whole else one_line(hit.content, 400)
        for line in text.splitlines():
            typer.echo(f"   {one_line(line, 4000)}")
    if not hits:
        note("no hits")
    note_degraded(hits.degraded)


def _ranks(hit: SearchHit) -> str:
    legs = [
        f"{leg} {rank}"
        for leg, rank in (("keyword", hit.keyword_rank), ("vector", hit.vector_rank))
        if rank is not None
    ]
    return f"score {hit.score:.4f}" + (f" · rank in {', '.join(legs)}" if legs else "")
