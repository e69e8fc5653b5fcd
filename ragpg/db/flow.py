"""Database work as generators that do no I/O: the async and the sync client share one logic.

A flow yields steps: a :class:`Call` (run this statement and send me what it returns) or a :class:`Blocking`
(run this slow function where it blocks nobody and send me what it returns). A client drives it; an error of a
step is raised inside the flow.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, LiteralString, TypeVar, cast

from ragpg.db.rows import Row
from ragpg.errors import InvalidArgument

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One statement, its parameters, and how its rows become a value.

    ``repeatable`` says that running it twice does and returns the same as running it once, so that it can be
    tried again after a lost connection.
    """

    sql: LiteralString
    params: Mapping[str, Any]
    parse: Callable[[Sequence[Row]], T]
    repeatable: bool = True

    def __post_init__(self) -> None:
        """Refuse text that PostgreSQL can't take here, where the parameter's name is known."""
        for name, value in self.params.items():
            for text in cast("Sequence[object]", value) if isinstance(value, list) else (value,):
                if isinstance(text, str):
                    check_text(text, name)


def check_text(text: str, name: str) -> None:
    """Raise `InvalidArgument` where PostgreSQL can't store a text; ``name`` is what it is called."""
    if "\0" in text:
        raise InvalidArgument(f"{name} holds a NUL character, which PostgreSQL can't store")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidArgument(
                f"{name} holds a lone surrogate at {error.start}, which is no character"
            ) from error


@dataclass(frozen=True, slots=True)
class Blocking(Generic[T]):
    """A function that computes, reads files or waits for HTTP."""

    function: Callable[[], T]


Step = Call[Any] | Blocking[Any]
Flow = Generator[Step, Any, T]


def run(call: Call[T]) -> Flow[T]:
    """Run a call: ``rows = yield from run(calls.x(...))``."""
    return (yield call)


def blocking(function: Callable[[], T]) -> Flow[T]:
    """Run a slow function: ``text = yield from blocking(lambda: path.read_text())``."""
    return (yield Blocking(function))
