"""Which embedder a collection needs: the one that the database remembers for its index version."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple, TypedDict

from ragpg.config import Settings
from ragpg.db import calls
from ragpg.db.flow import Flow, blocking, run
from ragpg.db.rows import IndexVersion
from ragpg.embedding import Embedder, embedder_for, make_embedder
from ragpg.errors import EmbedderMismatch
from ragpg.retrieval.closing import close

# How long a client may go on with the index version that it saw last. Every search names the version whose embedder
# made its query's vector, so two models are never mixed: after a switch, a client searches the old version for at
# most this long, and a version that was dropped meanwhile is answered with RG004, which makes the client look again.
VERSION_LIFETIME = 5.0


class EmbedderMemory:
    """Index versions seen lately and the embedders made for them. One per client, shared by its threads.

    Parameters
    ----------
    given
        The embedder that the client's owner insists on, as a name or an instance.
    settings
        Where remote models are, and how long they may take.
    lifetime
        Seconds for which a version that was looked up is believed; 0 looks it up every time.
    clock
        Tells the seconds.
    """

    def __init__(
        self,
        given: str | Embedder | None = None,
        *,
        settings: Settings,
        lifetime: float = VERSION_LIFETIME,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.given = None if given == "none" else given
        self.settings = settings
        self._lifetime = lifetime
        self._clock = clock
        self._versions: dict[tuple[str, int | None], tuple[float, IndexVersion]] = {}
        self._embedders: dict[_Model, Embedder] = {}
        self._own: list[Embedder] = []
        # Held while an embedder is made, which may load a model: whoever needs it too waits instead of loading another.
        self._making = threading.Lock()

    def version(
        self, collection: str, index_version: int | None = None, *, fresh: bool = False
    ) -> Flow[IndexVersion]:
        """Look up an index version, the active one by default; ``fresh`` asks the database in any case."""
        key = (collection, index_version)
        seen = self._versions.get(key)
        if not fresh and seen is not None and self._clock() < seen[0] + self._lifetime:
            return seen[1]
        self._versions.pop(key, None)
        found = yield from run(calls.index_version(collection, index_version))
        self._versions[key] = (self._clock(), found)
        return found

    def forget(self, collection: str) -> None:
        """Look the collection's versions up again next time."""
        # A copy, because other threads add versions meanwhile.
        for key in self._versions.copy():
            if key[0] == collection:
                self._versions.pop(key, None)

    def embedder(self, version: IndexVersion) -> Flow[Embedder | None]:
        """Return the version's embedder, made once; ``None`` where the version is for keyword search only.

        Raises
        ------
        EmbedderMismatch
            Where the client's owner insists on another one.
        """
        model = _model_of(version)
        if model is None:
            return None
        found = self._embedders.get(model)
        return (yield from blocking(lambda: self._made_once(model))) if found is None else found

    def chosen(self, embedder: str | Embedder | None) -> Embedder | None:
        """Make the embedder of a new collection, and keep it for its searches. May ask a remote model.

        Parameters
        ----------
        embedder
            A name or an instance, ``"none"`` for keyword search only, ``None`` for the client's or the settings'.

        Returns
        -------
        Embedder | None
            The embedder.
        """
        choice = embedder or self.given or self.settings.embedder
        if choice == "none":
            return None
        made = self._named(choice) if isinstance(choice, str) else choice
        model = _Model(made.provider, made.model, made.dimensions, made.query_prefix, made.document_prefix)
        if isinstance(choice, str):
            return self._embedders.setdefault(model, made)
        self._embedders[model] = made
        return made

    def close(self) -> None:
        """Close the embedders that were made here. An instance that was handed over stays open."""
        with self._making:
            own, self._own = self._own, []
            self._embedders.clear()
        for embedder in own:
            close(embedder)

    def _made_once(self, model: _Model) -> Embedder:
        with self._making:
            if model not in self._embedders:
                self._embedders[model] = self._make(model)
            return self._embedders[model]

    def _named(self, name: str) -> Embedder:
        made = make_embedder(name, **self._options())
        self._own.append(made)
        return made

    def _make(self, model: _Model) -> Embedder:
        given = self.given
        if given is not None:
            wanted = self._named(given) if isinstance(given, str) else given
            found = (wanted.provider, wanted.model, wanted.dimensions)
            if found != model[:3]:
                raise EmbedderMismatch(
                    f"the client was made with {_name(*found)}, but the collection's vectors are of {_name(*model[:3])}: "
                    f"leave embedder out, or create a new index version with this one"
                )
            if not isinstance(given, str):
                if (given.query_prefix, given.document_prefix) != model[3:]:
                    raise EmbedderMismatch(
                        f"the collection's vectors of {_name(*model[:3])} were made with other prefixes than this embedder's"
                    )
                return given
        made = embedder_for(*model, **self._options())
        self._own.append(made)
        return made

    def _options(self) -> _Options:
        return {
            "base_url": self.settings.openai_base_url,
            "timeout": self.settings.request_timeout,
            "max_concurrency": self.settings.embed_concurrency,
        }


class _Model(NamedTuple):
    provider: str
    model: str
    dimensions: int
    query_prefix: str
    document_prefix: str


class _Options(TypedDict):
    base_url: str | None
    timeout: float
    max_concurrency: int


def _model_of(version: IndexVersion) -> _Model | None:
    provider, model, dimensions = version.embedding_provider, version.embedding_model, version.dimensions
    if provider is None or model is None or dimensions is None:
        return None
    return _Model(provider, model, dimensions, version.query_prefix, version.document_prefix)


def _name(provider: str, model: str, dimensions: int) -> str:
    return f"{provider}:{model} with {dimensions} dimensions"
