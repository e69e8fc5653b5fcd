"""How good the search is, on public test collections, with the local model.

    python benchmarks/quality.py                       # scifact and cranfield under ../shared/data
    python benchmarks/quality.py --data DIR --sets scifact --json out.json

Every document is one chunk. Reported are nDCG@10, recall@10 and recall@100 of each leg and of their fusions, beside a reference
BM25 (bm25s, "lucene" form) that is given the same lexemes, k1 and b, so that only the ranking differs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import bm25s
import ir_measures
import psycopg
from ir_measures import R, nDCG
from psycopg.rows import tuple_row

from ragpg.db.embedded import EmbeddedServer
from ragpg.db.migrate import migrate
from ragpg.embedding import make_embedder

MEASURES = (nDCG @ 10, R @ 10, R @ 100)
DEPTH = 100
Run = dict[str, dict[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", default="scifact,cranfield")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    results: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="ragpg-quality-") as folder:
        server = EmbeddedServer(Path(folder), durable=False)
        try:
            url = server.start()
            migrate(url)
            with psycopg.connect(url, autocommit=True) as connection:
                for name in arguments.sets.split(","):
                    results[name] = evaluate(connection, name, arguments.data / name)
        finally:
            server.stop()
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


def evaluate(connection: psycopg.Connection[Any], name: str, folder: Path) -> dict[str, dict[str, float]]:
    documents = {
        row["_id"]: f"{row.get('title', '')}\n\n{row['text']}".strip()
        for row in read(folder / "corpus.jsonl")
    }
    documents = {key: text for key, text in documents.items() if text}
    queries = {row["_id"]: row["text"] for row in read(folder / "queries.jsonl")}
    qrels = list(read_qrels(folder / "qrels.tsv"))
    judged = {qrel.query_id for qrel in qrels}
    queries = {key: text for key, text in queries.items() if key in judged}

    started = time.perf_counter()
    load(connection, name, documents)
    print(
        f"\n{name}: {len(documents)} documents, {len(queries)} queries, loaded in {time.perf_counter() - started:.0f} s"
    )

    embedder = make_embedder("local")
    vectors = {key: literal(embedder.embed_query(text)) for key, text in queries.items()}
    everything = "p_k => 100, p_candidate_k => 100"
    searches: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
        "keyword": ("ragpg.search_keyword(%(collection)s, %(query)s, p_k => 100)", lambda key: {}),
        "vector": (
            "ragpg.search_vector(%(collection)s, %(vector)s, p_k => 100)",
            lambda key: {"vector": vectors[key]},
        ),
        "hybrid, rrf": (
            f"ragpg.search_hybrid(%(collection)s, %(query)s, %(vector)s, {everything})",
            lambda key: {"vector": vectors[key]},
        ),
        "hybrid, score, 0.7 vectors": (
            f"ragpg.search_hybrid(%(collection)s, %(query)s, %(vector)s, {everything},"
            " p_fusion => 'score', p_vector_weight => 0.7, p_keyword_weight => 0.3)",
            lambda key: {"vector": vectors[key]},
        ),
        "hybrid, no embedding": (
            f"ragpg.search_hybrid(%(collection)s, %(query)s, {everything})",
            lambda key: {},
        ),
    }
    runs: dict[str, tuple[Run, float]] = {
        "bm25s on the same lexemes": (reference_bm25(connection, name, queries), 0.0)
    }
    for label, (call, parameters) in searches.items():
        runs[label] = run(connection, call, name, queries, parameters)

    table: dict[str, dict[str, float]] = {}
    print(f"{'':28s} nDCG@10   R@10  R@100   p50 ms")
    for label, (ranking, milliseconds) in runs.items():
        measured = ir_measures.calc_aggregate(MEASURES, qrels, ranking)
        table[label] = {str(measure): measured[measure] for measure in MEASURES} | {"p50_ms": milliseconds}
        figures = "  ".join(f"{measured[measure]:.3f}" for measure in MEASURES)
        print(f"{label:28s}  {figures}  {milliseconds:7.1f}")
    return table


def load(connection: psycopg.Connection[Any], name: str, documents: dict[str, str]) -> None:
    embedder = make_embedder("local")
    connection.execute(
        "select ragpg.create_collection(%s, p_embedding_provider => %s, p_embedding_model => %s,"
        " p_embedding_dimensions => %s)",
        (name, embedder.provider, embedder.model, embedder.dimensions),
    )
    vectors = embedder.embed_documents(list(documents.values()))
    with connection.transaction():
        for (key, text), vector in zip(documents.items(), vectors, strict=True):
            connection.execute(
                "select ragpg.upsert_document(%s, %s, %s, p_chunks => %s, p_embeddings => %s)",
                (
                    name,
                    key,
                    text,
                    json.dumps([{"char_start": 0, "char_end": len(text)}]),
                    f'{{"{literal(vector)}"}}',
                ),
            )
    connection.execute("select ragpg.refresh_statistics(%s)", (name,))
    connection.execute("analyze")


def run(
    connection: psycopg.Connection[Any],
    call: str,
    name: str,
    queries: dict[str, str],
    parameters: Callable[[str], dict[str, Any]],
) -> tuple[Run, float]:
    ranking: Run = {}
    times: list[float] = []
    for key, query in queries.items():
        values = {"collection": name, "query": query, **parameters(key)}
        started = time.perf_counter()
        rows = connection.execute(f"select external_id from {call}", values).fetchall()  # noqa: S608
        times.append(time.perf_counter() - started)
        ranking[key] = {external_id: float(DEPTH - place) for place, (external_id,) in enumerate(rows)}
    return ranking, sorted(times)[len(times) // 2] * 1000


def reference_bm25(connection: psycopg.Connection[Any], name: str, queries: dict[str, str]) -> Run:
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
        (name,),
    ).fetchall()
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    retriever.index([tokens for _, tokens in rows], show_progress=False)
    known = retriever.vocab_dict
    ranking: Run = {}
    for key, query in queries.items():
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


def read(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def read_qrels(path: Path) -> Iterable[Any]:
    with path.open(encoding="utf-8") as file:
        next(file)
        for line in file:
            query, document, score = line.split()
            yield ir_measures.Qrel(query, document, int(score))


def literal(vector: list[float]) -> str:
    return "[" + ",".join(map(repr, vector)) + "]"


if __name__ == "__main__":
    main()
