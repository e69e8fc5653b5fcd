"""What both clients do between their arguments and the database, without I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragpg.config import Settings
from ragpg.db import calls
from ragpg.db.flow import Flow, blocking, run
from ragpg.db.search_calls import SearchArguments
from ragpg.embedding import Embedder
from ragpg.errors import ChunkingError, InvalidArgument
from ragpg.ingest.attributes import Defaults
from ragpg.ingest.values import json_mapping
from ragpg.retrieval.memory import EmbedderMemory
from ragpg.retrieval.search import Searcher
from ragpg.types import Answer


def principal_list(principals: Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    """Check a list of principals. A single string is a list of letters to Python, and a mistake to everyone else.

    Parameters
    ----------
    principals
        The list.
    name
        The argument's name, for the message.

    Returns
    -------
    tuple[str, ...] | None
        The same, for good.

    Raises
    ------
    InvalidArgument
        Where it is a string, or holds something else than strings.
    """
    if principals is None:
        return None
    if isinstance(principals, str) or not all(isinstance(each, str) for each in principals):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgument(
            f"{name} is a list of strings such as ['user:ana', 'group:hr'], not {principals!r}"
        )
    return tuple(principals)


def defaults(
    acl: Sequence[str] | None,
    metadata: Mapping[str, Any] | None,
    tenant_id: str | None,
    *,
    title: str | None = None,
    language: str | None = None,
) -> Defaults:
    """What a caller's arguments say of a document.

    Raises
    ------
    InvalidArgument
        Where the metadata can't be stored as JSON, or the ACL is no list.
    """
    try:
        plain = json_mapping(metadata, "metadata")
    except ValueError as error:
        raise InvalidArgument(str(error)) from error
    return Defaults(principal_list(acl, "acl"), plain, tenant_id, title, language)


def create_collection(
    memory: EmbedderMemory,
    name: str,
    *,
    embedder: str | Embedder | None,
    chunking: Mapping[str, Any] | None,
    language: str,
    default_acl: Sequence[str] | None,
) -> Flow[int]:
    """Create a collection whose chunks fit its embedder; see ``Client.create_collection``."""
    memory.forget(name)
    chosen = yield from blocking(lambda: memory.chosen(embedder))
    readers = principal_list(default_acl, "default_acl")
    spec = yield from blocking(lambda: fitting_chunking(chunking or {}, chosen))
    return (
        yield from run(
            calls.create_collection(
                name,
                language=language,
                chunking=spec,
                default_acl=("public",) if readers is None else readers,
                embedding_provider=chosen.provider if chosen else None,
                embedding_model=chosen.model if chosen else None,
                embedding_dimensions=chosen.dimensions if chosen else None,
                query_prefix=chosen.query_prefix if chosen else "",
                document_prefix=chosen.document_prefix if chosen else "",
            )
        )
    )


def fitting_chunking(spec: Mapping[str, Any], embedder: Embedder | None) -> dict[str, Any]:
    """Complete a chunking so that every chunk is embedded whole.

    Parameters
    ----------
    spec
        What the caller asks for.
    embedder
        The collection's; its own tokenizer does the counting.

    Returns
    -------
    dict[str, Any]
        The chunking that the collection remembers.

    Raises
    ------
    ChunkingError
        Where chunks would not fit the embedder.
    """
    from ragpg.chunking import DEFAULT_CHUNKING, normalise_spec

    if embedder is None:
        return normalise_spec(spec)
    tokenizer = "local" if embedder.provider == "local" else "cl100k_base"
    room = embedder.max_tokens
    if embedder.document_prefix:
        room -= embedder.count_tokens(embedder.document_prefix) or len(embedder.document_prefix)
    wanted = {"tokenizer": tokenizer, "max_tokens": min(DEFAULT_CHUNKING["max_tokens"], room), **spec}
    normal = normalise_spec(wanted)
    if tokenizer == "local" and normal["tokenizer"] != tokenizer:
        raise ChunkingError(
            "the local embedder's input is counted with the tokenizer 'local': leave tokenizer out"
        )
    if normal["max_tokens"] > room:
        raise ChunkingError(
            f"chunks of {normal['max_tokens']} tokens don't fit the embedder {embedder.model}, which takes {room}: "
            f"lower max_tokens"
        )
    return normal


def ask(
    searcher: Searcher, arguments: SearchArguments, *, chat_model: str | None, settings: Settings
) -> Flow[Answer]:
    """Search, then answer from the hits; see ``Client.ask``."""
    from ragpg.answering import OpenAIGenerator, answer_question

    hits = yield from searcher.search(arguments)
    generator = embedder = None
    if chat_model is None or chat_model == "none":
        version = yield from searcher.memory.version(arguments.collection)
        embedder = yield from searcher.memory.embedder(version)
    else:
        generator = OpenAIGenerator(
            chat_model, base_url=settings.openai_base_url, timeout=settings.request_timeout
        )
    return (
        yield from blocking(
            lambda: answer_question(arguments.query, hits, generator=generator, embedder=embedder)
        )
    )
