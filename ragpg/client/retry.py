"""Which failed statements are worth another try, and when."""

from __future__ import annotations

import random

from ragpg.errors import DatabaseUnavailable, RagpgError

# serialization failure, deadlock detected: the other transaction has won, and this one has left nothing behind
_LOST_A_RACE = {"40001", "40P01"}
_RACE_ATTEMPTS = 8
_CONNECTION_ATTEMPTS = 3


def connection_lost(error: RagpgError) -> bool:
    """Whether the statement failed because its connection died, which a new connection may mend."""
    return isinstance(error, DatabaseUnavailable)


def retry_delay(error: RagpgError, attempt: int, *, reconnect: bool) -> float | None:
    """How long to wait before the statement is tried again.

    Parameters
    ----------
    error
        Why it failed.
    attempt
        How many times it was tried, from 1.
    reconnect
        Whether it may be sent again on a new connection where it has lost its own: nobody knows then whether it was
        committed.

    Returns
    -------
    float | None
        Seconds, or ``None`` to give up.
    """
    if getattr(error.__cause__, "sqlstate", None) in _LOST_A_RACE and attempt < _RACE_ATTEMPTS:
        return random.uniform(0.005, 0.02 * 2**attempt)
    if connection_lost(error) and reconnect and attempt < _CONNECTION_ATTEMPTS:
        return 0.0
    return None
