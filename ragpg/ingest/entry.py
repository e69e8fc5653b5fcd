"""The ways in: files and folders, one file in memory, one text."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from ragpg.db.arguments import check_texts, check_type
from ragpg.db.flow import Flow, blocking
from ragpg.errors import ConfigError, InvalidArgument, MissingExtra, ParseError, RagpgError
from ragpg.ingest.attributes import Defaults, file_attributes, given_attributes
from ragpg.ingest.manifest import Manifests
from ragpg.ingest.pipeline import Pipeline, guarded
from ragpg.ingest.plan import Item
from ragpg.ingest.progress import IngestProgress, Meter
from ragpg.ingest.sources import PathArgument, Source, collect
from ragpg.ingest.sync import Seen, delete_gone
from ragpg.ingest.values import batched
from ragpg.parsing import parse, parse_path, supported_suffixes
from ragpg.retrieval.memory import EmbedderMemory
from ragpg.types import FileFailure, IngestReport, UpsertResult

# How many files are compared with the database in one statement.
_FILES_AT_ONCE = 32


def ingest_paths(
    memory: EmbedderMemory,
    collection: str,
    paths: Sequence[PathArgument],
    *,
    defaults: Defaults,
    sync: bool,
    on_progress: Callable[[IngestProgress], None] | None,
    shared_transaction: bool,
) -> Flow[IngestReport]:
    """Ingest files and folders; see ``Client.ingest``."""
    if not paths:
        raise InvalidArgument("name at least one file or folder to ingest")
    pipeline = Pipeline(memory, collection, meter=Meter(on_progress), shared_transaction=shared_transaction)
    yield from pipeline.open()
    yield from pipeline.languages.check(defaults.language)
    languages = yield from pipeline.languages.known()
    found = yield from blocking(lambda: _find(paths, defaults, languages))
    report = pipeline.report
    report.failures += found.failures
    report.warnings += found.warnings
    pipeline.meter.files(len(found.files))
    try:
        yield from _ingest_files(pipeline, found.files, found.seen)
        if sync:
            if not found.seen.roots:
                report.warnings.append("sync deletes what is gone from a folder, and no folder was named")
            report.deleted = yield from delete_gone(pipeline, found.seen)
        yield from pipeline.embed_pending()
        yield from pipeline.finish()
    except RagpgError as error:
        stored = report.created + report.updated + report.attributes
        error.add_note(f"{stored} documents were written before; run again to complete")
        raise
    return report


def ingest_one(
    memory: EmbedderMemory,
    collection: str,
    data: bytes,
    *,
    external_id: str,
    media_type: str | None,
    uri: str | None,
    arguments: Defaults,
    shared_transaction: bool,
) -> Flow[IngestReport]:
    """Ingest one file that is in memory; see ``Client.ingest_bytes``."""
    check_type("data", data, bytes, "bytes")
    check_type("external_id", external_id, str, "a text")
    check_texts(external_id=external_id, media_type=media_type, uri=uri)
    pipeline = Pipeline(memory, collection, shared_transaction=shared_transaction)
    yield from pipeline.open()
    yield from pipeline.languages.check(arguments.language)
    try:
        item = yield from blocking(
            lambda: _given_item(data, external_id, media_type, uri=uri, arguments=arguments)
        )
    except (ParseError, MissingExtra) as error:
        pipeline.fail(external_id, error)
        return pipeline.report
    pipeline.report.warnings += [f"{external_id}: {warning}" for warning in item.document.warnings]
    yield from pipeline.add([item])
    yield from pipeline.flush()
    yield from pipeline.finish()
    return pipeline.report


def upsert_text(
    memory: EmbedderMemory,
    collection: str,
    content: str,
    *,
    external_id: str,
    media_type: str | None,
    uri: str | None,
    arguments: Defaults,
    expires_at: datetime | None,
) -> Flow[UpsertResult]:
    """Store one text; see ``Client.upsert_document``."""
    check_type("content", content, str, "a text")
    check_type("external_id", external_id, str, "a text")
    check_texts(external_id=external_id, media_type=media_type, uri=uri)
    if not content or content.isspace():
        raise InvalidArgument(f"document {external_id!r} has no content; delete_document deletes one")
    if expires_at is not None:
        check_type("expires_at", expires_at, datetime, "a datetime")
        if expires_at.tzinfo is None:
            raise InvalidArgument("expires_at needs a time zone")
    pipeline = Pipeline(memory, collection, strict=True)
    yield from pipeline.open()
    item = yield from blocking(
        lambda: _given_item(
            content.encode("utf-8", "surrogatepass"),
            external_id,
            # The text is in no encoding any more, whatever the file was in.
            (media_type or "text/plain").partition(";")[0].strip(),
            uri=uri,
            arguments=arguments,
            expires_at=expires_at,
        )
    )
    yield from pipeline.add([item])
    yield from pipeline.flush()
    return replace(pipeline.results[0], warnings=item.document.warnings)


def _ingest_files(pipeline: Pipeline, files: Sequence[tuple[Source, Defaults]], seen: Seen) -> Flow[None]:
    for batch in batched(files, _FILES_AT_ONCE):
        items: list[Item] = []
        for source, defaults in batch:
            try:
                item = yield from blocking(functools.partial(_file_item, source, defaults))
            except (ParseError, MissingExtra) as error:
                seen.failed.add(source.uri)
                pipeline.fail(source.shown, error)
                continue
            seen.tenants.add(item.attributes.tenant_id)
            pipeline.report.warnings += [f"{source.shown}: {warning}" for warning in item.document.warnings]
            items.append(item)
        if items:
            yield from pipeline.add(items)
    yield from pipeline.flush()


def _file_item(source: Source, defaults: Defaults) -> Item:
    document = guarded(functools.partial(parse_path, source.path), source.shown)
    attributes = file_attributes(document, source.shown, uri=source.uri, manifest=defaults)
    return Item(source.external_id, source.shown, document, attributes)


def _given_item(
    data: bytes,
    external_id: str,
    media_type: str | None,
    *,
    uri: str | None,
    arguments: Defaults,
    expires_at: datetime | None = None,
) -> Item:
    parser = functools.partial(parse, data, name=external_id, media_type=media_type)
    document = guarded(parser, external_id)
    attributes = given_attributes(document, external_id, uri=uri, arguments=arguments, expires_at=expires_at)
    return Item(external_id, external_id, document, attributes)


@dataclass(slots=True)
class _Found:
    files: list[tuple[Source, Defaults]]
    failures: list[FileFailure]
    warnings: list[str]
    seen: Seen


def _find(paths: Sequence[PathArgument], defaults: Defaults, known_languages: frozenset[str]) -> _Found:
    """List the files of a run with what the manifests say of each; files below a broken manifest are left out."""
    sources = collect(paths, supported_suffixes())
    manifests = Manifests(defaults, known_languages)
    files: list[tuple[Source, Defaults]] = []
    withheld: Counter[Path] = Counter()
    for source in sources.files:
        try:
            resolved = manifests.resolve(source.path)
        except ConfigError:
            withheld[next(folder for folder in source.path.parents if folder in manifests.broken)] += 1
            continue
        if resolved is not None:
            files.append((source, resolved))
    failures = [
        FileFailure(
            str(folder),
            f"{manifests.broken[folder]}. Nobody knows who may read the {count} files below it: none was ingested",
        )
        for folder, count in withheld.items()
    ]
    seen = Seen(
        roots=sources.roots,
        external_ids={source.uri: source.external_id for source, _ in files},
        unread=[*sources.unread, *manifests.broken],
        empty=[
            root
            for root in sources.roots
            if not any(source.path.is_relative_to(root) for source in sources.files)
        ],
        tenants={defaults.tenant_id, *(resolved.tenant_id for _, resolved in files)},
    )
    return _Found(files, sources.failures + failures, sources.warnings, seen)
