"""Search quality on public test collections: the keyword leg against bm25s, the fusion against its legs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bm25s
import ir_measures
import psycopg
import pytest
from ir_measures import nDCG

from ragpg.embedding import make_embedder
from tests.sql.helpers import Row, call, vector, vectors

Run = dict[str, dict[str, float]]


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def collection(folder: Path) -> tuple[dict[str, str], dict[str, str], list[Any]]:
    documents = {
        row["_id"]: f"{row.get('title', '')}\n\n{row['text']}".strip()
        for row in read(folder / "corpus.jsonl")
    }
    queries = {row["_id"]: row["text"] for row in read(folder / "queries.jsonl")}
    lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    qrels = [
        ir_measures.Qrel(query, document, int(score)) for query, document, score in map(str.split, lines)
    ]
    return {key: text for key, text in documents.items() if text}, queries, qrels


def load(
    connection: psycopg.Connection[Any],
    documents: Mapping[str, str],
    embeddings: list[list[float]] | None = None,
) -> None:
    model = ("local", "test", len(embeddings[0])) if embeddings else (None, None, None)
    connection.execute("select ragpg.create_collection('c', 'english', '{}', '{public}', %s, %s, %s)", model)
    for place, (key, text) in enumerate(documents.items()):
        call(
            connection,
            "upsert_document",
            p_collection="c",
            p_external_id=key,
            p_content=text,
            p_chunks=json.dumps([{"char_start": 0, "char_end": len(text)}]),
            p_embeddings=vectors([embeddings[place]]) if embeddings else None,
        )


def ndcg(qrels: list[Any], run: Run) -> float:
    return ir_measures.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10]


def ranking(rows: list[Row]) -> dict[str, float]:
    return {row["external_id"]: 1 / (place + 1) for place, row in enumerate(rows)}


def test_the_keyword_leg_ranks_as_bm25s_does_on_the_same_lexemes(
    conn: psycopg.Connection, data_dir: Path
) -> None:
    documents, queries, qrels = collection(data_dir / "cranfield")
    load(conn, documents)
    run = {
        key: ranking(call(conn, "search_keyword", p_collection="c", p_query=text))
        for key, text in queries.items()
    }

    def tokens(lexemes: list[str], counts: list[int]) -> list[str]:
        return [lexeme for lexeme, count in zip(lexemes, counts, strict=True) for _ in range(count)]

    stored = conn.execute(
        "select document.external_id, array_agg(word.lexeme), array_agg(cardinality(word.positions))"
        " from ragpg.chunk join ragpg.document on document.id = chunk.document_id"
        " cross join lateral unnest(chunk.content_tsv) as word"
        " where word.lexeme !~ '^[~^]' group by 1"
    ).fetchall()
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    retriever.index([tokens(lexemes, counts) for _, lexemes, counts in stored], show_progress=False)
    reference: Run = {}
    for key, text in queries.items():
        words = conn.execute(
            "select lexeme, cardinality(positions) from unnest(ragpg._analyze('english', %s)) where lexeme !~ '^[~^]'",
            (text,),
        ).fetchall()
        known = [word for word, count in words for _ in range(count) if word in retriever.vocab_dict]
        scores = retriever.get_scores(known)
        reference[key] = {stored[place][0]: float(scores[place]) for place in scores.argsort()[::-1][:10]}
    assert ndcg(qrels, run) == pytest.approx(ndcg(qrels, reference), abs=0.01)
    assert ndcg(qrels, run) > 0.37


def test_the_fusion_is_no_worse_than_the_better_leg(conn: psycopg.Connection, data_dir: Path) -> None:
    """XQuAD in English with the real local model: 240 paragraphs, every eighth question."""
    documents, queries, qrels = collection(data_dir / "xquad" / "en")
    queries = dict(list(queries.items())[::8])
    qrels = [qrel for qrel in qrels if qrel.query_id in queries]
    embedder = make_embedder("local")
    load(conn, documents, embedder.embed_documents(list(documents.values())))
    runs: dict[str, Run] = {"keyword": {}, "vector": {}, "hybrid": {}, "no embedding": {}}
    for key, text in queries.items():
        embedding = vector(embedder.embed_query(text))
        runs["keyword"][key] = ranking(call(conn, "search_keyword", p_collection="c", p_query=text))
        runs["vector"][key] = ranking(call(conn, "search_vector", p_collection="c", p_embedding=embedding))
        runs["hybrid"][key] = ranking(
            call(conn, "search_hybrid", p_collection="c", p_query=text, p_embedding=embedding)
        )
        runs["no embedding"][key] = ranking(call(conn, "search_hybrid", p_collection="c", p_query=text))
    measured = {name: ndcg(qrels, run) for name, run in runs.items()}
    assert measured["keyword"] > 0.93
    assert measured["vector"] > 0.90
    assert measured["hybrid"] >= max(measured["keyword"], measured["vector"]) - 0.01
    assert measured["no embedding"] >= measured["keyword"] - 0.02
