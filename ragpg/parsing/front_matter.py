"""The YAML mapping between two ``---`` lines that a Markdown file may begin with."""

from __future__ import annotations

import re
from typing import Any, cast

import yaml

from ragpg.parsing.plain_values import plain_mapping

_FENCED = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOP_KEY = re.compile(r"""^["']?(\w+)["']?[ \t]*:""", re.MULTILINE)
_ONCE = {"acl", "tenant", "expires"}
_MAX_CHARACTERS = 64 * 1024


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
        keys = [found[1] for found in _TOP_KEY.finditer(match[1])]
        # YAML takes the last of two, which of two ACLs may be the wider one.
        if twice := next((key for key in keys if key in _ONCE and keys.count(key) > 1), None):
            raise ValueError(f"the key {twice!r} is given twice")
        loaded: object = yaml.safe_load(match[1])
        if loaded is None:
            return {}, text[match.end() :], []
        if not isinstance(loaded, dict):
            return {}, text, []
        metadata = plain_mapping(cast(dict[Any, Any], loaded), "front matter", repair=True)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        return {}, text, [f"the front matter is not read, and kept as text: {reason}"]
    return metadata, text[match.end() :], []
