"""What both clients do between their arguments and the database, without I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, cast

from ragpg.client.chat import ChatModel
from ragpg.db import calls
from ragpg.db.arguments import check_texts, check_type
from ragpg.db.flow import Flow, blocking, run
from ragpg.db.search_calls import SearchArguments
from ragpg.embedding import Embedder
from ragpg.errors import ChunkingError, InvalidArgument
from ragpg.ingest.attributes import Defaults
from ragpg.ingest.sources import PathArgument
from ragpg.ingest.values import acl_or_none, json_mapping
from ragpg.ingest.values import principals as checked_principals
from ragpg.retrieval.memory import EmbedderMemory
from ragpg.retrieval.search import Searcher
from ragpg.types import Answer


def principal_list(principals: Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    """Check a caller's list of principals.

    Parameters
    ----------
    principals
        The list.
    name
        The argument's name, for the message.

    Returns
    -------
    tuple[str, ...] | None
        The same, without repeats.

    Raises
    ------
    InvalidArgument
        Where it is a string, or holds something else than principals.
    """
    try:
        return checked_principals(principals, name)
    except ValueError as error:
        raise InvalidArgument(str(error)) from error


def acl_list(acl: Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    """Check an ACL as :func:`principal_list` does. The wildcard is for those who ask, not for documents.

    Raises
    ------
    InvalidArgument
        Where it is no list of principals, or holds the wildcard.
    """
    try:
        return acl_or_none(acl, name)
    except ValueError as error:
        raise InvalidArgument(str(error)) from error


def readers(acl: Sequence[str], name: str) -> tuple[str, ...]:
    """Check an ACL that must be there; an empty one is nobody.

    Raises
    ------
    InvalidArgument
        Where it is ``None`` or no list of principals.
    """
    checked = acl_list(acl, name)
    if checked is None:
        raise InvalidArgument(f"{name} is None: name who may read, or [] for nobody")
    return checked


def path_list(arguments: Iterable[PathArgument | Sequence[PathArgument]]) -> list[PathArgument]:
    """Flatten paths that are given one by one, in lists, or both.

    Raises
    ------
    InvalidArgument
        Where one is no path.
    """
    paths: list[PathArgument] = []
    for argument in arguments:
        if isinstance(argument, str | PathLike):
            paths.append(argument)
        elif isinstance(argument, list | tuple | set | frozenset):
            paths += path_list(cast("Sequence[PathArgument]", argument))
        else:
            raise InvalidArgument(f"a path is a str or a Path, not {argument!r}")
    return paths


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
        Where the metadata can't be stored as JSON, the ACL is no list, or another one is no text.
    """
    check_texts(tenant_id=tenant_id, title=title, language=language)
    try:
        plain = json_mapping(metadata, "metadata")
    except ValueError as error:
        raise InvalidArgument(str(error)) from error
    return Defaults(acl_list(acl, "acl"), plain, tenant_id, title, language)


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
    if chunking is not None:
        check_type("chunking", chunking, Mapping, 'a mapping such as {"strategy": "recursive"}')
    memory.forget(name)
    chosen = yield from blocking(lambda: memory.chosen(embedder))
    default_readers = acl_list(default_acl, "default_acl")
    spec = yield from blocking(lambda: fitting_chunking(chunking or {}, chosen))
    return (
        yield from run(
            calls.create_collection(
                name,
                language=language,
                chunking=spec,
                default_acl=("public",) if default_readers is None else default_readers,
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
    searcher: Searcher, arguments: SearchArguments, *, chat: ChatModel, max_context_tokens: int
) -> Flow[Answer]:
    """Search, then answer from the hits; see ``Client.ask``."""
    from ragpg.answering import answer_question

    hits = yield from searcher.search(arguments)
    generator = yield from blocking(chat.generator)
    embedder = None
    if generator is None:
        version = yield from searcher.memory.version(arguments.collection)
        embedder = yield from searcher.memory.embedder(version)
    return (
        yield from blocking(
            lambda: answer_question(
                arguments.query,
                hits,
                generator=generator,
                embedder=embedder,
                max_context_tokens=max_context_tokens,
            )
        )
    )
