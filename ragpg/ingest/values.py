"""Values that people write into manifests and front matter, checked. A mistake is a ``ValueError`` naming the key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar, cast

T = TypeVar("T")

_MAX_DEPTH = 50


def text_or_none(value: object, key: str) -> str | None:
    """A text that is not blank, or ``None``. YAML reads an unquoted number as one, and it is taken as written."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        raise ValueError(f"{key} is a text, not {value!r}")
    return str(value).strip()


def principals(value: object, key: str) -> tuple[str, ...] | None:
    """A list of principals without repeats, or ``None``."""
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise ValueError(f"{key} is a list of principals such as [group:hr, user:ana], not {value!r}")
    items = cast("list[object]", value)
    for item in items:
        if not isinstance(item, str) or not item.strip():
            raise ValueError(
                f"{key} holds {item!r}, which is no principal; write group:hr without a space after the colon"
            )
    return tuple(dict.fromkeys(str(item).strip() for item in items))


def json_mapping(value: object, key: str) -> dict[str, Any]:
    """A mapping that JSON can hold: dates become ISO text."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{key} is a mapping, not {value!r}")
    return cast("dict[str, Any]", _json_value(cast("object", value), key, 0))


def _json_value(value: object, key: str, depth: int) -> object:
    if depth > _MAX_DEPTH:
        raise ValueError(f"{key} is nested more than {_MAX_DEPTH} deep")
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {str(name): _json_value(item, f"{key}.{name}", depth + 1) for name, item in items}
    if isinstance(value, list | tuple | set):
        return [_json_value(item, key, depth + 1) for item in cast("list[object]", value)]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{key} holds {value}, which JSON can't")
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"{key} holds {value!r}, which JSON can't")


def batched(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Slices of at most ``size`` values."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
