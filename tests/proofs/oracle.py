"""What a caller may see, written a second time, and what two answers may differ in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from tests.proofs.roles import Caller
from tests.proofs.searches import Search
from tests.proofs.worlds import Document, World
from tests.sql.helpers import Row

MARKER = re.compile(r"mark\d+x\d+")
# the numbers that are computed; all else has to be equal
NUMBERS = ("score", "vector_distance", "keyword_score")
# a page of this size holds every chunk of a small world
WHOLE = 1000
# up to so many visible chunks the vector leg compares with each of them, however many are hidden
EXACT = 1000


@dataclass
class Outcome:
    """What came of a search: rows (of an explanation: one), or an error."""

    rows: list[Row]
    error: str | None = None

    @property
    def degraded(self) -> list[str]:
        """What the search says that it gave up."""
        return self.rows[0]["degraded"] if self.rows else []


@dataclass
class Place:
    """The document of a chunk, and which of its chunks it is."""

    document: Document
    number: int

    def span(self, expand: str | None) -> tuple[int, int]:
        """The range of the document's text that a hit has after its expansion."""
        spans = self.document.spans
        if expand == "document":
            return 0, len(self.document.content)
        if expand == "parent":
            return self.document.parents[self.number]
        reach = int(expand.split(":")[1]) if expand else 0
        return spans[max(0, self.number - reach)][0], spans[min(len(spans) - 1, self.number + reach)][1]


def forbidden(search: Search, caller: Caller, outcome: Outcome, chunks: dict[UUID, Place]) -> Iterator[str]:
    """Find what the caller should not have got, or should have."""
    asked = set(MARKER.findall(str(search.parameters.get("p_query"))))
    if outcome.error is not None or search.function == "explain_search":
        if set(MARKER.findall(str(outcome))) - asked:
            yield f"a hidden word in {outcome}"
    else:
        for row in outcome.rows:
            yield from wrong_row(search, caller, row, chunks)
    if outcome.error is None:
        yield from missing(search, caller, outcome, chunks)


def wrong_row(search: Search, caller: Caller, row: Row, chunks: dict[UUID, Place]) -> Iterator[str]:
    """Find what is wrong with a hit."""
    place = chunks[row["chunk_id"]]
    document = place.document
    if not document.is_visible(caller.tenant_id, caller.principals):
        yield f"a hidden document: {row}"
    if not search.admits(document, place.number, text=search.parameters.get("p_query") is not None):
        yield f"a row that the filters exclude: {row}"
    if set(MARKER.findall(str(row))) != {document.marker}:
        yield f"words of another document: {row}"
    if (row["char_start"], row["char_end"]) != place.span(search.parameters.get("p_expand")) or (
        row["content"] != document.content[row["char_start"] : row["char_end"]]
    ):
        yield f"text outside of the document or the range: {row}"
    if row["external_id"] != document.external_id or row["metadata"] != (
        document.metadata | document.chunk_metadata[place.number]
    ):
        yield f"attributes of another document: {row}"


def admitted(search: Search, caller: Caller, chunks: dict[UUID, Place]) -> set[UUID]:
    """The chunks that a search may find at the most."""
    text = search.parameters.get("p_query") is not None
    return {
        chunk
        for chunk, place in chunks.items()
        if place.document.is_visible(caller.tenant_id, caller.principals)
        and search.admits(place.document, place.number, text=text)
    }


def is_approximate(search: Search, caller: Caller, chunks: dict[UUID, Place]) -> bool:
    """Whether the vector leg may miss some of the nearest: in its graph hidden chunks are nodes, too."""
    uses_vectors = search.function != "search_keyword" and search.parameters.get("p_mode") != "keyword"
    return uses_vectors and len(chunks) > EXACT and len(admitted(search, caller, chunks)) > EXACT


def missing(search: Search, caller: Caller, outcome: Outcome, chunks: dict[UUID, Place]) -> Iterator[str]:
    """Find what a page of every chunk should hold besides, and a count that is another than the rule's."""
    expected = admitted(search, caller, chunks)
    if search.function == "explain_search":
        if outcome.rows[0]["visible_chunks"] != len(expected):
            yield f"{len(expected)} chunks are visible: {outcome}"
    elif search.function == "search_vector" and not search.parameters["p_expand"]:
        embedded = {chunk for chunk in expected if chunks[chunk].document.embeddings[chunks[chunk].number]}
        found = {row["chunk_id"] for row in outcome.rows}
        if len(found) != min(len(embedded), search.parameters["p_k"]) or found - embedded:
            yield f"of {len(embedded)} rows {len(found)} were found"


