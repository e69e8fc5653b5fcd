"""What a document carries besides its text, and where that comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from ragpg.db.rows import DocumentState
from ragpg.errors import ParseError
from ragpg.ingest.values import principals, text_or_none
from ragpg.types import ParsedDocument


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the caller says for every document. ``None`` and an empty mapping say nothing."""

    acl: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tenant_id: str | None = None
    title: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is stored with a document's text."""

    title: str | None = None
    uri: str | None = None
    media_type: str | None = None
    language: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    acl: tuple[str, ...] | None = None
    tenant_id: str | None = None
    expires_at: datetime | None = None

    def stored_in(self, state: DocumentState, collection_language: str) -> bool:
        """Whether the stored document has these attributes already. An ACL that says nothing asks for no change."""
        return (
            self.title == state.title
            and self.uri == state.uri
            and self.media_type == state.media_type
            and dict(self.metadata) == dict(state.metadata)
            and self.expires_at == state.expires_at
            and (self.language or collection_language) == state.language
            and (self.acl is None or set(self.acl) == set(state.acl))
        )


def file_attributes(
    document: ParsedDocument, name: str, *, uri: str | None, manifest: Defaults
) -> Attributes:
    """The attributes of a file: its front matter, else the manifests above it, else the caller's arguments.

    Parameters
    ----------
    document
        The parsed file.
    name
        Its name, for the messages.
    uri
        Where it is.
    manifest
        What the manifests and the caller's arguments say.

    Returns
    -------
    Attributes
        Title, ACL and so on; metadata merged key by key.

    Raises
    ------
    ParseError
        Where the front matter says something unusable: permissions are never guessed.
    """
    front = _front_matter(document, name)
    return Attributes(
        title=front.title or manifest.title or document.title,
        uri=uri,
        media_type=document.media_type,
        language=front.language or manifest.language,
        metadata={**manifest.metadata, **front.metadata},
        acl=manifest.acl if front.acl is None else front.acl,
        tenant_id=manifest.tenant_id if front.tenant_id is None else front.tenant_id,
        expires_at=front.expires_at,
    )


def given_attributes(
    document: ParsedDocument,
    name: str,
    *,
    uri: str | None,
    arguments: Defaults,
    expires_at: datetime | None = None,
) -> Attributes:
    """The attributes of a text that came without a file: the arguments, else its front matter.

    The text may be a user's, so the arguments win, and the tenant is theirs alone.
    """
    front = _front_matter(document, name)
    return Attributes(
        title=arguments.title or front.title or document.title,
        uri=uri,
        media_type=document.media_type,
        language=arguments.language or front.language,
        metadata={**front.metadata, **arguments.metadata},
        acl=front.acl if arguments.acl is None else arguments.acl,
        tenant_id=arguments.tenant_id,
        expires_at=expires_at or front.expires_at,
    )


_HAS_FRONT_MATTER = {"text/markdown"}
_PERMISSION_KEYS = ("acl:", "tenant:", "expires:")


def _front_matter(document: ParsedDocument, name: str) -> Attributes:
    values = dict(document.metadata)
    if document.media_type not in _HAS_FRONT_MATTER:
        # What a PDF or an HTML page says of itself was not written to give permissions.
        return Attributes(title=document.title, metadata=values)
    _refuse_unread_permissions(document, name)
    metadata = values.pop("metadata", None)
    if metadata is not None and not isinstance(metadata, Mapping):
        raise ParseError(f"{name}: metadata in the front matter is a mapping, not {metadata!r}")
    named = cast("Mapping[str, Any]", metadata or {})
    try:
        return Attributes(
            title=text_or_none(values.pop("title", None), "title"),
            acl=principals(values.pop("acl", None), "acl"),
            tenant_id=text_or_none(values.pop("tenant", None), "tenant"),
            language=text_or_none(values.pop("language", None), "language"),
            expires_at=_expires(values.pop("expires", None)),
            metadata={**values, **named},
        )
    except ValueError as error:
        raise ParseError(f"{name}: {error} (in its front matter)") from error


def _refuse_unread_permissions(document: ParsedDocument, name: str) -> None:
    """Front matter that is no valid YAML stays in the text; one that names permissions must not be passed over."""
    head, fence, _ = document.content.removeprefix("---\n").partition("\n---")
    if not document.content.startswith("---\n") or not fence:
        return
    found = [key for key in _PERMISSION_KEYS if any(line.startswith(key) for line in head.splitlines())]
    if found:
        raise ParseError(
            f"{name}: its front matter names {found[0][:-1]}, but can't be read as YAML: mend it"
        )


def _expires(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"expires is an ISO date such as 2027-01-31, not {value!r}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
