"""One connection, a broad caller and then a narrow one: the searches, and what each has to return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.proofs.synthetic import BROAD, COLLECTION, NARROW, Corpus, word

K = 10
BROAD_QUERIES, NARROW_QUERIES = 20, 50

Search = Callable[[str, dict[str, Any]], Sequence[Sequence[Any]]]
"""Runs a statement with ``%(name)s`` parameters and returns its rows."""

STATEMENTS = {
    "keyword": "select chunk_id from ragpg.search_keyword(%(collection)s, %(query)s, %(k)s, %(principals)s)",
    "vector": "select chunk_id from ragpg.search_vector(%(collection)s, %(embedding)s, %(k)s, %(principals)s)",
    "hybrid": "select chunk_id from ragpg.search_hybrid(%(collection)s, %(query)s, %(embedding)s, %(k)s, %(principals)s)",
}
PATHS = (
    "select ragpg.explain_search(%(collection)s, %(query)s, %(embedding)s, p_principals => %(principals)s, p_mode => 'vector')"
    " #>> '{vector,path}'"
)


@dataclass(frozen=True)
class Question:
    """A query of one caller; ``None`` leaves who that is to the session."""

    principal: str | None
    words: list[int]
    vector: npt.NDArray[np.float32]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the statements."""
        return {
            "collection": COLLECTION,
            "query": " ".join(map(word, self.words)),
            "embedding": "[" + ",".join(map(str, self.vector.tolist())) + "]",
            "k": K,
            "principals": None if self.principal is None else [self.principal],
        }

    def expected(self, corpus: Corpus, mode: str) -> list[str]:
        """The page of an exact search.

        Parameters
        ----------
        corpus
            What is searched.
        mode
            A key of :data:`STATEMENTS`.
        """
        assert self.principal is not None
        if mode == "keyword":
            return corpus.matching(self.words, self.principal, K)
        if mode == "vector":
            return corpus.nearest(self.vector, self.principal, K)
        return corpus.fused(self.words, self.vector, self.principal, K)


def questions(corpus: Corpus, principal: str, count: int) -> list[Question]:
    """Make queries of one caller."""
    return [Question(principal, corpus.query_words(), corpus.query_vector()) for _ in range(count)]


def page(search: Search, question: Question, mode: str) -> list[str]:
    """The ids of one search's page."""
    return [str(row[0]) for row in search(STATEMENTS[mode], question.parameters)]


def broad_then_narrow(search: Search, corpus: Corpus, mode: str) -> None:
    """Serve the broad caller, then the narrow one: every page is full, and the narrow one's are those of an exact search."""
    for question in questions(corpus, BROAD, BROAD_QUERIES):
        assert len(page(search, question, mode)) == K
    for question in questions(corpus, NARROW, NARROW_QUERIES):
        expected = question.expected(corpus, mode)
        assert len(expected) == K
        assert page(search, question, mode) == expected
