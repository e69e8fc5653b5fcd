"""Progress on long work, on standard error where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragpg.cli.output import one_line

if TYPE_CHECKING:
    from ragpg.ingest import IngestProgress


@contextmanager
def ingest_progress(*, shown: bool) -> Generator[Callable[[IngestProgress], None] | None]:
    """Show a progress bar while the block runs.

    Parameters
    ----------
    shown
        False for ``--json``. Where standard error is no terminal, nothing is shown either.

    Yields
    ------
    Callable[[IngestProgress], None] | None
        What ``Client.ingest`` takes as ``on_progress``.
    """
    if not shown or not _watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[path]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        files = progress.add_task("documents", total=None, path="")
        vectors = progress.add_task("vectors", total=None, path="")

        def update(step: IngestProgress) -> None:
            progress.update(
                files, total=step.files_total, completed=step.files_done, path=one_line(step.path, 50)
            )
            progress.update(vectors, total=step.chunks_total or None, completed=step.chunks_embedded)

        yield update


@contextmanager
def waiting(text: str, *, shown: bool) -> Generator[None]:
    """Show a spinner while the block runs.

    Parameters
    ----------
    text
        What is being done.
    shown
        False for ``--json``. Where standard error is no terminal, nothing is shown either.
    """
    if not shown or not _watched():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def _watched() -> bool:
    return sys.stderr.isatty()
