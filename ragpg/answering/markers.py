"""Citation markers in a text: ``[1]``, ``[1, 2]``, ``[1-3]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_NUMBER: Final = r"\d{1,9}"
_MARKER: Final = re.compile(
    rf"[\[【［]\s*{_NUMBER}(?:\s*(?:[-–—,;，、]|\band\b|\bund\b|&)\s*{_NUMBER})*\s*[\]】］]"
)
_RANGE: Final = re.compile(rf"({_NUMBER})(?:\s*[-–—]\s*({_NUMBER}))?")


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation in a text, such as ``[1, 3-5]``: its place, and its numbers as ranges."""

    start: int
    end: int
    ranges: tuple[tuple[int, int], ...]

    def numbers(self, count: int) -> list[int]:
        """Return the numbers that a context of ``count`` sources holds, in the order of the text."""
        found: list[int] = []
        for first, last in self.ranges:
            low, high = max(1, min(first, last)), min(count, max(first, last))
            found.extend(number for number in range(low, high + 1) if number not in found)
        return found

    def is_within(self, count: int) -> bool:
        """Tell whether a context of ``count`` sources holds every number."""
        return all(min(pair) >= 1 and max(pair) <= count for pair in self.ranges)


def find_markers(text: str) -> list[Marker]:
    """Find the citations in a text: ``[1]``, ``[1, 2]``, ``[1][2]``, ``[1-3]``, ``【1】``. Brackets in code are code.

    Parameters
    ----------
    text
        An answer.

    Returns
    -------
    list of Marker
        In the order of the text.
    """
    code = [match.span() for match in _CODE.finditer(text)]
    markers: list[Marker] = []
    for match in _MARKER.finditer(text):
        if any(start <= match.start() < end for start, end in code):
            continue
        pairs = [(int(pair[1]), int(pair[2] or pair[1])) for pair in _RANGE.finditer(match.group())]
        markers.append(Marker(match.start(), match.end(), tuple(pairs)))
    return markers


def without_markers(text: str) -> str:
    """Turn ``[1]`` in a source, which would read as a citation, into ``(1)``; code keeps its brackets."""
    parts: list[str] = []
    position = 0
    for marker in find_markers(text):
        parts += [text[position : marker.start], f"({text[marker.start + 1 : marker.end - 1]})"]
        position = marker.end
    return "".join([*parts, text[position:]])
