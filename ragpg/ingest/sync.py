"""Deleting the documents whose files are gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ragpg.db import calls
from ragpg.db.flow import Flow, run
from ragpg.db.rows import DocumentState
from ragpg.ingest.pipeline import Pipeline
from ragpg.ingest.values import batched
from ragpg.types import FileFailure

_AT_ONCE = 500


@dataclass(slots=True)
class Seen:
    """What a run has seen: by this, what it has not seen is gone.

    ``roots`` are the folders that were named, ``external_ids`` the files in them by URI, ``failed`` the URIs of files that
    could not be read, ``unread`` folders of which nobody knows what they hold, ``empty`` named folders without any file to ingest,
    ``tenants`` those that the files belong to.
    """

    roots: Sequence[Path]
    external_ids: dict[str, str]
    unread: Sequence[Path] = ()
    empty: Sequence[Path] = ()
    tenants: set[str | None] = field(default_factory=set[str | None])
    failed: set[str] = field(default_factory=set[str])


def delete_gone(pipeline: Pipeline, seen: Seen) -> Flow[int]:
    """Delete the documents under the named folders whose files are gone or left out by a manifest.

    A document of another folder is never touched, nor one whose file is there but could not be read. A folder that holds no file
    at all is more likely the wrong one, or not mounted: nothing of it is deleted, and that is a failure.

    Returns
    -------
    int
        How many were deleted.
    """
    deleted = 0
    for tenant_id in sorted(seen.tenants, key=lambda tenant: (tenant is not None, tenant)):
        for root in seen.roots:
            names = yield from run(
                calls.external_ids(pipeline.collection, prefix_uri=_prefix(root), tenant_id=tenant_id)
            )
            if names and root in seen.empty:
                pipeline.report.failures.append(
                    FileFailure(
                        str(root),
                        f"the folder holds no file to ingest, while {pipeline.collection} has {len(names)} documents from it: nothing "
                        f"was deleted. If they should go, delete them or the collection",
                    )
                )
                continue
            for some in batched(names, _AT_ONCE):
                states = yield from run(
                    calls.document_states(
                        pipeline.collection,
                        some,
                        tenant_id=tenant_id,
                        index_version=pipeline.version.index_version_id,
                    )
                )
                for state in states.values():
                    if _is_gone(state, pipeline, seen):
                        call = calls.delete_document(
                            pipeline.collection, state.external_id, tenant_id=tenant_id
                        )
                        deleted += yield from run(call)
    return deleted


def _is_gone(state: DocumentState, pipeline: Pipeline, seen: Seen) -> bool:
    uri = state.uri or ""
    if state.document_id in pipeline.known or uri in seen.failed:
        return False
    if any(uri == path.as_uri() or uri.startswith(_prefix(path)) for path in seen.unread):
        return False
    # The file is there. Under another external id the document came from a run over another folder; under the same
    # one it is what the file was before it went to another tenant.
    return uri not in seen.external_ids or seen.external_ids[uri] == state.external_id


def _prefix(folder: Path) -> str:
    return folder.as_uri().rstrip("/") + "/"
