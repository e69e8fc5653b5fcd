import contextlib
import dataclasses
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ragpg.config import Settings
from ragpg.db.rows import IndexVersion
from ragpg.embedding import embedder_for, make_embedder
from ragpg.embedding.hash import HashEmbedder
from ragpg.errors import EmbedderMismatch
from ragpg.retrieval.memory import VERSION_LIFETIME, EmbedderMemory

VERSION = IndexVersion(1, 7, "english", {}, "hash", "words", 64, "", "")
KEYWORD_ONLY = IndexVersion(1, 7, "english", {}, None, None, None, "", "")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


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


def remember(memory: EmbedderMemory, collection: str) -> None:
    flow = memory.version(collection)
    next(flow)
    with contextlib.suppress(StopIteration):
        flow.send(VERSION)


def test_forgetting_goes_along_with_other_threads_lookups(frequent_switches: None) -> None:
    memory = EmbedderMemory(settings=Settings())
    done = threading.Event()

    def look_up() -> None:
        for number in range(20_000):
            remember(memory, f"c{number}")
        done.set()

    with ThreadPoolExecutor(2) as threads:
        running = threads.submit(look_up)
        while not done.is_set() and not running.done():
            memory.forget("c0")
            memory.forget("docs")
        running.result()


def test_threads_that_need_an_embedder_at_once_share_one(drive: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def slowly(*model: Any, **options: Any) -> Any:
        time.sleep(0.05)
        made.append(embedder_for(*model, **options))
        return made[-1]

    monkeypatch.setattr("ragpg.retrieval.memory.embedder_for", slowly)
    memory = EmbedderMemory(settings=Settings())
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: drive(memory.embedder(VERSION)), range(4)))
    assert len(made) == 1
    assert found == made * 4


class Closing(HashEmbedder):
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_closing_closes_the_embedders_that_were_made_and_no_others(
    drive: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, named, given = Closing(64), Closing(32), Closing(64)
    monkeypatch.setattr("ragpg.retrieval.memory.embedder_for", lambda *_, **__: made)
    monkeypatch.setattr("ragpg.retrieval.memory.make_embedder", lambda *_, **__: named)
    memory = EmbedderMemory(settings=Settings())
    assert drive(memory.embedder(VERSION)) is made
    assert memory.chosen("hash:32") is named
    memory.close()
    memory.close()
    assert (made.closed, named.closed) == (1, 1)
    handed = EmbedderMemory(given, settings=Settings())
    assert drive(handed.embedder(VERSION)) is given
    handed.close()
    assert given.closed == 0


def test_an_embedder_without_close_is_left_alone(drive: Any) -> None:
    memory = EmbedderMemory(settings=Settings())
    drive(memory.embedder(VERSION))
    memory.close()
