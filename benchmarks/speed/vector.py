"""The vector leg for callers who may see everything, against pgvector by hand."""

from __future__ import annotations

from typing import Any

from .load import COLLECTION
from .source import Source, literal
from .timing import Session, ratio, recall, take_turns

K = 10
EFFORTS = (10, 20, 40, 60, 80, 100, 150, 200, 300, 400)

# what search_vector returns is fetched by the statements by hand, too
_FETCH = (
    "select chunk.id, chunk.content, document.external_id, document.title, document.metadata, nearest.distance from ({}) as nearest"
    " join ragpg.chunk on chunk.index_version_id = %(version)s and chunk.document_id = nearest.document_id"
    " and chunk.id = nearest.chunk_id"
    " join ragpg.document on document.id = nearest.document_id order by nearest.distance"
)


def nearest_sql(version: int, dimensions: int, exact: bool) -> str:
    """Raw pgvector: the nearest chunks by the index, or by comparing all."""
    distance = f"embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})"
    order = f"({distance}) + 0" if exact else distance
    return (
        f"select document_id, chunk_id, {distance} as distance from ragpg.embedding_v{version}"  # noqa: S608
        f" order by {order} limit %(k)s"
    )


def fetching(nearest: str) -> str:
    """The same, with the texts."""
    return _FETCH.format(nearest)


RAGPG = (
    "select chunk_id, content, vector_distance from ragpg.search_vector(%(collection)s, %(vector)s, p_k => %(k)s,"
    " p_principals => {})"
)
EXPLAIN = (
    "select ragpg.explain_search(%(collection)s, null, %(vector)s, p_k => %(k)s, p_candidate_k => %(k)s,"
    " p_principals => {}, p_mode => 'vector')"
)
CALLERS = {"owner": "'{*}'", "by acl": "'{everyone}'"}


def measure_vector(url: str, source: Source, version: int, count: int) -> dict[str, Any]:
    """Ragpg for both callers, raw pgvector with ids and with texts, all at the same recall."""
    asked = [
        {"collection": COLLECTION, "vector": literal(vector), "version": version, "k": K}
        for vector in source.query_vectors(count)
    ]
    raw, ragpg = Session(url), Session(url)
    exact_rows = [raw.rows(nearest_sql(version, source.dimensions, exact=True), values) for values in asked]
    recalls = {
        caller: recall([ragpg.rows(RAGPG.format(principals), values) for values in asked], exact_rows)
        for caller, principals in CALLERS.items()
    }
    nearest = nearest_sql(version, source.dimensions, exact=False)
    by_effort: dict[int, float] = {}
    for effort in EFFORTS:
        raw.set(hnsw__ef_search=str(effort))
        by_effort[effort] = recall([raw.rows(nearest, values) for values in asked], exact_rows)
    wanted = min(recalls.values())
    effort = next((effort for effort, reached in by_effort.items() if reached >= wanted), EFFORTS[-1])
    raw.set(hnsw__ef_search=str(effort))
    candidates = {
        "raw pgvector": raw.runs(nearest, asked),
        "raw pgvector, with texts": raw.runs(fetching(nearest), asked),
    }
    for caller, principals in CALLERS.items():
        candidates[f"search_vector, {caller}"] = ragpg.runs(RAGPG.format(principals), asked)
        candidates[f"explain, {caller}"] = ragpg.runs(EXPLAIN.format(principals), asked)
    measured = take_turns(candidates, len(asked), rounds=2)
    results: dict[str, Any] = {
        "recall_by_effort": {str(effort): round(reached, 4) for effort, reached in by_effort.items()},
        "effort_at_equal_recall": effort,
        "raw pgvector": measured["raw pgvector"].summary() | {"recall": round(by_effort[effort], 4)},
        "raw pgvector, with texts": measured["raw pgvector, with texts"].summary(),
        "queries": len(asked),
        "memory_mb": ragpg.memory(),
        "pages": ragpg.buffers(RAGPG.format(CALLERS["by acl"]), asked[0]),
        "pages_raw": raw.buffers(fetching(nearest), asked[0]),
    }
    for caller in CALLERS:
        call = measured[f"search_vector, {caller}"].summary()
        details = [rows[0][0] for rows in measured[f"explain, {caller}"].rows]
        leg = sorted(leg_times(detail) for detail in details)[len(details) // 2]
        results[f"ragpg, {caller}"] = {
            **call,
            "recall": round(recalls[caller], 4),
            "leg_p50_ms": round(leg, 3),
            "path": details[0]["vector"]["path"],
            "without_texts": measured[f"explain, {caller}"].summary(),
            "leg_ratio": round(leg / results["raw pgvector"]["p50_ms"], 2),
            **ratio(call, results["raw pgvector, with texts"]),
        }
    raw.close()
    ragpg.close()
    return results


def leg_times(detail: dict[str, Any]) -> float:
    """What the legs of one search took by its own clock: all but the analysis of the query and the fusion."""
    return sum(time for part, time in detail["timings_ms"].items() if part not in ("analyse", "fuse"))
