"""How far an ingest run has come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """A moment of an ingest run. ``chunks_total`` grows while files are read; ``path`` is the file that was finished last."""

    files_done: int
    files_total: int
    chunks_embedded: int
    chunks_total: int
    path: str


class Meter:
    """Counts, and tells the caller. Embedders report from their own threads.

    Parameters
    ----------
    on_progress
        Whom to tell.
    """

    def __init__(self, on_progress: Callable[[IngestProgress], None] | None = None) -> None:
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._files_done = self._files_total = self._chunks_embedded = self._chunks_total = 0
        self._path = ""

    def files(self, count: int) -> None:
        """There are so many files."""
        self._files_total = count
        self._tell()

    def file_done(self, path: str) -> None:
        """A file is stored, skipped or has failed."""
        with self._lock:
            self._files_done += 1
            self._path = path
        self._tell()

    def chunks(self, count: int) -> None:
        """So many more chunks are to be embedded."""
        with self._lock:
            self._chunks_total += count
        self._tell()

    def embedded(self, count: int) -> None:
        """So many more chunks have their vector."""
        with self._lock:
            self._chunks_embedded += count
        self._tell()

    def _tell(self) -> None:
        if self._on_progress is not None:
            self._on_progress(
                IngestProgress(
                    self._files_done,
                    self._files_total,
                    self._chunks_embedded,
                    self._chunks_total,
                    self._path,
                )
            )
