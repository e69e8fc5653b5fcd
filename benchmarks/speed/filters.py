"""Callers and filters that leave a share of the chunks visible: ragpg against exact search and HNSW, each forced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from .load import COLLECTION
from .source import literal
from .synthetic import FRACTIONS, SCALE, Synthetic, tag
from .timing import Session, ratio, recall, take_turns

K = 10
TENANT = "one"
KINDS = {"independent": "rank", "clustered": "place"}
FORMS = (
    "acl",
    "filter, equality",
    "filter, range",
    "chunk filter, equality",
    "chunk filter, range",
    "tenant",
    "all three",
)

RAGPG = (
    "select chunk_id, content, vector_distance from ragpg.search_vector(%(collection)s, %(vector)s, p_k => %(k)s,"
    " p_principals => %(principals)s, p_tenant_id => %(tenant)s, p_filter => %(filter)s, p_chunk_filter => %(chunk_filter)s)"
)
EXPLAIN = (
    "select ragpg.explain_search(%(collection)s, null, %(vector)s, p_k => %(k)s, p_candidate_k => %(k)s, p_mode => 'vector',"
    " p_principals => %(principals)s, p_tenant_id => %(tenant)s, p_filter => %(filter)s, p_chunk_filter => %(chunk_filter)s)"
)
# what DESIGN and pgvector's manual recommend for filtered search
HNSW = {
    "hnsw__iterative_scan": "relaxed_order",
    "hnsw__ef_search": "400",
    "plan_cache_mode": "force_custom_plan",
    "enable_sort": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
}


@dataclass(frozen=True)
class Cell:
    """One way to see a share of the chunks."""

    kind: str
    fraction: float
    form: str

    @property
    def parameters(self) -> dict[str, Any]:
        word = tag(self.kind, self.fraction)
        limit = f"$.{KINDS[self.kind]} < {round(self.fraction * SCALE)}"
        equal = f'$.tags[*] == "{word}"'
        every = self.form == "all three"
        filters = {"filter, equality": equal, "filter, range": limit, "all three": limit}
        chunk_filters = {"chunk filter, equality": equal, "chunk filter, range": limit}
        return {
            "principals": [word] if every or self.form == "acl" else ["everyone"],
            "tenant": TENANT if every or self.form == "tenant" else "",
            "filter": filters.get(self.form),
            "chunk_filter": chunk_filters.get(self.form),
        }


def by_hand_sql(cell: Cell, version: int, dimensions: int, exact: bool) -> str:
    """The same search written for this corpus alone, with nothing but the conditions that it needs."""
    parameters = cell.parameters
    distance = f"embedding.embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})"
    conditions = ["document.acl && %(principals)s::text[]", "document.tenant_id = %(tenant)s"]
    join = ""
    if parameters["filter"]:
        conditions.append("document.metadata @@ %(filter)s::jsonpath")
    if parameters["chunk_filter"]:
        conditions.append("filtered.metadata @@ %(chunk_filter)s::jsonpath")
        join = (
            f" join ragpg.chunk_v{version} as filtered on filtered.index_version_id = %(version)s"
            " and filtered.document_id = embedding.document_id and filtered.id = embedding.chunk_id"
        )
    return (
        "select chunk.id, chunk.content, document.external_id, nearest.distance from ("  # noqa: S608
        f" select embedding.document_id, embedding.chunk_id, ({distance}) as distance"
        f" from ragpg.embedding_v{version} as embedding join ragpg.document on document.id = embedding.document_id{join}"
        f" where {' and '.join(conditions)} order by {f'({distance}) + 0' if exact else distance} limit %(k)s"
        ") as nearest"
        f" join ragpg.chunk_v{version} as chunk on chunk.index_version_id = %(version)s"
        " and chunk.document_id = nearest.document_id and chunk.id = nearest.chunk_id"
        " join ragpg.document on document.id = nearest.document_id order by nearest.distance"
    )


def measure_filters(
    url: str, source: Synthetic, version: int, count: int, fractions: tuple[float, ...] = FRACTIONS
) -> list[dict[str, Any]]:
    """The whole matrix: shares, clustered and not, by every way to hide or filter."""
    vectors = [literal(vector) for vector in source.query_vectors(count)]
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        with psycopg.connect(url, autocommit=True) as owner:
            _assign_tenant(owner, KINDS[kind], 0)
            for fraction in fractions:
                for form in FORMS:
                    if form == "tenant":
                        _assign_tenant(owner, KINDS[kind], round(fraction * SCALE))
                    cell = Cell(kind, fraction, form)
                    rows.append(_measure(url, cell, source.dimensions, version, vectors))
                    print(_line(rows[-1]), flush=True)
                # the other forms look at the default tenant
                _assign_tenant(owner, KINDS[kind], 0)
    return rows


def _assign_tenant(owner: psycopg.Connection[Any], position: str, limit: int) -> None:
    """Give the documents before the limit to one tenant, and take the others back."""
    changed = owner.execute(
        "update ragpg.document set tenant_id = case when (metadata ->> %(position)s)::int < %(limit)s then %(tenant)s else '' end"
        " where tenant_id <> case when (metadata ->> %(position)s)::int < %(limit)s then %(tenant)s else '' end",
        {"position": position, "limit": limit, "tenant": TENANT},
    ).rowcount
    if changed:
        owner.execute("vacuum (analyze) ragpg.document")


def _measure(url: str, cell: Cell, dimensions: int, version: int, vectors: list[str]) -> dict[str, Any]:
    asked = [
        {"collection": COLLECTION, "version": version, "k": K, "vector": vector, **cell.parameters}
        for vector in vectors
    ]
    ragpg = Session(url)
    exact = Session(url, plan_cache_mode="force_custom_plan")
    hnsw = Session(url, **HNSW)
    measured = take_turns(
        {
            "ragpg": ragpg.runs(RAGPG, asked),
            "exact": exact.runs(by_hand_sql(cell, version, dimensions, exact=True), asked),
            "hnsw": hnsw.runs(by_hand_sql(cell, version, dimensions, exact=False), asked),
        },
        len(asked),
    )
    best = measured["exact"].rows
    detail = ragpg.rows(EXPLAIN, asked[0])[0][0]
    result: dict[str, Any] = {
        "kind": cell.kind,
        "visible_percent": cell.fraction * 100,
        "form": cell.form,
        "queries": len(asked),
        "visible_chunks": detail["visible_chunks"],
        "path": detail["vector"]["path"],
    }
    for name, times in measured.items():
        result[name] = {
            **times.summary(),
            "recall": round(recall(times.rows, best), 4),
            "short_pages": sum(len(rows) < len(full) for rows, full in zip(times.rows, best, strict=True)),
        }
    keys = [key for key in result["ragpg"] if key in ("p50_ms", "cpu_p50_ms")]
    faster = {key: min(result["exact"][key], result["hnsw"][key]) for key in keys}
    result.update(ratio(result["ragpg"], faster))
    for session in (ragpg, exact, hnsw):
        session.close()
    return result


def _line(row: dict[str, Any]) -> str:
    figures = "  ".join(
        f"{name} {row[name]['p50_ms']:.1f}/{row[name]['p95_ms']:.1f} ms recall {row[name]['recall']:.3f} short {row[name]['short_pages']}"
        for name in ("ragpg", "exact", "hnsw")
    )
    ratios = f"ratio {row['ratio']}, in CPU {row.get('cpu_ratio')}"
    return f"  {row['kind']} {row['visible_percent']:g} % {row['form']}: {figures}  {ratios}  {row['path']}"
