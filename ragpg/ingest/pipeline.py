"""From documents that were read to documents that are stored, touching only what changed.

Slow work (parsing, chunking, the model) happens between statements, never inside a transaction: each document is written by one
statement, with the vectors ready. A run that is cut off leaves whole documents; the next one does the rest.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import UUID

from ragpg.chunking import Chunker, make_chunker
from ragpg.db import calls
from ragpg.db.flow import Flow, blocking, run
from ragpg.db.rows import DocumentState, IndexVersion, PendingChunk
from ragpg.embedding import Embedder
from ragpg.errors import EmbeddingError, InvalidArgument, MissingExtra, ParseError, RagpgError
from ragpg.ingest import plan
from ragpg.ingest.languages import Languages
from ragpg.ingest.plan import Item, Work
from ragpg.ingest.progress import Meter
from ragpg.ingest.vectors import Vectors
from ragpg.retrieval.memory import EmbedderMemory
from ragpg.types import Chunk, FileFailure, IngestReport, ParsedDocument, UpsertResult

_LOG = logging.getLogger("ragpg.ingest")
# Documents wait for each other until so many of their chunks need a vector, so that the model gets full batches …
_FULL_BATCH = 512
# … or until they hold so much text.
_MOST_CHARACTERS = 8_000_000
_PENDING_AT_ONCE = 500
# After so many failures in a row the model may be down.
_MODEL_IS_DOWN = 2
_HARMLESS = "test"


class Pipeline:
    """One run into one collection.

    Parameters
    ----------
    memory
        The client's embedders.
    collection
        The collection's name.
    meter
        Told how far the run has come.
    strict
        Raise what goes wrong with a document, instead of reporting it and going on.
    shared_transaction
        Statements run inside the caller's transaction: the first that fails aborts it, so the run can't go on.
    """

    version: IndexVersion
    languages: Languages
    _embedder: Embedder | None
    _chunker: Chunker
    _vectors: Vectors | None

    def __init__(
        self,
        memory: EmbedderMemory,
        collection: str,
        *,
        meter: Meter | None = None,
        strict: bool = False,
        shared_transaction: bool = False,
    ) -> None:
        self.collection = collection
        self.report = IngestReport()
        self.meter = meter or Meter()
        self.known: set[UUID] = set()
        self.results: list[UpsertResult] = []
        self._memory = memory
        self._strict = strict
        self._shared_transaction = shared_transaction
        self._waiting: list[Work] = []
        self._model_failures = 0
        self._last_model_error = ""

    def open(self) -> Flow[None]:
        """Look up how this collection's documents are cut and embedded."""
        # Named in every statement that follows, so that a version that is activated meanwhile never gets
        # chunks or vectors that were made for this one.
        self.version = yield from self._memory.version(self.collection, fresh=True)
        self.languages = Languages(self.version.language)
        self._embedder = yield from self._memory.embedder(self.version)
        self._chunker = yield from blocking(lambda: make_chunker(self.version.chunking))
        self._vectors = None if self._embedder is None else Vectors(self._embedder, self.report, self.meter)

    def fail(self, path: str, error: RagpgError) -> None:
        """Report a document that can't be stored, and go on; or raise, where the run is strict."""
        if self._strict:
            raise error
        self.report.failures.append(FileFailure(path, str(error)))
        self.meter.file_done(path)

    def add(self, items: Sequence[Item]) -> Flow[None]:
        """Store documents: at once what needs no vector, the others when there are enough of them."""
        by_tenant: dict[str | None, list[Item]] = {}
        for item in items:
            by_tenant.setdefault(item.attributes.tenant_id, []).append(item)
        for tenant_id, group in by_tenant.items():
            names = [item.external_id for item in group]
            states = yield from run(
                calls.document_states(
                    self.collection,
                    names,
                    tenant_id=tenant_id,
                    index_version=self.version.index_version_id,
                )
            )
            yield from self._warn_of_twins(group, states)
            for item in group:
                yield from self._take(item, states.get(item.external_id))

    def flush(self) -> Flow[None]:
        """Embed and store the documents that wait."""
        works, self._waiting = self._waiting, []
        vectors = yield from self._embed([work.inputs for work in works])
        for work, found in zip(works, vectors, strict=True):
            yield from self._store(work, found)

    def embed_pending(self) -> Flow[None]:
        """Embed the chunks that were stored without a vector: by SQL alone, or while the model was down."""
        version = self.version.index_version_id
        tried: set[UUID] = set()
        failed = 0
        while self._embedder is not None and not self._model_is_down:
            pending = yield from run(
                calls.pending_chunks(
                    # Those that failed come back in every answer, and must not hide the others.
                    self.collection,
                    limit=_PENDING_AT_ONCE + failed,
                    index_version=version,
                )
            )
            documents: dict[UUID, list[PendingChunk]] = {}
            for chunk in pending:
                if chunk.chunk_id not in tried:
                    documents.setdefault(chunk.document_id, []).append(chunk)
                    tried.add(chunk.chunk_id)
            if not documents:
                return
            groups = list(documents.values())
            vectors = yield from self._embed([[chunk.embedding_input for chunk in group] for group in groups])
            for group, found in zip(groups, vectors, strict=True):
                if found is None:
                    failed += len(group)
                    continue
                yield from run(
                    calls.set_embeddings(
                        self.collection,
                        [chunk.document_id for chunk in group],
                        [chunk.chunk_id for chunk in group],
                        found,
                        index_version=version,
                    )
                )

    def finish(self) -> Flow[None]:
        """Report what is left without vectors, and let the term statistics follow a large change."""
        report = self.report
        if not self._last_model_error and report.chunks_written + report.deleted == 0:
            return
        (stats,) = yield from run(calls.collection_stats(self.collection))
        if self._last_model_error and stats.pending:
            report.failures.append(
                FileFailure(
                    self.collection,
                    f"{stats.pending} chunks are stored without vectors, so only keywords find them; the next run embeds "
                    f"them: {self._last_model_error}",
                )
            )
        if plan.needs_statistics(report, stats):
            yield from run(calls.refresh_statistics(self.collection))

    def _take(self, item: Item, state: DocumentState | None) -> Flow[None]:
        document_id = None if state is None else state.document_id
        if document_id is not None:
            self.known.add(document_id)
        try:
            language = yield from self.languages.of(item, state)
        except (InvalidArgument, MissingExtra) as error:
            self.fail(item.shown, error)
            return
        item = replace(item, attributes=replace(item.attributes, language=language))
        if state is not None and plan.is_current(item, state, self.version):
            self.results.append(UpsertResult(state.document_id, "unchanged", 0, 0, 0))
            self.report.unchanged += 1
            self.report.reused += state.chunk_count - state.pending if self._embedder else 0
            self.meter.file_done(item.shown)
            return
        try:
            chunks = yield from blocking(functools.partial(self._chunk, item))
        except RagpgError as error:
            self.fail(item.shown, error)
            return
        missing = yield from self._missing(document_id, chunks)
        work = Work(item, chunks, missing)
        if self._embedder is not None:
            self.report.reused += len(chunks) - len(missing)
        if not missing:
            yield from self._store(work, [])
            return
        self._waiting.append(work)
        if (
            sum(len(each.missing) for each in self._waiting) >= _FULL_BATCH
            or sum(len(each.item.document.content) for each in self._waiting) >= _MOST_CHARACTERS
        ):
            yield from self.flush()

    def _missing(self, document_id: UUID | None, chunks: Sequence[Chunk]) -> Flow[list[int]]:
        if self._embedder is None:
            return []
        if document_id is None:
            return plan.missing_vectors(None, chunks, {})
        stored = yield from run(
            calls.chunk_states(self.collection, document_id, index_version=self.version.index_version_id)
        )
        return plan.missing_vectors(document_id, chunks, stored)

    def _chunk(self, item: Item) -> list[Chunk]:
        return self._chunker.chunk(titled(item.document, item.attributes.title))

    def _embed(self, groups: Sequence[Sequence[str]]) -> Flow[list[Sequence[str] | None]]:
        """Vectors for the inputs of each document, all in one go; ``None`` where the model can't."""
        if self._vectors is None or self._model_is_down:
            return [None for _ in groups]
        try:
            literals = iter((yield from self._vectors.of([text for group in groups for text in group])))
        except EmbeddingError as error:
            if self._strict:
                raise
            if len(groups) == 1:
                _LOG.warning("the embedder failed: %s", error)
                self._model_failures += 1
                self._last_model_error = str(error)
                if self._model_is_down and (yield from blocking(self._model_answers)):
                    self._model_failures = 0
                return [None]
        else:
            self._model_failures = 0
            return [[next(literals) for _ in group] for group in groups]
        # One bad input must not cost the other documents their vectors.
        result: list[Sequence[str] | None] = []
        for group in groups:
            result += yield from self._embed([group])
        return result

    def _model_answers(self) -> bool:
        """Whether the model takes a harmless text: then it was the documents after all."""
        assert self._embedder is not None
        try:
            self._embedder.embed_documents([_HARMLESS])
        except EmbeddingError:
            return False
        return True

    @property
    def _model_is_down(self) -> bool:
        return self._model_failures >= _MODEL_IS_DOWN

    def _store(self, work: Work, vectors: Sequence[str] | None) -> Flow[None]:
        item, attributes = work.item, work.item.attributes
        if self._embedder is None:
            embeddings = None
        elif vectors is None:
            embeddings = [None for _ in work.chunks]
        else:
            embeddings = work.embeddings(vectors)
        try:
            result = yield from run(
                calls.upsert_document(
                    self.collection,
                    item.external_id,
                    item.document.content,
                    title=attributes.title,
                    uri=attributes.uri,
                    media_type=attributes.media_type,
                    language=attributes.language,
                    metadata=attributes.metadata,
                    acl=attributes.acl,
                    tenant_id=attributes.tenant_id,
                    expires_at=attributes.expires_at,
                    chunks=work.chunks,
                    embeddings=embeddings,
                    index_version=self.version.index_version_id,
                )
            )
        except RagpgError as error:
            aborted = self._shared_transaction and plan.came_from_database(error)
            if aborted or not plan.is_fault_of_document(error):
                raise
            self.fail(item.shown, error)
            return
        self._count(result)
        self.meter.file_done(item.shown)

    def _count(self, result: UpsertResult) -> None:
        report = self.report
        self.known.add(result.document_id)
        self.results.append(result)
        match result.status:
            case "created":
                report.created += 1
            case "updated":
                report.updated += 1
            case "attributes":
                report.attributes += 1
            case "unchanged":
                report.unchanged += 1
        report.chunks_written += result.chunks_written

    def _warn_of_twins(self, items: Sequence[Item], states: Mapping[str, DocumentState]) -> Flow[None]:
        """Say so where a document takes the place of another file's, which is still there."""
        for item in items:
            state = states.get(item.external_id)
            old, new = (state and state.uri) or "", item.attributes.uri or ""
            files = old.startswith("file://") and new.startswith("file://")
            if old != new and files and (yield from blocking(functools.partial(_other_file, old, new))):
                self.report.warnings.append(
                    f"{item.shown} takes the place of the document {item.external_id!r} from {_path(old)}, which is "
                    f"still there: to have both, ingest the folder above them"
                )


def titled(document: ParsedDocument, title: str | None) -> ParsedDocument:
    """The document under the title that it is stored with; the chunks' headings begin with it."""
    if document.title == title:
        return document
    return ParsedDocument(
        content=document.content,
        blocks=document.blocks,
        title=title,
        media_type=document.media_type,
        metadata=document.metadata,
        warnings=document.warnings,
    )


def guarded(parse: functools.partial[ParsedDocument], name: str) -> ParsedDocument:
    """Run a parser; whatever a format's library trips over is this file's error, not the run's."""
    try:
        return parse()
    except RagpgError:
        raise
    except Exception as error:
        _LOG.exception("the parser failed on %s", name)
        raise ParseError(f"{name} can't be parsed: {type(error).__name__}: {error}") from error


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


def _other_file(old: str, new: str) -> bool:
    try:
        return not _path(old).samefile(_path(new))
    except OSError:
        return False
