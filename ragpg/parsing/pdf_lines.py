"""The lines of a PDF page, with where they stand and how they look."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragpg.parsing.extras import require

# What pdfium writes for a hyphen at a line's end, leaving the line break out.
_LINE_END_HYPHEN = "\x02"
_LINE_BREAK = re.compile("[\r\n]+")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\xa0": " ", "\xad": "-"}
)
_MONOSPACED = re.compile(r"mono|courier|consol|typewriter|menlo|cmtt|sftt|fixed", re.IGNORECASE)
_BOLD = re.compile(r"bold|black|heavy|cmbx|sfbx", re.IGNORECASE)
_DOT_LEADERS = re.compile(r"(?:\s?\.){5,}\s?")
_FIXED_PITCH = 1
_BOLD_WEIGHT = 600


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text. Coordinates are the page's, in points, y growing upwards; ``y`` is the baseline."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    monospaced: bool
    hyphenated: bool = False


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's lines in reading order, and how many characters could not be read for want of a mapping in the font."""

    lines: Sequence[Line]
    unmapped: int
    total: int
    bottom: float
    top: float


def read_page(page: Any, text_page: Any) -> PageText:
    """Read the lines of a page.

    Parameters
    ----------
    page, text_page
        pdfium's page, and its text.

    Returns
    -------
    PageText
        The lines as pdfium orders them, without control characters, ligatures resolved.
    """
    raw = require("pypdfium2.raw")
    count = text_page.count_chars()
    get_unicode = raw.FPDFText_GetUnicode
    text = "".join([chr(get_unicode(text_page, index)) for index in range(count)])
    lines: list[Line] = []
    unmapped = 0
    for start, end, hyphenated in _spans(text):
        cleaned = _CONTROLS.sub("", text[start:end])
        unmapped += end - start - len(cleaned)
        cleaned = " ".join(_DOT_LEADERS.sub(" … ", cleaned.translate(_LIGATURES)).split())
        if cleaned:
            lines.append(_line(raw, text_page, text, start, end, cleaned, hyphenated))
    _, bottom, _, top = page.get_bbox()
    return PageText(lines, unmapped, count, bottom, top)


def clean_cell(text: str) -> str:
    """Clean the text of a table cell as a line's is."""
    return _CONTROLS.sub("", _LINE_BREAK.sub(" ", text).replace(_LINE_END_HYPHEN, "")).translate(_LIGATURES)


def _spans(text: str) -> list[tuple[int, int, bool]]:
    """Cut a page's characters into lines: start, end, and whether a word goes on in the next line."""
    spans: list[tuple[int, int, bool]] = []
    position = 0
    for match in re.finditer(f"[\r\n]+|(?<=[^\\W\\d_]){_LINE_END_HYPHEN}(?=[^\\W_])", text):
        spans.append((position, match.start(), match[0] == _LINE_END_HYPHEN))
        position = match.end()
    spans.append((position, len(text), False))
    return spans


def _line(raw: Any, text_page: Any, text: str, start: int, end: int, cleaned: str, hyphenated: bool) -> Line:
    while text[start].isspace():
        start += 1
    while text[end - 1].isspace():
        end -= 1
    box, matrix, flags = raw.FS_RECTF(), raw.FS_MATRIX(), ctypes.c_int()
    name = ctypes.create_string_buffer(128)
    raw.FPDFText_GetLooseCharBox(text_page, end - 1, box)
    x1 = float(box.right)
    raw.FPDFText_GetLooseCharBox(text_page, start, box)
    x0 = float(box.left)
    sizes: list[float] = []
    bold = monospaced = 0
    for index in (start, (start + end) // 2, end - 1):
        raw.FPDFText_GetMatrix(text_page, index, matrix)
        sizes.append(raw.FPDFText_GetFontSize(text_page, index) * math.hypot(matrix.c, matrix.d))
        raw.FPDFText_GetFontInfo(text_page, index, name, len(name), flags)
        font = name.value.decode("utf-8", "replace")
        bold += raw.FPDFText_GetFontWeight(text_page, index) >= _BOLD_WEIGHT or bool(_BOLD.search(font))
        monospaced += bool(flags.value & _FIXED_PITCH) or bool(_MONOSPACED.search(font))
    origin_x, origin_y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(text_page, start, origin_x, origin_y)
    return Line(
        text=cleaned,
        x0=min(x0, x1),
        x1=max(x0, x1),
        y=origin_y.value,
        size=round(sorted(sizes)[1], 1),
        bold=bold == len(sizes),
        monospaced=monospaced == len(sizes),
        hyphenated=hyphenated,
    )
