"""Checks of a caller's arguments that name the argument: what they refuse would otherwise fail deep inside, or as another type."""

from __future__ import annotations

from numbers import Integral, Real

from ragpg.db.flow import check_text
from ragpg.errors import InvalidArgument


def check_type(name: str, value: object, kind: type, said: str) -> None:
    """Raise `InvalidArgument` where a value is of another type; ``said`` is the type in words."""
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name} is {said}, not {value!r}")


def check_texts(**texts: object) -> None:
    """Raise `InvalidArgument` where one is no text that PostgreSQL can store. ``None`` says nothing."""
    for name, value in texts.items():
        if value is None:
            continue
        if not isinstance(value, str):
            raise InvalidArgument(f"{name} is a text, not {value!r}")
        check_text(value, name)


def check_whole_numbers(**numbers: object) -> None:
    """Raise `InvalidArgument` where one is no whole number."""
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise InvalidArgument(f"{name} is a whole number, not {value!r}")


def check_numbers(**numbers: object) -> None:
    """Raise `InvalidArgument` where one is no number."""
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise InvalidArgument(f"{name} is a number, not {value!r}")
