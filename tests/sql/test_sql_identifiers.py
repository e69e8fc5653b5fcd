"""More than 200 identifiers, each planted in one chunk among look-alikes, are found whole and by part."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.sql.helpers import call, create, ids, upsert
from tests.sql.identifiers import Identifier, identifiers

if TYPE_CHECKING:
    from tests.conftest import PgServer

PLANTED = identifiers()
SENTENCES = (
    "The ticket was closed after the customer confirmed that {} works again on the second try.",
    "Please attach the output of the diagnostic run, and mention {} in the subject of the message.",
    "We saw {} in the log of the night shift; nobody has looked into the cause yet.",
    "Replacement parts for {} arrive within three days, unless the warehouse is closed for inventory.",
    "Since the last release {} is documented in the appendix, with an example for each platform.",
    "Both teams agreed that {} stays as it is until the migration has been reviewed.",
)


@pytest.fixture(scope="module")
def planted(pg_server: PgServer, template: str) -> Iterator[psycopg.Connection[Any]]:
    name = pg_server.create_database(template=template)
    source = random.Random(7)
    similar = [text for identifier in PLANTED for text in identifier.similar]
    with psycopg.connect(pg_server.url(name), autocommit=True) as connection:
        create(connection, dimensions=None)

        def chunk(text: str) -> str:
            first, second, third = source.sample(SENTENCES, 3)
            return " ".join((first.format("it"), second.format(text), third.format("everything")))

        with connection.pipeline():
            for place, identifier in enumerate(PLANTED):
                upsert(connection, f"d{place}", [chunk(identifier.whole)])
            upsert(connection, "similar", [chunk(text) for text in similar])
            upsert(connection, "other", [chunk("the device") for _ in range(300)])
        yield connection
    pg_server.drop_database(name)


def missed(connection: psycopg.Connection[Any], queries: dict[int, str]) -> list[str]:
    """Name every identifier that the query does not find among the first five."""
    return [
        f"{PLANTED[place].kind} {PLANTED[place].whole!r} by {query!r}"
        for place, query in queries.items()
        if f"d{place}" not in ids(call(connection, "search_keyword", p_collection="c", p_query=query, p_k=5))
    ]


def test_there_are_more_than_200_of_many_kinds() -> None:
    assert len({identifier.whole for identifier in PLANTED}) == len(PLANTED) > 200
    assert len({identifier.kind for identifier in PLANTED}) > 25


def test_each_is_found_whole(planted: psycopg.Connection[Any]) -> None:
    assert missed(planted, {place: identifier.whole for place, identifier in enumerate(PLANTED)}) == []


def test_each_is_found_by_its_distinctive_part(planted: psycopg.Connection[Any]) -> None:
    assert missed(planted, {place: identifier.part for place, identifier in enumerate(PLANTED)}) == []


def as_typed(place: int, identifier: Identifier) -> str:
    forms = (
        identifier.whole.lower(),
        identifier.whole.upper(),
        f"{identifier.whole}.",
        f"what is ({identifier.whole})?",
        f"'{identifier.whole}',",
        f'"{identifier.whole}"',
        f"see {identifier.whole}: why",
    )
    return forms[place % len(forms)]


def test_each_is_found_in_another_case_and_among_punctuation(planted: psycopg.Connection[Any]) -> None:
    assert missed(planted, {place: as_typed(place, entry) for place, entry in enumerate(PLANTED)}) == []
