"""Random searches, with what their filters mean in Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.proofs.worlds import CODES, INFLECTED, WORDS, Document, World, vector_of
from tests.sql.helpers import Row, vector

Predicate = Callable[[Row], bool]
STOP = ("the of and", "!!!", "", "   ", "-")


def number(value: Any) -> float | None:
    """A JSON number, and nothing else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def each(value: Any) -> list[Any]:
    """A lax path's items: an array is unwrapped."""
    return value if isinstance(value, list) else [value]


def as_double(value: Any) -> float | None:
    """What ``.double()`` makes of a value."""
    try:
        return float(value) if isinstance(value, str) else number(value)
    except ValueError:
        return None


def compared(
    key: str, test: Callable[[float], bool], convert: Callable[[Any], float | None] = number
) -> Predicate:
    """True where any item of a key is a number that passes."""

    def predicate(row: Row) -> bool:
        values = [convert(item) for item in each(row.get(key))]
        if convert is not number and None in values and row.get(key) is not None:
            # one item that can't be converted makes the whole unknown
            return False
        return any(value is not None and test(value) for value in values)

    return predicate


# a condition, and the same in Python; each has documents that make a careless evaluation fail
FILTERS: list[tuple[str, Predicate]] = [
    ("$.year >= 2024", compared("year", lambda value: value >= 2024)),
    ("$.year.double() > 2023", compared("year", lambda value: value > 2023, as_double)),
    ("10 / $.n > 1", compared("n", lambda value: value != 0 and 10 / value > 1)),
    ("$.n == 0", compared("n", lambda value: value == 0)),
    ('$.tag == "red"', lambda row: row.get("tag") == "red"),
    ('$.tag like_regex "^r"', lambda row: str(row.get("tag", "")).startswith("r")),
    ("$.list[*] == 1", lambda row: 1 in row.get("list", [])),
    ("strict $.list[5] == 1", lambda row: len(row.get("list", [])) == 6 and row["list"][5] == 1),
    ("exists($.secret)", lambda row: "secret" in row),
    ("!exists($.secret)", lambda row: "secret" not in row),
    ("$.n == 1 || $.tag == 7", lambda row: row.get("n") == 1 or row.get("tag") == 7),
]
# refused, whatever is stored
BAD_FILTERS = (
    "$.year",
    '$.secret.datetime() < "2024-01-01".datetime()',
    "$.n > $limit",
    "$.list.size()",
    '"x"',
)


@dataclass
class Search:
    """One call, and what every row of it has to fulfil."""

    function: str
    parameters: Row
    document_filter: Predicate | None = None
    chunk_filter: Predicate | None = None
    excluded: str | None = None
    phrase: str | None = None

    @property
    def corpus_wide(self) -> bool:
        """Whether its scores may depend on how frequent words are in hidden documents, as documented."""
        uses_words = self.function != "search_vector" and self.parameters.get("p_mode") != "vector"
        return uses_words and self.parameters.get("p_idf", "corpus") == "corpus"

    def admits(self, document: Document, place: int, *, text: bool) -> bool:
        """Whether a chunk passes the filters; ``text``: also the phrases and exclusions."""
        content = document.pieces[place].split()
        return (
            (self.document_filter is None or self.document_filter(document.metadata))
            and (self.chunk_filter is None or self.chunk_filter(document.chunk_metadata[place]))
            and not (text and self.excluded in content)
            and not (text and self.phrase is not None and f" {self.phrase} " not in f" {' '.join(content)} ")
        )


def random_query(source: random.Random, world: World, search: Search) -> str | None:
    """Words of visible and of hidden documents, phrases, exclusions, codes, nothing at all."""
    kind = source.random()
    if kind < 0.06:
        return source.choice([*STOP, None])
    if kind < 0.1:
        long = [f"word{number}" for number in range(source.choice([70, 600]))]
        return " ".join([*source.sample(WORDS, 4), *long])
    words = source.sample(WORDS, source.randint(1, 3))
    if source.random() < 0.35:
        words.append(source.choice(world.documents).marker)
    if source.random() < 0.3:
        words.append(source.choice(INFLECTED))
    if source.random() < 0.2:
        words.append(source.choice(CODES))
    if source.random() < 0.12:
        search.excluded = source.choice(WORDS)
        words.append(f"-{search.excluded}")
    if source.random() < 0.12:
        inside = source.choice(source.choice(world.documents).pieces).split()[:2]
        search.phrase = " ".join(inside)
        words.append(f'"{search.phrase}"')
    if source.random() < 0.1:
        words.append(words[0])
    source.shuffle(words)
    return " ".join(words)


def random_embedding(source: random.Random, world: World) -> str:
    """A vector, at times exactly that of a chunk, which may be hidden."""
    stored = [values for values in source.choice(world.documents).embeddings if values]
    return vector(source.choice(stored) if stored and source.random() < 0.3 else vector_of(source))


def random_search(source: random.Random, world: World) -> Search:
    """Make a random call of one of the search functions."""
    function = source.choice(
        ["search_hybrid"] * 3 + ["search_keyword"] * 2 + ["search_vector"] * 2 + ["explain_search"]
    )
    search = Search(function, {"p_collection": "c"})
    parameters = search.parameters
    parameters["p_query"] = random_query(source, world, search)
    parameters["p_k"] = source.choice([1, 3, 10, 10, 1000])
    if function != "search_keyword" and (function == "search_vector" or source.random() < 0.6):
        parameters["p_embedding"] = random_embedding(source, world)
    if function != "search_vector" and source.random() < 0.6:
        parameters["p_idf"] = "visible"
    if function != "explain_search":
        parameters["p_expand"] = source.choice(
            [None, None, None, "parent", "neighbors:1", "neighbors:3", "document"]
        )
    else:
        parameters["p_mode"] = source.choice(["hybrid", "keyword", "vector"])
    if function in ("search_hybrid", "explain_search"):
        parameters |= {
            "p_candidate_k": source.choice([1, 5, 50, 1000]),
            "p_rrf_k": source.choice([0, 60]),
            "p_fusion": source.choice(["rrf", "score"]),
            "p_feedback": source.choice([0, 0, 1, 3]),
            "p_vector_weight": source.choice([1, 0.3, 0]),
            "p_keyword_weight": source.choice([1, 0.7]),
        }
    if source.random() < 0.35:
        parameters["p_filter"], search.document_filter = source.choice(FILTERS)
    if source.random() < 0.2:
        parameters["p_chunk_filter"], search.chunk_filter = source.choice(FILTERS)
    if source.random() < 0.03:
        parameters[source.choice(["p_filter", "p_chunk_filter"])] = source.choice(BAD_FILTERS)
    if source.random() < 0.02:
        parameters["p_index_version"] = 999_999
    return search
