"""What the async client needs of its surroundings; ``sync_runtime`` has the same names for the sync one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

Lock = asyncio.Lock


async def run_blocking(function: Callable[[], T]) -> T:
    """Run a slow function in a thread, so that the event loop goes on."""
    return await asyncio.to_thread(function)


async def sleep(seconds: float) -> None:
    """Wait."""
    await asyncio.sleep(seconds)
