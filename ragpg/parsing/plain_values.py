"""Values from YAML and from callers as values that JSON and PostgreSQL's jsonb can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import count
from typing import Any, cast

_MAX_VALUES = 10_000
_MAX_DEPTH = 50
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def plain_mapping(value: Mapping[Any, Any], name: str, *, repair: bool) -> dict[str, Any]:
    """Make a mapping one that can be stored as JSON: keys are text, dates become ISO text, tuples and sets lists.

    The limits are for YAML's anchors: a short text can name a value that holds itself, or one of billions of parts.

    Parameters
    ----------
    value
        The mapping.
    name
        What it is called, for the message.
    repair
        Make text of what JSON can't hold, and drop NUL and lone surrogates from it: right for a document, which nobody may be
        able to mend. Otherwise such values are refused.

    Returns
    -------
    dict[str, Any]
        The same, in plain values.

    Raises
    ------
    ValueError
        Where it is too large or too deeply nested, or holds what JSON can't; the message names the key.
    """
    return cast("dict[str, Any]", _plain(value, name, count(), 0, repair))


def _plain(value: object, name: str, counter: Iterator[int], depth: int, repair: bool) -> object:
    if next(counter) > _MAX_VALUES or depth > _MAX_DEPTH:
        raise ValueError(f"{name.partition('.')[0]} holds too many or too deeply nested values")
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {
            _text(key, name, repair): _plain(item, f"{name}.{key}", counter, depth + 1, repair)
            for key, item in items
        }
    if isinstance(value, list | tuple | set):
        return [_plain(item, name, counter, depth + 1, repair) for item in cast("list[object]", value)]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if repair or isinstance(value, str | date):
        return _text(value, name, repair)
    raise ValueError(f"{name} holds {value!r}, which JSON can't")


def _text(value: object, name: str, repair: bool) -> str:
    text = value.isoformat() if isinstance(value, date) else str(value)
    if not repair and _UNSTORABLE.search(text):
        raise ValueError(f"{name} holds a NUL character or a lone surrogate, which PostgreSQL can't store")
    return _UNSTORABLE.sub("", text)
