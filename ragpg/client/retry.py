"""Which failed statements are worth another try, and when."""

from __future__ import annotations

import random
from typing import Any

from ragpg.db.flow import Call
from ragpg.errors import DatabaseUnavailable, RagpgError

# serialization failure, deadlock detected: the other transaction has won, and this one has left nothing behind
_LOST_A_RACE = {"40001", "40P01"}
_RACE_ATTEMPTS = 8
_CONNECTION_ATTEMPTS = 3


def connection_lost(error: RagpgError) -> bool:
    """Whether the statement failed because its connection died, which a new connection may mend."""
    return isinstance(error, DatabaseUnavailable)


def retry_delay(error: RagpgError, call: Call[Any], attempt: int) -> float | None:
    """How long to wait before the statement is tried again.

    Parameters
    ----------
    error
        Why it failed.
    call
        The statement. After a lost connection nobody knows whether it was committed, so only a repeatable one is
        tried again.
    attempt
        How many times it was tried, from 1.

    Returns
    -------
    float | None
        Seconds, or ``None`` to give up.
    """
    if getattr(error.__cause__, "sqlstate", None) in _LOST_A_RACE and attempt < _RACE_ATTEMPTS:
        return random.uniform(0.005, 0.02 * 2**attempt)
    if connection_lost(error) and call.repeatable and attempt < _CONNECTION_ATTEMPTS:
        return 0.0
    return None
