"""What the sync client needs of its surroundings; ``async_runtime`` has the same names for the async one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

Lock = threading.Lock


def run_blocking(function: Callable[[], T]) -> T:
    """Run a slow function, here and now."""
    return function()


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)
