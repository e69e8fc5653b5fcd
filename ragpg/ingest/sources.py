"""Which files a run reads, and what their documents are called."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from os import PathLike
from pathlib import Path

from ragpg.errors import InvalidArgument
from ragpg.types import FileFailure

PathArgument = str | PathLike[str]


@dataclass(frozen=True, slots=True)
class Source:
    """A file to ingest. ``shown`` is its path for people: as it was named on the command line."""

    path: Path
    external_id: str
    uri: str
    shown: str


@dataclass(slots=True)
class Sources:
    """The files of a run in a fixed order.

    ``roots`` are the folders that were named; ``unread`` the folders among or below them that could not be listed, and the links
    to nothing: nobody knows what they hold.
    """

    files: list[Source] = field(default_factory=list[Source])
    roots: list[Path] = field(default_factory=list[Path])
    unread: list[Path] = field(default_factory=list[Path])
    failures: list[FileFailure] = field(default_factory=list[FileFailure])
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class _Root:
    """A path argument: a folder, or a file (``base`` is what its external id is relative to)."""

    base: Path
    files: tuple[Path, ...]
    folder: bool


def collect(paths: Iterable[PathArgument], suffixes: frozenset[str]) -> Sources:
    """Find the files to ingest.

    Hidden files and folders, and files of other formats, are skipped in folders; of the files that were named themselves those
    of other formats are named in a warning. A document's external id is its path relative to the folder that was
    named (for a single file: its name) with forward slashes. With several arguments it is relative to the deepest
    folder that holds them all: the ids are then those of ingesting that folder, and no two files share one.

    Parameters
    ----------
    paths
        Files, folders, glob patterns.
    suffixes
        The supported ones, in lower case with the dot.

    Returns
    -------
    Sources
        The files, sorted by external id, each once.

    Raises
    ------
    InvalidArgument
        Where a path does not exist.
    """
    arguments = [os.fspath(path) for path in paths]
    for argument in arguments:
        if not has_magic(argument) and not Path(argument).expanduser().exists():
            raise InvalidArgument(f"{argument!r}: there is no such file or folder; nothing was ingested")
    sources = Sources()
    roots: list[_Root] = []
    for argument in arguments:
        roots += _roots(argument, suffixes, sources)
    if not roots:
        return sources
    base = Path(os.path.commonpath([root.base for root in roots]))
    shown_from = Path.cwd()
    found = {path for root in roots for path in root.files}
    for path in sorted(found, key=lambda path: path.relative_to(base).as_posix()):
        external_id = path.relative_to(base).as_posix()
        if any("\ud800" <= character <= "\udfff" for character in external_id):
            sources.failures.append(
                FileFailure(ascii(str(path)), "the file's name is not valid UTF-8: rename it")
            )
            continue
        sources.files.append(Source(path, external_id, path.as_uri(), _shown(path, shown_from)))
    sources.roots = sorted({root.base for root in roots if root.folder})
    return sources


def _roots(argument: str, suffixes: frozenset[str], sources: Sources) -> list[_Root]:
    path = Path(argument).expanduser()
    if path.is_dir():
        # Only the root is resolved: links below it keep the names that people see.
        folder = path.resolve()
        files = _walk(folder, suffixes, sources)
        return [_Root(folder, tuple(files), folder=True)]
    if path.is_file():
        return _file_root(path, argument, suffixes, sources)
    return _glob_roots(path, argument, suffixes, sources)


def _file_root(path: Path, argument: str, suffixes: frozenset[str], sources: Sources) -> list[_Root]:
    folder = path.parent.resolve()
    if path.suffix.lower() not in suffixes:
        sources.warnings.append(f"{argument} is skipped: its format is not supported")
        return []
    return [_Root(folder, (folder / path.name,), folder=False)]


def _glob_roots(path: Path, argument: str, suffixes: frozenset[str], sources: Sources) -> list[_Root]:
    plain = path.parts[: _first_magic(path.parts)]
    base = Path(*plain).resolve() if plain else Path.cwd()
    pattern = os.path.join(*path.parts[len(plain) :])
    names = sorted(glob(pattern, root_dir=base, recursive=True))
    files: list[Path] = []
    for name in names:
        file = base / name
        if file.is_file() and not _hidden(Path(name).parts) and file.suffix.lower() in suffixes:
            files.append(file)
    if not files:
        sources.failures.append(FileFailure(argument, "the pattern matches no file of a supported format"))
        return []
    return [_Root(base, tuple(files), folder=False)]


def _first_magic(parts: Sequence[str]) -> int:
    return next(index for index, part in enumerate(parts) if has_magic(part))


def _walk(folder: Path, suffixes: frozenset[str], sources: Sources) -> list[Path]:
    files: list[Path] = []

    def unread(path: Path, error: OSError) -> None:
        sources.unread.append(path)
        sources.failures.append(
            FileFailure(str(path), f"the folder can't be read: {error.strerror or error}")
        )

    def dangling(path: Path) -> None:
        # What it led to may come back: a folder with a disk that is mounted again.
        sources.unread.append(path)
        if path.suffix.lower() in suffixes:
            sources.failures.append(FileFailure(str(path), "the file can't be read: it is a link to nothing"))
        else:
            sources.warnings.append(f"{path} is skipped: it is a link to nothing")

    _walk_into(folder, (), suffixes, files, unread, dangling)
    return files


def _walk_into(
    folder: Path,
    above: tuple[str, ...],
    suffixes: frozenset[str],
    files: list[Path],
    unread: Callable[[Path, OSError], None],
    dangling: Callable[[Path], None],
) -> None:
    real = os.path.realpath(folder)
    if real in above:
        # A link to a folder that holds it: its files are all found already.
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        unread(folder, error)
        return
    for entry in entries:
        if _hidden((entry.name,)):
            continue
        path = folder / entry.name
        if _leads_nowhere(path):
            dangling(path)
        elif entry.is_dir():
            _walk_into(path, (*above, real), suffixes, files, unread, dangling)
        elif path.suffix.lower() in suffixes and entry.is_file():
            files.append(path)


def _leads_nowhere(path: Path) -> bool:
    return path.is_symlink() and not path.exists()


def _hidden(parts: Sequence[str]) -> bool:
    return any(part.startswith(".") for part in parts)


def _shown(path: Path, base: Path) -> str:
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)
