"""From the name of an embedder to the embedder."""

from __future__ import annotations

import re

from ragpg.embedding.base import Embedder
from ragpg.embedding.hash import HashEmbedder
from ragpg.embedding.local import LocalEmbedder
from ragpg.errors import ConfigError

_CHOICES = (
    "local (all-MiniLM-L6-v2 on this machine), openai:MODEL or openai:MODEL@DIMENSIONS (such as "
    "openai:text-embedding-3-small@512; any OpenAI-compatible endpoint), hash or hash:DIMENSIONS (tests only)"
)
# Only digits after the last @ are dimensions: names such as @cf/baai/bge-m3 hold one themselves.
_OPENAI = re.compile(r"openai:(?P<model>.+?)(?:@(?P<dimensions>[0-9]+))?")
_HASH = re.compile(r"hash(?::(?P<dimensions>[0-9]+))?")


def make_embedder(
    spec: str,
    *,
    query_prefix: str = "",
    document_prefix: str = "",
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 60.0,
    max_concurrency: int = 4,
) -> Embedder:
    """Make an embedder from its name.

    Parameters
    ----------
    spec
        ``local``, ``openai:MODEL``, ``openai:MODEL@DIMENSIONS``, ``hash`` or ``hash:DIMENSIONS``.
    query_prefix, document_prefix
        Put before queries and documents, for asymmetric models.
    base_url, api_key, timeout, max_concurrency
        For ``openai`` only; see :class:`ragpg.embedding.openai.OpenAIEmbedder`.

    Returns
    -------
    Embedder
        The embedder. Nothing has been loaded and nobody asked yet.

    Raises
    ------
    ConfigError
        Where there is no such embedder. The message lists the choices.
    """
    if spec == "local":
        return LocalEmbedder(query_prefix=query_prefix, document_prefix=document_prefix)
    if (match := _HASH.fullmatch(spec)) is not None:
        dimensions = int(match["dimensions"] or 64)
        return HashEmbedder(dimensions, query_prefix=query_prefix, document_prefix=document_prefix)
    if (match := _OPENAI.fullmatch(spec)) is not None:
        # Here, so that nobody else pays for importing tiktoken.
        from ragpg.embedding.openai import OpenAIEmbedder

        return OpenAIEmbedder(
            match["model"],
            dimensions=int(match["dimensions"]) if match["dimensions"] else None,
            query_prefix=query_prefix,
            document_prefix=document_prefix,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            max_concurrency=max_concurrency,
        )
    raise ConfigError(f"there is no embedder {spec!r}; choose {_CHOICES}")


def embedder_for(
    provider: str,
    model: str,
    dimensions: int,
    query_prefix: str = "",
    document_prefix: str = "",
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 60.0,
    max_concurrency: int = 4,
) -> Embedder:
    """Make the embedder that an index version remembers.

    Parameters
    ----------
    provider, model, dimensions, query_prefix, document_prefix
        As the database has them.
    base_url, api_key, timeout, max_concurrency
        For ``openai`` only; see :class:`ragpg.embedding.openai.OpenAIEmbedder`.

    Returns
    -------
    Embedder
        An embedder whose vectors compare with those of the index version.

    Raises
    ------
    ConfigError
        Where this version of ragpg has no such embedder.
    """
    if (provider, model, dimensions) == (
        LocalEmbedder.provider,
        LocalEmbedder.model,
        LocalEmbedder.dimensions,
    ):
        spec = "local"
    elif (provider, model) == (HashEmbedder.provider, HashEmbedder.model):
        spec = f"hash:{dimensions}"
    elif provider == "openai":
        spec = f"openai:{model}@{dimensions}"
    else:
        raise ConfigError(
            f"this version of ragpg can't make vectors of {provider}:{model} with {dimensions} dimensions: pass an "
            f"embedder object of your own, or reindex with one of {_CHOICES}"
        )
    return make_embedder(
        spec,
        query_prefix=query_prefix,
        document_prefix=document_prefix,
        base_url=base_url,
        api_key=api_key,
        timeout=timeout,
        max_concurrency=max_concurrency,
    )
