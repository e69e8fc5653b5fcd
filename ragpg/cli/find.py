"""``ragpg find``: why a document is not among the hits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragpg.cli.connect import open_client
from ragpg.cli.options import (
    AsOption,
    ExpandOption,
    FilterOption,
    Idf,
    IdfOption,
    JsonOption,
    Mode,
    ModeOption,
    TenantOption,
    UrlOption,
    check_external_id,
)
from ragpg.cli.output import clean, note_degraded, print_json
from ragpg.errors import DocumentNotFound

if TYPE_CHECKING:
    from ragpg.client import Client

Report = Mapping[str, Any]


def find(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="[COLLECTION] DOCUMENT",
            help="The document's external id, after its collection's name where several hold one of this id.",
            show_default=False,
        ),
    ],
    query: Annotated[str, typer.Option("--query", metavar="QUERY", help="The question.", show_default=False)],
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="How many hits the search returns.")] = 10,
    mode: ModeOption = Mode.hybrid,
    principals: AsOption = None,
    tenant: TenantOption = None,
    filter_: FilterOption = None,
    expand: ExpandOption = None,
    idf: IdfOption = Idf.corpus,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Say why a document is not among the hits of a search: every cause, or else its rank.

    Only the owner of schema ragpg may ask, since the answer speaks of hidden documents. The options are those of the
    search. A document that is not there is an answer, not an error: exit code 0.
    """
    if len(names) > 2:
        raise typer.BadParameter("give a document, or a collection and a document", param_hint="DOCUMENT")
    document = names[-1]
    check_external_id(document)
    with open_client(url) as client:
        collection = names[0] if len(names) == 2 else _collection_of(client, document, tenant)
        found = client.find(
            collection,
            document,
            query,
            k=k,
            mode=mode.value,
            principals=principals,
            tenant_id=tenant,
            filter=filter_,
            expand=expand,
            idf=idf.value,
        )
    if as_json:
        print_json(found)
        return
    print_report(found, k)


def _collection_of(client: Client, document: str, tenant: str | None) -> str:
    """The only collection, or the only one that holds the document."""
    names = [collection.name for collection in client.collections()]
    if len(names) == 1:
        return names[0]
    holding = [name for name in names if _holds(client, name, document, tenant)]
    if not holding:
        raise DocumentNotFound(
            f"none of the {len(names)} collections holds a document {document!r} in this tenant"
        )
    if len(holding) > 1:
        raise typer.BadParameter(
            f"the collections {', '.join(holding)} hold one of this id: ragpg find COLLECTION {document}",
            param_hint="DOCUMENT",
        )
    return holding[0]


def _holds(client: Client, collection: str, document: str, tenant: str | None) -> bool:
    # any query tells; this mode asks for no vector
    found = client.find(collection, document, "document", mode="keyword", k=1, tenant_id=tenant)
    return all(cause["cause"] != "no_such_document" for cause in found["causes"])


def print_report(found: Report, k: int) -> None:
    """Print what ``find_document`` reports, a sentence for each cause.

    Parameters
    ----------
    found
        The report.
    k
        How many hits were asked for.
    """
    name = clean(found["external_id"])
    if found["found"]:
        typer.secho(f"{name} is hit {found['rank']} of at most {k}.", bold=True)
    else:
        typer.secho(f"{name} is not {'the first hit' if k == 1 else f'among the first {k} hits'}:", bold=True)
    for cause in found["causes"]:
        typer.echo(f"- {clean(_sentence(cause, found))}")
    for leg in ("keyword", "vector"):
        standing: Report = found.get(leg) or {}
        # an outranked document's place was just said
        if standing.get("rank") is not None and not _is_outranked(found, leg):
            typer.echo(f"{leg} leg: {_place(standing, found)}")
    keyword: Report = found.get("keyword") or {}
    words: list[Report] = keyword.get("words", [])
    for held, label in ((True, "words it holds"), (False, "words it lacks")):
        listed = [word["lexeme"] for word in words if word["held"] is held]
        if listed:
            typer.echo(f"{label}: {clean(', '.join(listed))}")
    note_degraded(found["degraded"])


def _is_outranked(found: Report, leg: str) -> bool:
    return any(cause.get("leg") == leg for cause in found["causes"])


def _sentence(cause: Report, found: Report) -> str:
    match cause["cause"]:
        case "no_such_document":
            return _no_such_document(cause, found)
        case "not_indexed":
            return f"not indexed: it has no chunks in index version {cause['index_version']}"
        case "expired":
            return f"expired: since {cause['expires_at']}"
        case "hidden":
            readers = ", ".join(cause["acl"])
            return (
                f"hidden: {f'only {readers} may' if readers else 'nobody may'} read it, and the search was asked as "
                f"{', '.join(cause['principals'])}"
            )
        case "filtered":
            return f"filtered out: {_filter(cause)}"
        case "no_query_word":
            words = ", ".join(cause["words"])
            return "no word of the query: " + (
                f"it holds none of {words}" if words else "the query has only words that are not indexed"
            )
        case "vectors_pending":
            pending = cause["chunks"] - cause["embeddings"]
            return (
                f"vectors pending: {pending} of its {cause['chunks']} chunks have no vector yet, so the vector leg can't "
                f"find them"
            )
        case "vectors_of_zeros":
            return "vectors of zeros: they have no direction, so the vector leg can't find them"
        case "outranked":
            return _outranked(cause, found)
        case "missed_by_index":
            return (
                f"missed by the HNSW index, which is approximate: by its distance of {cause['distance']:.4f} it has rank "
                f"{cause['rank']}"
            )
        case other:
            return other


def _no_such_document(cause: Report, found: Report) -> str:
    tenant = f"tenant {found['tenant_id']}" if found["tenant_id"] else "the default tenant"
    others = [other or "the default tenant" for other in cause["other_tenants"]]
    elsewhere = f"; it is in {', '.join(others)}" if others else ""
    return f"no such document: collection {found['collection']} has none of this id in {tenant}{elsewhere}"


def _filter(cause: Report) -> str:
    condition = cause.get("condition")
    match cause["by"]:
        case "p_filter":
            metadata = json.dumps(cause["metadata"], ensure_ascii=False)
            return f"the filter {condition} does not hold for its metadata {metadata}"
        case "p_chunk_filter":
            return f"the chunk filter {condition} holds for none of its chunks"
        case "phrase":
            return f"none of its chunks holds the phrase {condition}"
        case "exclusion":
            return f"every chunk holds what {condition} excludes"
        case _:
            return "each condition is met by one of its chunks, but no chunk meets all of them"


def _outranked(cause: Report, found: Report) -> str:
    leg = cause["leg"]
    where = "after the fusion" if leg == "fused" else f"in the {leg} leg"
    last = "last hit" if leg == "fused" else "last candidate"
    return f"outranked {where}: {_place(cause, found)}; the {last}, number {cause['last_rank']}, has {_value(cause, 'last_')}"


def _place(standing: Report, found: Report) -> str:
    # what can't be seen is not among the compared
    absent = bool({"expired", "hidden", "filtered"} & {cause["cause"] for cause in found["causes"]})
    verb = "it would have" if absent else "it has"
    return f"{verb} rank {standing['rank']:,} of {standing['compared'] + absent:,}, {_value(standing)}"


def _value(standing: Report, prefix: str = "") -> str:
    name = "distance" if f"{prefix}distance" in standing else "score"
    return f"{name} {standing[prefix + name]:.4f}"
