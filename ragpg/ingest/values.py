"""Values that people write into manifests and front matter, checked. A mistake is a ``ValueError`` naming the key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, TypeVar, cast

T = TypeVar("T")


def text_or_none(value: object, key: str) -> str | None:
    """A text that is not blank, or ``None``. YAML reads an unquoted number as one, and it is taken as written."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        raise ValueError(f"{key} is a text, not {value!r}")
    return str(value).strip()


def principals(value: object, key: str) -> tuple[str, ...] | None:
    """A list of principals without repeats, or ``None``. A single string is a list of letters to Python, and a mistake to everyone else."""
    if value is None:
        return None
    if not isinstance(value, Sequence | Set) or isinstance(value, str | bytes):
        raise ValueError(f"{key} is a list of principals such as [group:hr, user:ana], not {value!r}")
    items = list(cast("Sequence[object]", value))
    for item in items:
        if not isinstance(item, str) or not item.strip():
            raise ValueError(
                f"{key} is a list of principals, and {item!r} is no principal; in YAML, write group:hr without a space after the colon"
            )
    return tuple(dict.fromkeys(str(item).strip() for item in items))


def acl_or_none(value: object, key: str) -> tuple[str, ...] | None:
    """A list of principals who may read. The wildcard is for those who ask, not for documents."""
    found = principals(value, key)
    if found and "*" in found:
        raise ValueError(f"{key} can't hold '*'; public is everybody of the tenant")
    return found


def tenant_or_none(value: object, key: str) -> str | None:
    """A tenant's id. YAML reads an unquoted 007 as 7, so a number may not be what was written."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} is a text, not {value!r}: put it in quotes")
    return text_or_none(value, key)


def json_mapping(value: object, key: str) -> dict[str, Any]:
    """A mapping that JSON can hold: dates become ISO text. What can't be stored is refused."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{key} is a mapping, not {value!r}")
    # The parsers' package is slow to load, and a process that only searches needs none of it.
    from ragpg.parsing.plain_values import plain_mapping

    return plain_mapping(cast("Mapping[object, object]", value), key, repair=False)


def batched(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Slices of at most ``size`` values."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
