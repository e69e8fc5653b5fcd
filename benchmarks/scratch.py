"""A database that is thrown away after the measurement."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragpg.db.embedded import EmbeddedServer
from ragpg.db.migrate import migrate


@contextmanager
def scratch_database() -> Iterator[str]:
    """The URL of a migrated database on a server of its own, which is gone with the block."""
    with tempfile.TemporaryDirectory(prefix="ragpg-benchmark-") as folder:
        server = EmbeddedServer(Path(folder), durable=False)
        try:
            url = server.start()
            migrate(url)
            yield url
        finally:
            server.stop()
