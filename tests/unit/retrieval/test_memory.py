import dataclasses
from typing import Any

import pytest

from ragpg.config import Settings
from ragpg.db.rows import IndexVersion
from ragpg.embedding import make_embedder
from ragpg.errors import EmbedderMismatch
from ragpg.retrieval.memory import VERSION_LIFETIME, EmbedderMemory

VERSION = IndexVersion(1, 7, "english", {}, "hash", "words", 64, "", "")
KEYWORD_ONLY = IndexVersion(1, 7, "english", {}, None, None, None, "", "")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_version_is_looked_up_once_in_its_lifetime(drive: Any, clock: Clock) -> None:
    memory = EmbedderMemory(settings=Settings(), clock=clock)
    drive.answers["_index_version"] = VERSION
    assert drive(memory.version("docs")) == VERSION
    clock.now += VERSION_LIFETIME - 0.1
    drive(memory.version("docs"))
    assert drive.names == ["_index_version"]
    clock.now += 0.2
    drive(memory.version("docs"))
    assert len(drive.names) == 2


def test_fresh_other_collections_and_forgotten_ones_are_looked_up(drive: Any, clock: Clock) -> None:
    memory = EmbedderMemory(settings=Settings(), clock=clock)
    drive.answers["_index_version"] = VERSION
    drive(memory.version("docs"))
    drive(memory.version("docs", fresh=True))
    drive(memory.version("other"))
    drive(memory.version("docs", 7))
    assert len(drive.names) == 4
    memory.forget("docs")
    drive(memory.version("other"))
    assert len(drive.names) == 4
    drive(memory.version("docs"))
    assert len(drive.names) == 5


def test_a_lifetime_of_zero_believes_nothing(drive: Any, clock: Clock) -> None:
    memory = EmbedderMemory(settings=Settings(), lifetime=0.0, clock=clock)
    drive.answers["_index_version"] = VERSION
    drive(memory.version("docs"))
    drive(memory.version("docs"))
    assert len(drive.names) == 2


def test_the_embedder_is_the_remembered_one_and_made_once(drive: Any) -> None:
    memory = EmbedderMemory(settings=Settings())
    made = drive(memory.embedder(dataclasses.replace(VERSION, query_prefix="query: ")))
    assert (made.provider, made.model, made.dimensions, made.query_prefix) == ("hash", "words", 64, "query: ")
    assert drive(memory.embedder(dataclasses.replace(VERSION, query_prefix="query: "))) is made
    assert drive(memory.embedder(VERSION)) is not made
    assert drive(memory.embedder(KEYWORD_ONLY)) is None


@pytest.mark.parametrize("given", ["hash:32", make_embedder("hash:32"), "local"])
def test_another_embedder_than_the_remembered_one_is_refused(drive: Any, given: Any) -> None:
    memory = EmbedderMemory(given, settings=Settings())
    with pytest.raises(EmbedderMismatch, match="hash:words with 64 dimensions"):
        drive(memory.embedder(VERSION))


def test_an_instance_with_other_prefixes_is_refused(drive: Any) -> None:
    memory = EmbedderMemory(make_embedder("hash:64", query_prefix="q: "), settings=Settings())
    with pytest.raises(EmbedderMismatch, match="prefixes"):
        drive(memory.embedder(VERSION))


def test_a_matching_instance_is_used_itself(drive: Any) -> None:
    given = make_embedder("hash:64")
    assert drive(EmbedderMemory(given, settings=Settings()).embedder(VERSION)) is given


def test_a_keyword_only_collection_needs_none_whatever_the_client_insists_on(drive: Any) -> None:
    assert drive(EmbedderMemory("hash", settings=Settings()).embedder(KEYWORD_ONLY)) is None


def test_a_new_collections_embedder_is_the_argument_the_clients_or_the_settings() -> None:
    settings = Settings(embedder="hash:8")
    assert EmbedderMemory(settings=settings).chosen("hash:16").dimensions == 16  # type: ignore[union-attr]
    assert EmbedderMemory("hash:32", settings=settings).chosen(None).dimensions == 32  # type: ignore[union-attr]
    assert EmbedderMemory(settings=settings).chosen(None).dimensions == 8  # type: ignore[union-attr]
    assert EmbedderMemory(settings=settings).chosen("none") is None
