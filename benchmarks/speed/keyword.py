"""The keyword leg against ``ts_rank_cd``, and against BM25 computed for every match."""

from __future__ import annotations

from typing import Any

from .load import COLLECTION
from .source import Source
from .timing import Row, Session, ratio, take_turns

CANDIDATES = 50

RAGPG = "select chunk_id, content, score from ragpg.search_keyword(%(collection)s, %(query)s, p_k => %(k)s, p_principals => '{*}')"

TS_RANK_CD = (
    "select id, content, ts_rank_cd(content_tsv, asked.query) as score"
    " from ragpg.chunk, (select %(any)s::tsquery as query) as asked"
    " where index_version_id = %(version)s and content_tsv @@ asked.query"
    " order by score desc limit %(k)s"
)

# every match, its term frequencies out of the tsvector's positions, frequencies and lengths counted on the spot
EVERY_MATCH = """
with term as materialized (
    select item.lexeme, count(*) as occurrences from unnest(%(lexemes)s::text[]) as item (lexeme) group by item.lexeme
),

corpus as materialized (
    select count(*)::float8 as chunks, avg(lexeme_count)::float8 as average from ragpg.chunk where index_version_id = %(version)s
),

weighted as materialized (
    select term.lexeme, term.occurrences * ln(1 + (corpus.chunks - found.df + 0.5) / (found.df + 0.5)) as weight
    from term, corpus, lateral (
        select count(*) as df from ragpg.chunk
        where index_version_id = %(version)s and content_tsv @@ quote_literal(term.lexeme)::tsquery
    ) as found
)

select chunk.id, score.total
from corpus, ragpg.chunk, lateral (
    select sum(weighted.weight * 2.2 * tf.tf / (tf.tf + 1.2 * (0.25 + 0.75 * chunk.lexeme_count / corpus.average))) as total
    from unnest(chunk.content_tsv) as word
    join weighted on weighted.lexeme = word.lexeme, lateral (select cardinality(word.positions)::float8 as tf) as tf
) as score
where chunk.index_version_id = %(version)s and chunk.content_tsv @@ %(any)s::tsquery
order by score.total desc limit %(k)s
"""


def measure_keyword(url: str, source: Source, version: int, count: int, checked: int) -> dict[str, Any]:
    """Every kind of question: times, the ratio, and whether ragpg's page is that of full BM25."""
    ragpg, by_hand = Session(url), Session(url)
    parallel = Session(url, max_parallel_workers_per_gather="2")
    results: dict[str, Any] = {}
    for kind, questions in source.questions().items():
        asked = [parameters(ragpg, source, version, question) for question in questions[:count]]
        measured = take_turns(
            {
                "ragpg": ragpg.runs(RAGPG, asked),
                "ts_rank_cd": by_hand.runs(TS_RANK_CD, asked),
                "ts_rank_cd, parallel": parallel.runs(TS_RANK_CD, asked),
            },
            len(asked),
        )
        wrong = sum(
            not same_scores(measured["ragpg"].rows[item], by_hand.rows(EVERY_MATCH, asked[item]))
            for item in range(min(checked, len(asked)))
        )
        summary = {name: times.summary() for name, times in measured.items()}
        results[kind] = {
            **summary,
            **ratio(summary["ts_rank_cd"], summary["ragpg"]),
            "questions": len(measured["ragpg"].rows),
            "checked": min(checked, len(asked)),
            "wrong": wrong,
            "pages": ragpg.buffers(RAGPG, asked[0]),
        }
    results["memory_mb"] = ragpg.memory()
    for session in (ragpg, by_hand, parallel):
        session.close()
    return results


def parameters(session: Session, source: Source, version: int, question: str) -> dict[str, Any]:
    """A question as ragpg and as hand-written SQL take it: the same lexemes for both, one for each occurrence."""
    lexemes = session.rows(
        "select array_agg(term.lexeme) from ragpg._parse_query(array[%(language)s], %(question)s) as query"
        " cross join lateral unnest(query.o_lexemes, query.o_counts) as term (lexeme, occurrences)"
        " cross join lateral generate_series(1, term.occurrences)",
        {"language": source.language, "question": question},
    )[0][0]
    quoted = ["'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'" for lexeme in sorted(set(lexemes))]
    return {
        "collection": COLLECTION,
        "query": question,
        "lexemes": lexemes,
        "any": " | ".join(quoted),
        "version": version,
        "k": CANDIDATES,
    }


def same_scores(found: list[Row], expected: list[Row]) -> bool:
    """Scores, not ids: equal scores may come in any order."""
    return len(found) == len(expected) and all(
        abs(one[-1] - other[-1]) <= 1e-6 for one, other in zip(found, expected, strict=True)
    )
