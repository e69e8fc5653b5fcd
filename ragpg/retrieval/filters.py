"""Filters as a dict, compiled to jsonpath, PostgreSQL's own filter language."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, cast

from ragpg.errors import InvalidFilter

_COMPARISONS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_MAX_DEPTH = 32
_TRUE = "1 == 1"
_FALSE = "1 == 0"


def compile_filter(filter: Mapping[str, Any] | str | None) -> str | None:
    """Compile a filter to a jsonpath predicate.

    ``{"year": {"$gte": 2024}, "tags": "legal"}`` becomes ``$."year" >= 2024 && $."tags" == "legal"``. A key may be a
    path (``"author.name"``). A list in the metadata matches where one of its elements does. Conditions that negate
    (``$ne``, ``$nin``, ``$not``) are the exact opposite of the positive ones, so they also match where the key is
    missing. ``None`` as a value matches an explicit null only; for a missing key there is ``{"$exists": False}``.
    Dates compare as ISO text.

    Parameters
    ----------
    filter
        A dict with ``$eq``, ``$ne``, ``$gt``, ``$gte``, ``$lt``, ``$lte``, ``$in``, ``$nin``, ``$exists``, ``$not``,
        ``$and``, ``$or``; or a jsonpath predicate, returned as it is; or ``None``.

    Returns
    -------
    str | None
        The jsonpath, or ``None`` where there is nothing to filter by.

    Raises
    ------
    InvalidFilter
        Where the dict has an unknown operator, an empty list of conditions or a value that can't be compared.
    """
    if filter is None:
        return None
    if isinstance(filter, str):
        if not filter.strip() or "\0" in filter:
            raise InvalidFilter("a filter as text is a jsonpath predicate, such as $.year >= 2024")
        return filter
    return _conditions(filter, 0) if filter else None


def _conditions(conditions: object, depth: int) -> str:
    if not isinstance(conditions, Mapping) or not conditions:
        raise InvalidFilter(f"a filter is a dict with at least one condition, not {conditions!r}")
    if depth > _MAX_DEPTH:
        raise InvalidFilter(f"the filter is nested more than {_MAX_DEPTH} deep")
    items = cast("Mapping[object, object]", conditions).items()
    return _join(" && ", [_condition(key, value, depth + 1) for key, value in items])


def _condition(key: object, value: object, depth: int) -> str:
    if not isinstance(key, str):
        raise InvalidFilter(f"a filter's keys are strings, not {key!r}")
    match key:
        case "$and" | "$or":
            parts = [_conditions(part, depth) for part in _list(key, value)]
            if not parts:
                raise InvalidFilter(f"{key} needs at least one condition")
            return _join(" && " if key == "$and" else " || ", parts)
        case "$not":
            return _negate(_conditions(value, depth))
        case _ if key.startswith("$"):
            raise InvalidFilter(f"unknown operator {key} (as a key there are $and, $or, $not)")
        case _:
            return _field(_path(key), key, value, depth)


def _field(path: str, key: str, value: object, depth: int) -> str:
    if not isinstance(value, Mapping):
        return f"{path} == {_literal(value)}"
    operators = cast("Mapping[object, object]", value)
    if not operators:
        raise InvalidFilter(f"the condition for {key!r} is empty")
    if depth > _MAX_DEPTH:
        raise InvalidFilter(f"the filter is nested more than {_MAX_DEPTH} deep")
    parts = [_operator(path, key, operator, operand, depth) for operator, operand in operators.items()]
    return _join(" && ", parts)


def _operator(path: str, key: str, operator: object, operand: object, depth: int) -> str:
    if not isinstance(operator, str):
        raise InvalidFilter(f"the operator {operator!r} for {key!r} is no string")
    match operator:
        case "$eq":
            return f"{path} == {_literal(operand)}"
        case "$ne":
            return _negate(f"{path} == {_literal(operand)}")
        case "$gt" | "$gte" | "$lt" | "$lte":
            return f"{path} {_COMPARISONS[operator]} {_literal(operand)}"
        case "$in":
            return (
                _join(" || ", [f"{path} == {_literal(each)}" for each in _list(operator, operand)]) or _FALSE
            )
        case "$nin":
            any_of = _join(" || ", [f"{path} == {_literal(each)}" for each in _list(operator, operand)])
            return _negate(any_of) if any_of else _TRUE
        case "$exists":
            if not isinstance(operand, bool):
                raise InvalidFilter(f"$exists takes True or False, not {operand!r}")
            return f"exists({path})" if operand else f"!exists({path})"
        case "$not":
            if not isinstance(operand, Mapping):
                raise InvalidFilter(f"$not for {key!r} takes a dict of operators, not {operand!r}")
            return _negate(_field(path, key, cast("object", operand), depth + 1))
        case _:
            raise InvalidFilter(
                f"unknown operator {operator!r} for {key!r}; a nested key is written as {f'{key}.{operator}'!r}"
            )


def _negate(predicate: str) -> str:
    # jsonpath has a third truth value: comparing a text with a number is unknown, and so is its negation.
    # exists() of a filter turns unknown into false, so that the negation is the exact opposite.
    return f"!exists($ ? ({predicate}))"


def _join(operator: str, parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else operator.join(f"({part})" for part in parts)


def _path(key: str) -> str:
    steps = key.split(".")
    if not all(steps):
        raise InvalidFilter(f"the key {key!r} has an empty step")
    return "$" + "".join(f".{_string(step)}" for step in steps)


def _list(operator: str, value: object) -> Sequence[object]:
    if not isinstance(value, list | tuple | set | frozenset):
        raise InvalidFilter(f"{operator} takes a list, not {value!r}")
    return list(cast("Sequence[object]", value))


def _literal(value: object) -> str:
    match value:
        case None | bool() | int():
            return json.dumps(value)
        case float() if math.isfinite(value):
            return json.dumps(value)
        case str():
            return _string(value)
        case date():
            return _string(value.isoformat())
        case list() | tuple() | set() | frozenset():
            raise InvalidFilter("a list is no single value: use $in for one of several")
        case _:
            raise InvalidFilter(f"{value!r} can't be compared with metadata")


def _string(text: str) -> str:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidFilter(f"{text!r} holds a character that PostgreSQL can't store")
    return json.dumps(text, ensure_ascii=False)
