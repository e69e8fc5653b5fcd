"""Hybrid search against its own legs, and against the fusion that one finds in blogs."""

from __future__ import annotations

from typing import Any

from .keyword import CANDIDATES, parameters
from .source import Source, literal
from .timing import Session, ratio, take_turns
from .vector import leg_times

K = 10

RAGPG = (
    "select chunk_id, content, score from ragpg.search_hybrid(%(collection)s, %(query)s, %(vector)s, p_k => %(k)s,"
    " p_candidate_k => %(candidates)s, p_principals => '{everyone}')"
)
EXPLAIN = (
    "select ragpg.explain_search(%(collection)s, %(query)s, %(vector)s, p_k => %(k)s, p_candidate_k => %(candidates)s,"
    " p_principals => '{everyone}')"
)


def blog_sql(version: int, dimensions: int, asked: str) -> str:
    """Two CTEs and a full outer join, as in the examples of many a blog."""
    distance = f"embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})"
    return f"""
with semantic_search as (
    select chunk_id as id, rank() over (order by {distance}) as rank
    from ragpg.embedding_v{version}
    order by {distance}
    limit %(candidates)s
),

keyword_search as (
    select id, rank() over (order by ts_rank_cd(content_tsv, query) desc) as rank
    from ragpg.chunk_v{version}, {asked} as asked (query)
    where content_tsv @@ query
    order by ts_rank_cd(content_tsv, query) desc
    limit %(candidates)s
)

select chunk.id, chunk.content, fused.score
from (
    select
        coalesce(semantic_search.id, keyword_search.id) as id,
        coalesce(1.0 / (60 + semantic_search.rank), 0.0) + coalesce(1.0 / (60 + keyword_search.rank), 0.0) as score
    from semantic_search
    full outer join keyword_search on semantic_search.id = keyword_search.id
    order by score desc
    limit %(k)s
) as fused
join ragpg.chunk_v{version} as chunk on chunk.id = fused.id
"""  # noqa: S608


def measure_hybrid(url: str, source: Source, version: int, count: int) -> dict[str, Any]:
    """Questions of five terms with a vector each: the call, the legs inside it, and the same by hand."""
    questions = next(iter(source.questions().values()))[:count]
    ragpg, by_hand = Session(url), Session(url, hnsw__ef_search="100")
    asked = [
        {
            **parameters(ragpg, source, version, question),
            "vector": literal(vector),
            "language": source.language,
            "candidates": CANDIDATES,
            "k": K,
        }
        for question, vector in zip(questions, source.query_vectors(len(questions)), strict=True)
    ]
    any_word = blog_sql(version, source.dimensions, "(select %(any)s::tsquery)")
    every_word = blog_sql(version, source.dimensions, "plainto_tsquery(%(language)s::regconfig, %(query)s)")
    measured = take_turns(
        {
            "search_hybrid": ragpg.runs(RAGPG, asked),
            "explain": ragpg.runs(EXPLAIN, asked),
            "by hand, any word": by_hand.runs(any_word, asked),
            "by hand, every word": by_hand.runs(every_word, asked),
        },
        len(asked),
        rounds=2,
    )
    details = [rows[0][0] for rows in measured.pop("explain").rows]
    summary = {name: times.summary() for name, times in measured.items()}
    legs = sorted(leg_times(detail) for detail in details)[len(details) // 2]
    call = summary["search_hybrid"]["p50_ms"]
    parts = {
        part: round(sum(detail["timings_ms"][part] for detail in details) / len(details), 3)
        for part in details[0]["timings_ms"]
    }
    results = {
        **summary,
        "questions": len(asked),
        "legs_p50_ms": round(legs, 3),
        "overhead": round(call / legs - 1, 3),
        "mean_parts_ms": parts,
        "by_hand_to_ragpg": ratio(summary["by hand, any word"], summary["search_hybrid"]),
        "memory_mb": ragpg.memory(),
        "pages": ragpg.buffers(RAGPG, asked[0]),
    }
    ragpg.close()
    by_hand.close()
    return results
