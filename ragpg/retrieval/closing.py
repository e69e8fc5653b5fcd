"""Closing what holds connections, where it can be closed: an embedder or a generator need not have a ``close``."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Closable(Protocol):
    """Holds something, such as HTTP connections, until it is closed."""

    def close(self) -> None:
        """Let go of it."""
        ...


def close(each: object) -> None:
    """Close an object that offers it; nothing happens to any other.

    Parameters
    ----------
    each
        The object.
    """
    if isinstance(each, Closable):
        each.close()
