"""The YAML mapping between two ``---`` lines that a Markdown file may begin with."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import date
from itertools import count
from typing import Any, cast

import yaml

_FENCED = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAX_CHARACTERS = 64 * 1024
_MAX_VALUES = 10_000
_MAX_DEPTH = 50


def split_front_matter(text: str) -> tuple[dict[str, Any], str, list[str]]:
    """Take the front matter off a Markdown text.

    Parameters
    ----------
    text
        The cleaned source.

    Returns
    -------
    tuple[dict[str, Any], str, list[str]]
        The metadata (dates as ISO text, so that it can be stored as JSON), the text after it, and warnings. Text between two rules
        that is no YAML mapping is not front matter: it stays in the text.
    """
    match = _FENCED.match(text)
    if match is None:
        return {}, text, []
    try:
        if len(match[1]) > _MAX_CHARACTERS:
            raise ValueError(f"over {_MAX_CHARACTERS} characters")
        loaded: object = yaml.safe_load(match[1])
        if loaded is None:
            return {}, text[match.end() :], []
        if not isinstance(loaded, dict):
            return {}, text, []
        metadata = cast(dict[str, Any], _plain(cast(object, loaded), count(), 0))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        return {}, text, [f"the front matter is not read, and kept as text: {reason}"]
    return metadata, text[match.end() :], []


def _plain(value: object, counter: Iterator[int], depth: int) -> object:
    """Make a YAML value one that JSON and PostgreSQL's jsonb can hold.

    The limits are for anchors: a short YAML text can name a value that holds itself, or one of billions of parts.
    """
    if next(counter) > _MAX_VALUES or depth > _MAX_DEPTH:
        raise ValueError("too many or too deeply nested values")
    if isinstance(value, dict):
        items = cast(dict[object, object], value).items()
        return {_text(key): _plain(item, counter, depth + 1) for key, item in items}
    if isinstance(value, list | tuple | set):
        return [_plain(item, counter, depth + 1) for item in cast(list[object], value)]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _text(value)


def _text(value: object) -> str:
    text = value.isoformat() if isinstance(value, date) else str(value)
    return re.sub("[\0\ud800-\udfff]", "", text)
