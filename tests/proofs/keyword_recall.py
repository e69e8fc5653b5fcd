"""Recall of the keyword leg on the public question sets, and questions it leaves without any hit.

    python -m tests.proofs.keyword_recall DATA_FOLDER          # every question of every set; makes a server of its own

The collection has one chunk a paragraph. A question has to find something whenever a content word of it stands in the corpus,
unless its own "quotes" or -exclusions forbid it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from ragpg.db.embedded import EmbeddedServer
from ragpg.db.migrate import migrate

# Folder, text-search configuration, and the recall@10 asked for (none where only the questions' answers count).
SETS: dict[str, tuple[str, float]] = {
    "xquad/en": ("english", 0.85),
    "xquad/de": ("german", 0.85),
    "xquad/ar": ("arabic", 0.85),
    "xquad/zh": ("simple", 0.85),
    "xquad/th": ("simple", 0.85),
    "jsquad_valid": ("simple", 0.85),
    "scifact": ("english", 0),
    "cranfield": ("english", 0),
    "mtrag_un": ("english", 0),
}
SPACELESS = re.compile("[\u0e00-\u0eff\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Set(NamedTuple):
    """A question set in BEIR form."""

    documents: dict[str, str]
    queries: dict[str, str]
    relevant: dict[str, set[str]]


class Outcome(NamedTuple):
    """What was measured on a set."""

    queries: int
    recall: float
    empty: list[str]


def read(folder: Path) -> Set:
    """Read a set; documents without text are left out."""

    def rows(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]

    documents = {
        row["_id"]: text
        for row in rows("corpus.jsonl")
        if (text := f"{row.get('title', '')}\n\n{row['text']}".strip())
    }
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split()
        if float(score) > 0:
            relevant.setdefault(query, set()).add(document)
    return Set(documents, {row["_id"]: row["text"] for row in rows("queries.jsonl")}, relevant)


def sample(whole: Set, queries: int, documents: int, seed: int = 0) -> Set:
    """Draw judged questions, and documents around those that answer them."""
    source = random.Random(seed)
    chosen = source.sample(sorted(whole.relevant.keys() & whole.queries.keys()), queries)
    kept = {document for query in chosen for document in whole.relevant[query]}
    others = [document for document in whole.documents if document not in kept]
    kept |= set(source.sample(others, max(0, min(documents - len(kept), len(others)))))
    return Set(
        {key: text for key, text in whole.documents.items() if key in kept},
        {query: whole.queries[query] for query in chosen},
        {query: whole.relevant[query] for query in chosen},
    )


def load(connection: psycopg.Connection[Any], name: str, language: str, documents: dict[str, str]) -> None:
    """Make a collection of one chunk a document."""
    connection.execute("select ragpg.create_collection(%s, %s)", (name, language))
    with connection.pipeline():
        for key, text in documents.items():
            connection.execute(
                "select ragpg.upsert_document(%s, %s, %s, p_chunks => %s)",
                (name, key, text, json.dumps([{"char_start": 0, "char_end": len(text)}])),
            )
    connection.execute("analyze ragpg.chunk")


def content_words(connection: psycopg.Connection[Any], language: str, text: str) -> set[str]:
    """The words of a text, and pairs of characters where it is written without spaces; stop words are left out."""
    found: set[str] = set()
    for word in re.findall(r"[^\W_]+", text.casefold()):
        letters = SPACELESS.findall(word)
        if letters:
            found.update(pair for pair in map("".join, pairwise(word)) if len(SPACELESS.findall(pair)) == 2)
        else:
            found.add(word)
    row = connection.execute(
        "select array_agg(word) from unnest(%s::text[]) as word where to_tsvector(%s::regconfig, word) <> ''",
        (sorted(found), language),
    ).fetchone()
    return set(row[0] or ()) if row else set()


def measure(connection: psycopg.Connection[Any], name: str, language: str, data: Set) -> Outcome:
    """Ask every question of a set, k = 10."""
    corpus = "\n".join(data.documents.values()).casefold()
    vocabulary = set(re.findall(r"[^\W_]+", corpus))
    total = 0.0
    empty: list[str] = []
    for key, query in data.queries.items():
        rows = connection.execute(
            "select external_id from ragpg.search_keyword(%s, %s, p_k => 10)", (name, query)
        ).fetchall()
        found = {row[0] for row in rows}
        if relevant := data.relevant.get(key):
            total += len(found & relevant) / len(relevant)
        if not found and '"' not in query and not re.search(r"(^|\s)-\S", query):
            words = content_words(connection, language, query)
            known = {
                word for word in words if (word in corpus if SPACELESS.match(word) else word in vocabulary)
            }
            if known:
                empty.append(f"{query!r} has {sorted(known)}")
    judged = len(data.relevant.keys() & data.queries.keys())
    return Outcome(len(data.queries), total / judged, empty)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every set in full; 1 where a figure or a question fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    options = parser.parse_args(arguments)
    failed = False
    with tempfile.TemporaryDirectory(prefix="ragpg-recall-", dir="/tmp") as home:
        server = EmbeddedServer(home, durable=False)
        url = server.start()
        try:
            with psycopg.connect(server.url_of("ragpg"), autocommit=True) as superuser:
                superuser.execute("create extension if not exists vector")
            migrate(url)
            with psycopg.connect(url, autocommit=True) as connection:
                for folder, (language, wanted) in SETS.items():
                    data = read(options.data / folder)
                    load(connection, folder, language, data.documents)
                    outcome = measure(connection, folder, language, data)
                    failed = failed or outcome.recall < wanted or bool(outcome.empty)
                    print(
                        f"{folder:14} {outcome.queries:5} questions  recall@10 {outcome.recall:.3f}",
                        flush=True,
                    )
                    for line in outcome.empty:
                        print(f"   without a hit: {line}", flush=True)
        finally:
            server.remove()
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