def differences(
    search: Search, caller: Caller, here: Outcome, there: Outcome, *, approximate: bool
) -> Iterator[str]:
    """Find what hidden documents changed."""
    if here.error != there.error:
        yield f"errors differ: {here.error} | {there.error}"
    elif said(search, caller, here) != said(search, caller, there) and here.rows and there.rows:
        yield f"degraded differs: {here.degraded} | {there.degraded}"
    elif approximate:
        if len(here.rows) != len(there.rows) and not search.corpus_wide:
            yield f"numbers of rows differ: {len(here.rows)} | {len(there.rows)}"
    elif search.function == "explain_search":
        plans = [explained(search, caller, outcome) for outcome in (here, there)]
        if plans[0] != plans[1]:
            yield f"explanations differ: {plans[0]} | {plans[1]}"
    elif not search.corpus_wide:
        if not same_rows(here.rows, there.rows):
            yield f"rows differ:\n    {brief(here.rows)}\n    {brief(there.rows)}"
    elif (
        max(len(here.rows), len(there.rows)) < search.parameters["p_k"] == WHOLE
        and not search.parameters.get("p_expand")
        and not too_long(search)
    ):
        found = [{row["chunk_id"] for row in outcome.rows} for outcome in (here, there)]
        if found[0] != found[1]:
            yield f"pages differ:\n    {brief(here.rows)}\n    {brief(there.rows)}"


def said(search: Search, caller: Caller, outcome: Outcome) -> set[str]:
    """What ``degraded`` says, without what is documented to follow from the whole corpus."""
    words = set(outcome.degraded)
    if caller.speaks_for_others:
        words -= {"stale_statistics", "exact_fallback"}
    if search.corpus_wide and "p_embedding" not in search.parameters:
        # the vector is that of the first hits: which come first depends on the frequencies, and not every hit has a vector
        words -= {"query_embedding_from_feedback", "no_query_embedding", "stale_embeddings"}
    return words


def too_long(search: Search) -> bool:
    """Whether a query has more words than count; which of them do depends on how frequent they are."""
    return len(str(search.parameters.get("p_query")).split()) > 60


def explained(search: Search, caller: Caller, outcome: Outcome) -> Row:
    """An explanation without what is documented to count the whole corpus."""
    plan = dict(outcome.rows[0]) if outcome.rows else {}
    plan["degraded"] = said(search, caller, outcome)
    if caller.speaks_for_others:
        # such a role is told how the answer was found, which is chosen by what the collection holds
        plan.pop("keyword", None)
        plan["vector"] = {
            name: value for name, value in plan.get("vector", {}).items() if name not in ("path", "why")
        }
    if search.corpus_wide:
        # and the frequencies of words, on which it depends which candidates come first
        for key in ("terms", "candidates"):
            plan.pop(key, None)
    return plan


def same_rows(here: list[Row], there: list[Row]) -> bool:
    """Whether two pages are equal, computed numbers to nine digits."""
    return len(here) == len(there) and all(
        all(
            math.isclose(one[key], two[key], rel_tol=1e-9, abs_tol=1e-12)
            if key in NUMBERS and one[key] is not None and two[key] is not None
            else one[key] == two[key]
            for key in one
        )
        for one, two in zip(here, there, strict=True)
    )


def brief(rows: list[Row]) -> list[tuple[Any, ...]]:
    """What tells pages apart."""
    return [(row["external_id"], row["char_start"], row["score"], row["keyword_score"]) for row in rows[:6]]


def wrong_tables(caller: Caller, connection: psycopg.Connection[Any], world: World) -> list[str]:
    """Read the tables themselves as the caller, and say where they show other rows than the rule."""
    if caller.kind == "owner":
        return []
    # an argument holds for its search only
    seen_as = (
        ("nowhere", ["user:nobody"]) if caller.kind == "server" else (caller.tenant_id, caller.principals)
    )
    visible = [document for document in world.documents if document.is_visible(*seen_as)]
    expected = {
        "select marker from (select substring(title from 'mark\\S+') as marker from ragpg.document) as shown": {
            document.marker for document in visible
        },
        "select content from ragpg.chunk": {piece for document in visible for piece in document.pieces},
        "select embedding::text from ragpg.embedding": {
            "[" + ",".join(f"{number:g}" for number in values) + "]"
            for document in visible
            for values in document.embeddings
            if values
        },
    }
    return [
        f"{caller}: {query} shows other rows"
        for query, rows in expected.items()
        if {row[0] for row in connection.execute(query.encode())} != rows
    ]
