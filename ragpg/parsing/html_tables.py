"""HTML tables as rows of cell text."""

from __future__ import annotations

from itertools import islice
from typing import Any

_SPACED = frozenset(
    {"br", "div", "p", "li", "dd", "dt", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "hr"}
)
_NOT_IN_DATA = ("table", "pre", "h1", "h2", "h3")
_MAX_SPANNED_CELLS = 100_000
_MAX_COLUMNS = 500


def is_data_table(table: Any) -> bool:
    """Whether a table holds data: two rows and two columns at least, and nothing in it that is laid out as a page is."""
    if next(table.iterdescendants(*_NOT_IN_DATA), None) is not None:
        return False
    rows = [
        row
        for row in islice(table.iter("tr"), 50)
        if row.find("td") is not None or row.find("th") is not None
    ]
    return len(rows) > 1 and any(
        len(row) > 1 or any(_span(cell, "colspan") > 1 for cell in row) for row in rows
    )


def table_rows(table: Any) -> tuple[str, list[list[str]]]:
    """Read a table.

    Parameters
    ----------
    table
        The lxml element.

    Returns
    -------
    tuple[str, list[list[str]]]
        The caption, and the rows. A cell that spans rows is repeated in each; one that spans columns leaves the others empty.
    """
    caption = table.find("caption")
    rows: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    spanned = 0
    for row in table.iter("tr"):
        cells: list[str] = []
        for cell in row.iterchildren("td", "th"):
            _take_spanning(cells, below)
            text = flat_text(cell)
            columns, deep = _span(cell, "colspan"), _span(cell, "rowspan")
            spanned += columns * deep
            if spanned > _MAX_SPANNED_CELLS or len(cells) + columns > _MAX_COLUMNS:
                columns = deep = 1
            for offset in range(columns):
                cell_text = "" if offset else text
                if deep > 1:
                    below[len(cells)] = (deep - 1, cell_text)
                cells.append(cell_text)
        _take_spanning(cells, below)
        rows.append(cells)
    return (flat_text(caption) if caption is not None else ""), rows


def flat_text(element: Any) -> str:
    """Give an element's text in one line, with a gap wherever it shows one."""
    parts: list[str] = []
    for part in element.iter():
        if part.tag in _SPACED:
            parts.append(" ")
        parts.append(part.text or "")
        if part is not element:
            parts.append(part.tail or "")
    return " ".join("".join(parts).replace("\xad", "").split())


def _take_spanning(cells: list[str], below: dict[int, tuple[int, str]]) -> None:
    while (column := len(cells)) in below:
        left, text = below.pop(column)
        if left > 1:
            below[column] = (left - 1, text)
        cells.append(text)


def _span(cell: Any, attribute: str) -> int:
    value = (cell.get(attribute) or "1").strip()
    return max(1, int(value)) if value.isdecimal() and len(value) < 6 else 1
