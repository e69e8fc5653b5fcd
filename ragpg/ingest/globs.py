"""Glob patterns of manifests, as in ``.gitignore``: without a slash a name at any depth, with one a path."""

from __future__ import annotations

import re
from functools import cache


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern names a file, or a folder that holds it.

    Parameters
    ----------
    pattern
        ``*`` and ``?`` stay within a folder, ``**`` does not, ``[ab]`` is one of several characters.
    path
        The file's path with forward slashes, relative to the folder that the pattern belongs to.

    Returns
    -------
    bool
        Whether it matches.
    """
    regex = _compile(pattern)
    steps = path.split("/")
    if "/" not in pattern.rstrip("/"):
        candidates = steps[:-1] if pattern.endswith("/") else steps
    else:
        last = len(steps) - 1 if pattern.endswith("/") else len(steps)
        candidates = ["/".join(steps[:end]) for end in range(1, last + 1)]
    return any(regex.fullmatch(candidate) for candidate in candidates)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    text = pattern.strip("/")
    regex: list[str] = []
    position = 0
    while position < len(text):
        rest = text[position:]
        if rest.startswith("**/"):
            regex.append("(?:.*/)?")
            position += 3
        elif rest.startswith("**"):
            regex.append(".*")
            position += 2
        elif rest[0] == "*":
            regex.append("[^/]*")
            position += 1
        elif rest[0] == "?":
            regex.append("[^/]")
            position += 1
        elif (found := re.match(r"\[(!?)([^\]/]+)\]", rest)) is not None:
            inner = re.sub(r"([\\\[^])", r"\\\1", found[2])
            regex.append(f"[{'^/' if found[1] else ''}{inner}]")
            position += found.end()
        else:
            regex.append(re.escape(rest[0]))
            position += 1
    return re.compile("".join(regex), re.DOTALL)
