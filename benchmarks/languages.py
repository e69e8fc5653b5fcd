"""What several languages in one collection cost the keyword leg, and what detecting them gives, on xquad.

    python benchmarks/languages.py                     # xquad under ../shared/data

The same paragraphs in five languages, each alone in a collection, all in one with their languages detected, and all in one as
english. Reported is nDCG@10 of each language's own paragraph, and how often the first hit is in another language.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import psycopg
from scratch import scratch_database
from testsets import TestSet, read_set

from ragpg.db.languages import configuration_for
from ragpg.text.detection import detect_language

LANGUAGES = ("en", "de", "ar", "zh", "th")
# The 1,190 questions are about 240 paragraphs: every fourth is enough.
STEP = 4


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments = parser.parse_args()
    sets = {language: read_set(arguments.data, f"xquad/{language}") for language in LANGUAGES}
    with scratch_database() as url, psycopg.connect(url, autocommit=True) as connection:
        for language in LANGUAGES:
            load(connection, language, {language: sets[language]}, detect=True)
        load(connection, "detected", sets, detect=True)
        load(connection, "english", sets, detect=False)
        for language, data in sets.items():
            for collection in (language, "detected", "english"):
                found, astray = measure(connection, collection, language, data)
                print(
                    f"{language} in {collection:10s} nDCG@10 {found:.3f}, another language first {astray:.3f}"
                )


def load(
    connection: psycopg.Connection[Any], collection: str, sets: dict[str, TestSet], *, detect: bool
) -> None:
    known = {name for (name,) in connection.execute("select cfgname from pg_ts_config")}
    connection.execute("select ragpg.create_collection(%s)", (collection,))
    with connection.transaction():
        for language, data in sets.items():
            for key, text in data.documents.items():
                code = detect_language(text) if detect else None
                connection.execute(
                    "select ragpg.upsert_document(%s, %s, %s, p_language => %s, p_chunks => %s)",
                    (
                        collection,
                        f"{language}:{key}",
                        text,
                        None if code is None else configuration_for(code, known),
                        json.dumps([{"char_start": 0, "char_end": len(text)}]),
                    ),
                )
    connection.execute("analyze")


def measure(
    connection: psycopg.Connection[Any], collection: str, language: str, data: TestSet
) -> tuple[float, float]:
    relevant = {qrel.query_id: f"{language}:{qrel.doc_id}" for qrel in data.qrels}
    queries = list(data.queries.items())[::STEP]
    gain = 0.0
    astray = 0
    for key, query in queries:
        rows = connection.execute(
            "select external_id from ragpg.search_keyword(%s, %s, p_k => 10)", (collection, query)
        ).fetchall()
        hits = [external_id for (external_id,) in rows]
        if relevant[key] in hits:
            gain += 1 / math.log2(hits.index(relevant[key]) + 2)
        astray += bool(hits) and not hits[0].startswith(f"{language}:")
    return gain / len(queries), astray / len(queries)


if __name__ == "__main__":
    main()
