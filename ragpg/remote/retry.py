"""When to ask a remote model again, how long to wait before it, and when to stop asking."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient to be with a remote model.

    Attributes
    ----------
    max_attempts
        Requests in all, the first included.
    max_elapsed
        Seconds in all, waiting included.
    first_delay
        Seconds before the second request; each further wait is twice as long, and shortened at random by up to half.
    max_delay
        Longest wait that is not asked for by the server.
    """

    max_attempts: int = 6
    max_elapsed: float = 120.0
    first_delay: float = 0.5
    max_delay: float = 10.0

    def delay(self, attempt: int, asked: float | None) -> float:
        """Seconds to wait after a failed attempt.

        Parameters
        ----------
        attempt
            Number of the failed attempt, from 1.
        asked
            What the server's ``Retry-After`` says, if anything.

        Returns
        -------
        float
            The server's wish where there is one, else a jittered exponential backoff.
        """
        if asked is not None:
            return asked
        longest = min(self.max_delay, self.first_delay * 2 ** (attempt - 1))
        return longest * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str], *, now: Callable[[], float] = time.time) -> float | None:
    """Read how long a server asks to wait.

    Parameters
    ----------
    headers
        The answer's headers, with lower-case lookup.
    now
        The clock that a date is compared with.

    Returns
    -------
    float or None
        Seconds from ``retry-after-ms`` or ``retry-after`` (a number or an HTTP date), ``None`` where neither can be read.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    # A date "-0000" has no zone; HTTP dates are always UTC.
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.fromtimestamp(now(), UTC)).total_seconds())


def _number(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


class CircuitBreaker:
    """Stops asking a server that has failed several times in a row, and tries it again after a while.

    Thread-safe. After the cool-down one request is let through as a trial; the others keep failing until it succeeded.

    Parameters
    ----------
    threshold
        Failures in a row (retries exhausted) that open it.
    cooldown
        Seconds it stays open.
    clock
        A monotonic clock.
    """

    def __init__(
        self, *, threshold: int = 3, cooldown: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.threshold = threshold
        self.cooldown = cooldown
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0

    def refusal(self) -> float | None:
        """Ask for leave to send a request.

        Returns
        -------
        float or None
            ``None`` for yes, else the seconds until the next trial.
        """
        with self._lock:
            if self._failures < self.threshold:
                return None
            left = self._open_until - self._clock()
            if left > 0:
                return left
            # This caller is the trial. Should it never report back, the next one comes a cool-down later.
            self._open_until = self._clock() + self.cooldown
            return None

    def succeeded(self) -> None:
        """Report that the server answered."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """Report that the server failed, after the retries."""
        with self._lock:
            self._failures += 1
            self._open_until = self._clock() + self.cooldown
