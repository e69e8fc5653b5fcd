"""What a document carries besides its text, and where that comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from ragpg.db.rows import DocumentState
from ragpg.errors import ParseError
from ragpg.ingest.values import acl_or_none, tenant_or_none, text_or_none
from ragpg.types import ParsedDocument

# As a language: what the text shows.
AUTO = "auto"


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
_PERMISSION_KEYS = ("acl", "tenant", "expires")
# Line ends, indentation and invisible characters before a first line of dashes (or TOML's plus signs).
_FENCE = re.compile(r"[\s\ufeff\u200b]*(?:-{2,}|\+{3,}|[\u2013\u2014]+)")
_CLOSING = re.compile(r"^\s*(?:---|\.\.\.|\+\+\+)", re.MULTILINE)
_NAMES_PERMISSION = re.compile(
    rf"""(?:^|[{{,])[\s*-]*["']?({"|".join(_PERMISSION_KEYS)})["']?\s*[:=]""", re.IGNORECASE | re.MULTILINE
)
_LINES_OF_FRONT_MATTER = 50


def _front_matter(document: ParsedDocument, name: str) -> Attributes:
    values = dict(document.metadata)
    if document.media_type not in _HAS_FRONT_MATTER:
        # What a PDF or an HTML page says of itself was not written to give permissions.
        return Attributes(title=document.title, metadata=values)
    _refuse_unread_permissions(document, name)
    try:
        _refuse_misplaced_permissions(values)
        metadata = values.pop("metadata", None)
        if metadata is not None and not isinstance(metadata, Mapping):
            raise ValueError(f"metadata is a mapping, not {metadata!r}")
        named = cast("Mapping[str, Any]", metadata or {})
        refuse_acl_in_metadata(named)
        return Attributes(
            title=text_or_none(values.pop("title", None), "title"),
            acl=acl_or_none(values.pop("acl", None), "acl"),
            tenant_id=tenant_or_none(values.pop("tenant", None), "tenant"),
            language=text_or_none(values.pop("language", None), "language"),
            expires_at=_expires(values.pop("expires", None)),
            metadata={**values, **named},
        )
    except ValueError as error:
        raise ParseError(f"{name}: {error} (in its front matter)") from error


def _refuse_unread_permissions(document: ParsedDocument, name: str) -> None:
    """Front matter that can't be read stays in the text; one that names permissions must not be passed over."""
    fence = _FENCE.match(document.content)
    if fence is None:
        return
    rest = document.content[fence.end() :]
    first_lines = len("".join(rest.splitlines(keepends=True)[:_LINES_OF_FRONT_MATTER]))
    closing = _CLOSING.search(rest)
    found = _NAMES_PERMISSION.search(rest, 0, max(first_lines, closing.start() if closing else 0))
    if found:
        raise ParseError(
            f"{name} begins like front matter that names {found[1]}, but is none that can be read: the first line must be "
            f"---, the keys must be valid YAML without tabs, and a second --- must end them"
        )


def _refuse_misplaced_permissions(values: Mapping[str, Any]) -> None:
    """Permissions under a key that is not quite theirs would be metadata, and the document open to more people than meant."""
    for key, value in values.items():
        meant = key.strip().lower()
        if meant in _PERMISSION_KEYS and key != meant:
            raise ValueError(f"the key {key!r} must be written {meant!r}")
        if meant in _PERMISSION_KEYS and value is None:
            raise ValueError(f"{key} has no value" + ("; [] is nobody" if key == "acl" else ""))


def refuse_acl_in_metadata(metadata: Mapping[str, Any]) -> None:
    """Refuse metadata that hold an ACL: it would give nobody any rights, and take none away.

    Raises
    ------
    ValueError
        Where a key is ``acl``, however it is written.
    """
    for key in metadata:
        if key.strip().lower() == "acl":
            raise ValueError(
                f"metadata holds {key!r}, which restricts nothing there: put acl beside metadata"
            )


def _expires(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"expires is an ISO date such as 2027-01-31, not {value!r}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
