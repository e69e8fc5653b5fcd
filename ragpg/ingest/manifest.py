"""``.ragpg.yaml``: who may read the files of a folder and the folders in it, and what else is known of them.

.. code-block:: yaml

    acl: [group:hr]              # who may read
    metadata: {team: hr}         # merged key by key, the deeper folder wins
    language: english
    tenant: acme
    exclude: ["drafts/", "*.tmp.md"]
    files:
      "salaries*.md": {acl: [group:hr-leads], title: Salaries}

Within one manifest a pattern under ``files`` is more specific than the folder's own keys, and a later pattern wins over an
earlier one. A deeper folder wins over a higher one. Manifests above the named folder count as well: ingesting
a sub-folder must not give its files other readers than ingesting the whole.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from ragpg.db.languages import is_known
from ragpg.errors import ConfigError
from ragpg.ingest.attributes import AUTO, Defaults, refuse_acl_in_metadata
from ragpg.ingest.globs import matches
from ragpg.ingest.values import acl_or_none, json_mapping, tenant_or_none, text_or_none

MANIFEST_NAME = ".ragpg.yaml"
_ENTRY_KEYS = {"acl", "metadata", "title", "language", "tenant"}
_FOLDER_KEYS = {"acl", "metadata", "language", "tenant", "files", "exclude"}
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Manifest:
    """One ``.ragpg.yaml``."""

    folder: Path
    entry: Defaults = field(default_factory=Defaults)
    files: tuple[tuple[str, Defaults], ...] = ()
    exclude: tuple[str, ...] = ()

    def excludes(self, path: Path) -> bool:
        """Whether a file below the folder is left out."""
        relative = path.relative_to(self.folder).as_posix()
        return any(matches(pattern, relative) for pattern in self.exclude)

    def languages(self) -> Iterator[tuple[str, str]]:
        """The languages that it names, each with its key."""
        entries = (("", self.entry), *((f"files.{pattern}.", entry) for pattern, entry in self.files))
        for prefix, entry in entries:
            if entry.language is not None:
                yield f"{prefix}language", entry.language

    def apply(self, above: Defaults, path: Path) -> Defaults:
        """What holds for a file, given what the folders above say."""
        relative = path.relative_to(self.folder).as_posix()
        result = _merge(above, self.entry)
        for pattern, entry in self.files:
            if matches(pattern, relative):
                result = _merge(result, entry)
        return result


@dataclass(slots=True)
class Manifests:
    """The manifests of a run, each read once.

    A folder whose manifest can't be used stays in ``broken``: nothing below it may be ingested, because nobody
    knows who may read it.
    """

    arguments: Defaults
    known_languages: frozenset[str]
    broken: dict[Path, str] = field(default_factory=dict[Path, str])
    _read: dict[Path, Manifest | None] = field(default_factory=dict[Path, "Manifest | None"])

    def resolve(self, path: Path) -> Defaults | None:
        """What the manifests above a file and the caller's arguments say of it.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Defaults | None
            ``None`` where a manifest leaves the file out.

        Raises
        ------
        ConfigError
            Where a manifest above the file can't be used.
        """
        result = self.arguments
        for folder in reversed(path.parents):
            manifest = self._manifest(folder)
            if manifest is None:
                continue
            if manifest.excludes(path):
                return None
            result = manifest.apply(result, path)
        return result

    def _manifest(self, folder: Path) -> Manifest | None:
        if folder in self.broken:
            raise ConfigError(self.broken[folder])
        if folder not in self._read:
            try:
                self._read[folder] = self._checked(read_manifest(folder))
            except ConfigError as error:
                self.broken[folder] = str(error)
                raise
        return self._read[folder]

    def _checked(self, manifest: Manifest | None) -> Manifest | None:
        if manifest is None:
            return None
        for key, language in manifest.languages():
            if language != AUTO and not is_known(language, self.known_languages):
                raise ConfigError(
                    f"{manifest.folder / MANIFEST_NAME}: {key} is {language!r}, which is no text-search configuration of the database"
                )
        return manifest


def read_manifest(folder: Path) -> Manifest | None:
    """Read a folder's ``.ragpg.yaml``.

    Parameters
    ----------
    folder
        The folder.

    Returns
    -------
    Manifest | None
        ``None`` where it has none.

    Raises
    ------
    ConfigError
        Where it can't be read or says something unusable; the message names the file and the key.
    """
    path = folder / MANIFEST_NAME
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror or error}") from error
    try:
        if len(data) > _MAX_BYTES:
            raise ValueError(f"over {_MAX_BYTES} bytes")
        loaded = yaml.load(data.decode("utf-8-sig"), Loader=_Loader)
        return _manifest(folder, loaded)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is no valid YAML: {' '.join(str(error).split())}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _manifest(folder: Path, loaded: object) -> Manifest:
    values = _mapping(loaded, "the manifest", _FOLDER_KEYS)
    files = values.get("files")
    if files is not None and not isinstance(files, Mapping):
        raise ValueError(f"files is a mapping from patterns to settings, not {files!r}")
    patterns = cast("Mapping[object, object]", files or {})
    return Manifest(
        folder=folder,
        entry=_entry(values, ""),
        files=tuple(
            (
                _pattern(pattern, "files"),
                _entry(_mapping(entry, f"files.{pattern}", _ENTRY_KEYS), f"files.{pattern}."),
            )
            for pattern, entry in patterns.items()
        ),
        exclude=tuple(_pattern(pattern, "exclude") for pattern in _patterns(values.get("exclude"))),
    )


def _entry(values: Mapping[str, object], prefix: str) -> Defaults:
    for key in ("acl", "tenant"):
        if key in values and values[key] is None:
            raise ValueError(f"{prefix}{key} has no value")
    metadata = json_mapping(values.get("metadata"), f"{prefix}metadata")
    refuse_acl_in_metadata(metadata)
    return Defaults(
        acl=acl_or_none(values.get("acl"), f"{prefix}acl"),
        metadata=metadata,
        tenant_id=tenant_or_none(values.get("tenant"), f"{prefix}tenant"),
        title=text_or_none(values.get("title"), f"{prefix}title"),
        language=text_or_none(values.get("language"), f"{prefix}language"),
    )


def _mapping(value: object, what: str, keys: set[str]) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} is a mapping, not {value!r}")
    mapping = cast("Mapping[object, object]", value)
    # A misspelt acl would otherwise leave the files readable by everyone.
    unknown = [str(key) for key in mapping if key not in keys]
    if unknown:
        raise ValueError(f"{what} has the unknown key {unknown[0]!r}; there are: {', '.join(sorted(keys))}")
    return cast("Mapping[str, object]", mapping)


def _patterns(value: object) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"exclude is a list of patterns, not {value!r}")
    return cast("list[object]", value)


def _pattern(value: object, key: str) -> str:
    if not isinstance(value, str) or not value.strip("/ "):
        raise ValueError(f"{key} holds {value!r}, which is no file name pattern")
    return value


def _merge(above: Defaults, below: Defaults) -> Defaults:
    return Defaults(
        acl=above.acl if below.acl is None else below.acl,
        metadata={**above.metadata, **below.metadata},
        tenant_id=above.tenant_id if below.tenant_id is None else below.tenant_id,
        title=above.title if below.title is None else below.title,
        language=above.language if below.language is None else below.language,
    )


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice: of two ACLs the reader can't know which one holds."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = cast("object", self.construct_object(key_node, deep=True))  # pyright: ignore[reportUnknownMemberType]
            if isinstance(key, Hashable):
                if key in seen:
                    raise ValueError(f"the key {key!r} is given twice")
                seen.add(key)
        return super().construct_mapping(node, deep)
