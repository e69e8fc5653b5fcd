"""How good the search is, on public test collections, with the local model.

    python benchmarks/quality.py                       # three sets under ../shared/data
    python benchmarks/quality.py --data DIR --sets scifact,mtrag_un --json out.json

Every document is one chunk. Reported are nDCG@10, recall@10 and recall@100 of each leg, of their fusions, and of feedback, beside a
reference BM25 (bm25s, "lucene" form) that is given the same lexemes, k1 and b, so that only the ranking differs. Then pairs of
them are compared query by query. Vectors are kept in the folder --cache, so that a second run takes no model.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import bm25s
import ir_measures
import numpy as np
import psycopg
from ir_measures import R, nDCG
from psycopg.rows import tuple_row
from scratch import scratch_database
from significance import Comparison, compare
from testsets import TestSet, document_vectors, query_vectors, read_set

from ragpg.embedding import make_embedder

MEASURES = (nDCG @ 10, R @ 10, R @ 100)
DEPTH = 100
DEEP = f"p_k => {DEPTH}, p_candidate_k => {DEPTH}"
SCORE = "p_fusion => 'score', p_vector_weight => 0.7, p_keyword_weight => 0.3"
FEEDBACK = (1, 3, 5, 10)
# Other ways to make a vector of the first keyword hits than the search's own: so many hits, scores to this power.
BY_HAND = {"1 hit": (1, 1), "3 hits": (3, 1), "3 hits, score²": (3, 2), "5 hits, score⁴": (5, 4)}
# What is compared: the second against the first.
PAIRS = (
    ("bm25s on the same lexemes", "keyword"),
    ("keyword", "no embedding"),
    ("keyword", "hybrid, rrf"),
    ("vector", "hybrid, rrf"),
    ("no embedding", "hybrid, rrf"),
    ("hybrid, rrf", "hybrid, score"),
    *(("hybrid, rrf", f"hybrid, rrf, feedback {hits}") for hits in FEEDBACK),
    *(("hybrid, score", f"hybrid, score, feedback {hits}") for hits in FEEDBACK),
    *(("keyword", f"no embedding, {label}") for label in BY_HAND),
    *(("no embedding", f"no embedding, {label}") for label in BY_HAND),
)
Run = dict[str, dict[str, float]]
Scores = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", default="scifact,cranfield,xquad/en")
    parser.add_argument("--cache", type=Path, default=Path(".ragpg/benchmark-vectors"))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    results: dict[str, Any] = {}
    with scratch_database() as url, psycopg.connect(url, autocommit=True) as connection:
        for name in arguments.sets.split(","):
            results[name] = evaluate(connection, read_set(arguments.data, name), arguments.cache)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


def evaluate(connection: psycopg.Connection[Any], data: TestSet, cache: Path) -> dict[str, Any]:
    started = time.perf_counter()
    embedder = make_embedder("local")
    vectors = document_vectors(embedder, list(data.documents.values()), cache)
    queries = dict(
        zip(data.queries, query_vectors(embedder, list(data.queries.values()), cache), strict=True)
    )
    load(connection, data, vectors)
    seconds = time.perf_counter() - started
    print(
        f"\n{data.name}: {len(data.documents)} documents, {len(data.queries)} queries, ready in {seconds:.0f} s"
    )

    runs = {"bm25s on the same lexemes": (reference_bm25(connection, data), 0.0)}
    for label, (call, given) in searches(connection, data, queries, vectors).items():
        runs[label] = run(connection, call, data, given)

    table: dict[str, Scores] = {}
    by_query: dict[str, Scores] = {}
    print(f"{'':30s} nDCG@10   R@10  R@100   p50 ms")
    for label, (ranking, milliseconds) in runs.items():
        measured = ir_measures.calc_aggregate(MEASURES, data.qrels, ranking)
        by_query[label] = {
            each.query_id: each.value for each in ir_measures.iter_calc([nDCG @ 10], data.qrels, ranking)
        }
        table[label] = {str(measure): measured[measure] for measure in MEASURES} | {"p50_ms": milliseconds}
        figures = "  ".join(f"{measured[measure]:.3f}" for measure in MEASURES)
        print(f"{label:30s}  {figures}  {milliseconds:7.1f}")

    compared: dict[str, Comparison] = {}
    print(f"{'':48s} nDCG@10  95 % interval       p")
    for first, second in PAIRS:
        label = f"{first} → {second}"
        found = compared[label] = compare(by_query[first], by_query[second])
        print(f"{label:48s} {found.difference:+.3f}  {found.low:+.3f} … {found.high:+.3f}  {found.p:.4f}")
    return {"figures": table, "pairs": {label: vars(found) for label, found in compared.items()}}


Searches = dict[str, tuple[str, Callable[[str], dict[str, Any]]]]


def searches(
    connection: psycopg.Connection[Any],
    data: TestSet,
    queries: Mapping[str, list[float]],
    vectors: list[list[float]],
) -> Searches:
    """Each call under its name, and what it is given for a query beside the text."""

    def embedded(key: str) -> dict[str, Any]:
        return {"vector": literal(queries[key])}

    def nothing(key: str) -> dict[str, Any]:
        return {}

    with_vector = f"ragpg.search_hybrid(%(collection)s, %(query)s, %(vector)s, {DEEP}"
    result: Searches = {
        "keyword": (f"ragpg.search_keyword(%(collection)s, %(query)s, p_k => {DEPTH})", nothing),
        "vector": (f"ragpg.search_vector(%(collection)s, %(vector)s, p_k => {DEPTH})", embedded),
        "hybrid, rrf": (f"{with_vector})", embedded),
        "hybrid, score": (f"{with_vector}, {SCORE})", embedded),
        "no embedding": (f"ragpg.search_hybrid(%(collection)s, %(query)s, {DEEP})", nothing),
        "no embedding, score": (
            f"ragpg.search_hybrid(%(collection)s, %(query)s, {DEEP}, {SCORE})",
            nothing,
        ),
    }
    for hits in FEEDBACK:
        result[f"hybrid, rrf, feedback {hits}"] = (f"{with_vector}, p_feedback => {hits})", embedded)
    for hits in FEEDBACK:
        result[f"hybrid, score, feedback {hits}"] = (
            f"{with_vector}, p_feedback => {hits}, {SCORE})",
            embedded,
        )
    places = {key: place for place, key in enumerate(data.documents)}
    for label, (hits, power) in BY_HAND.items():
        result[f"no embedding, {label}"] = (
            f"{with_vector})",
            lambda key, hits=hits, power=power: {
                "vector": keyword_centroid(connection, data, key, hits, power, places, vectors)
            },
        )
    return result


def keyword_centroid(
    connection: psycopg.Connection[Any],
    data: TestSet,
    key: str,
    hits: int,
    power: int,
    places: Mapping[str, int],
    vectors: list[list[float]],
) -> str | None:
    """What the search does by itself with three hits and the fourth power: the first hits, weighted by their scores."""
    rows = connection.execute(
        "select external_id, keyword_score from ragpg.search_keyword(%s, %s, p_k => %s)",
        (data.name, data.queries[key], hits),
    ).fetchall()
    if not rows:
        return None
    weights = np.array([score / rows[0][1] for _, score in rows]) ** power
    return literal((weights @ np.array([vectors[places[name]] for name, _ in rows])).tolist())


def load(connection: psycopg.Connection[Any], data: TestSet, vectors: list[list[float]]) -> None:
    embedder = make_embedder("local")
    connection.execute(
        "select ragpg.create_collection(%s, p_embedding_provider => %s, p_embedding_model => %s,"
        " p_embedding_dimensions => %s)",
        (data.name, embedder.provider, embedder.model, embedder.dimensions),
    )
    with connection.transaction():
        for (key, text), vector in zip(data.documents.items(), vectors, strict=True):
            connection.execute(
                "select ragpg.upsert_document(%s, %s, %s, p_chunks => %s, p_embeddings => %s)",
                (
                    data.name,
                    key,
                    text,
                    json.dumps([{"char_start": 0, "char_end": len(text)}]),
                    f'{{"{literal(vector)}"}}',
                ),
            )
    connection.execute("select ragpg.refresh_statistics(%s)", (data.name,))
    connection.execute("analyze")


def run(
    connection: psycopg.Connection[Any],
    call: str,
    data: TestSet,
    given: Callable[[str], dict[str, Any]],
) -> tuple[Run, float]:
    ranking: Run = {}
    times: list[float] = []
    for key, query in data.queries.items():
        values = {"collection": data.name, "query": query, **given(key)}
        started = time.perf_counter()
        rows = connection.execute(f"select external_id from {call}", values).fetchall()  # noqa: S608
        times.append(time.perf_counter() - started)
        ranking[key] = {external_id: float(DEPTH - place) for place, (external_id,) in enumerate(rows)}
    return ranking, sorted(times)[len(times) // 2] * 1000


def reference_bm25(connection: psycopg.Connection[Any], data: TestSet) -> Run:
    lexemes = (
        "select array_agg(word.lexeme) from unnest({}) as word"
        " cross join lateral generate_series(1, coalesce(cardinality(word.positions), 1))"
        " where word.lexeme !~ '^[~^]'"
    )
    cursor = connection.cursor(row_factory=tuple_row)
    rows = cursor.execute(
        "select document.external_id, coalesce((" + lexemes.format("chunk.content_tsv") + "), '{}')"  # noqa: S608
        " from ragpg.chunk join ragpg.document on document.id = chunk.document_id"
        " join ragpg.collection on collection.id = document.collection_id where collection.name = %s",
        (data.name,),
    ).fetchall()
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    retriever.index([tokens for _, tokens in rows], show_progress=False)
    known = retriever.vocab_dict
    ranking: Run = {}
    for key, query in data.queries.items():
        found = cursor.execute(
            "select coalesce((" + lexemes.format("ragpg._analyze('english', %s)") + "), '{}')",
            (query,),
        ).fetchone()
        tokens = [token for token in (found[0] if found else []) if token in known]
        if not tokens:
            continue
        scores = retriever.get_scores(tokens)
        best = scores.argsort(kind="stable")[::-1][:DEPTH]
        ranking[key] = {rows[place][0]: float(scores[place]) for place in best if scores[place] > 0}
    return ranking


def literal(vector: list[float]) -> str:
    return "[" + ",".join(map(repr, vector)) + "]"


if __name__ == "__main__":
    main()
