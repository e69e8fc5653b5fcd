"""Ruled tables of a PDF page: pdfplumber finds the cells, pdfium gives their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragpg.parsing.extras import require
from ragpg.parsing.pdf_lines import Line, clean_cell
from ragpg.parsing.tables import markdown_table

# Two rows and two columns have three rules each way. A page with thousands of paths is a drawing, and slow to look through.
_MIN_RULES = 3
_MAX_PATHS = 3000
_THIN = 3.0
_LONG = 15.0
_MIN_GRID_SEGMENTS = 12
_MIN_CELLS = 0.6
_MIN_COVERED = 0.9

_Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as Markdown, with the corners of its place on the page (y growing upwards)."""

    markdown: str
    x0: float
    y0: float
    x1: float
    y1: float

    def holds(self, line: Line) -> bool:
        """Whether a line of text stands inside."""
        middle = (line.x0 + line.x1) / 2
        return self.x0 <= middle <= self.x1 and self.y0 <= line.y + line.size / 4 <= self.y1


def is_ruled(page: Any) -> bool:
    """Whether the lines drawn on a pdfium page can be a table's: pdfplumber takes 50 ms a page, this a fraction of one."""
    raw = require("pypdfium2.raw")
    horizontal = vertical = 0
    for count, path in enumerate(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=3), 1):
        if count > _MAX_PATHS:
            return False
        left, bottom, right, top = path.get_bounds()
        wide, high = right - left, top - bottom
        if _is_grid_path(raw, path):
            horizontal += _MIN_RULES
            vertical += _MIN_RULES
        elif wide >= _LONG and high >= _LONG / 2:
            horizontal += 2
            vertical += 2
        else:
            horizontal += high <= _THIN and wide >= _LONG
            vertical += wide <= _THIN and high >= _LONG / 2
    return horizontal >= _MIN_RULES and vertical >= _MIN_RULES


def _is_grid_path(raw: Any, path: Any) -> bool:
    """Whether one path draws many straight lines, as some programs draw a whole table."""
    segments = raw.FPDFPath_CountSegments(path)
    return segments >= _MIN_GRID_SEGMENTS and all(
        raw.FPDFPathSegment_GetType(raw.FPDFPath_GetPathSegment(path, index)) != raw.FPDF_SEGMENT_BEZIERTO
        for index in range(segments)
    )


def find_tables(plumber_page: Any, text_page: Any, lines: Sequence[Line]) -> list[Table]:
    """Find the tables of a page.

    Parameters
    ----------
    plumber_page
        pdfplumber's page.
    text_page
        pdfium's text of the same page.
    lines
        The page's lines: a table that would lose some of the text within it is not taken.

    Returns
    -------
    list[Table]
        Tables of at least two rows and two columns. Frames, boxes around code and charts are none.
    """
    top = float(plumber_page.mediabox[3])
    tables: list[Table] = []
    for found in plumber_page.find_tables():
        grid: list[list[_Box | None]] = [list(row.cells) for row in found.rows]
        if not _is_grid(grid):
            continue
        rows = [
            _row_texts(row, above, text_page, top)
            for row, above in zip(grid, _cells_above(grid), strict=True)
        ]
        x0, y1, x1, y0 = found.bbox
        table = Table(markdown_table(rows), x0 - 1, top - y0 - 1, x1 + 1, top - y1 + 1)
        if _columns_with_text(rows) >= 2 and _covers(table, rows, lines):
            tables.append(table)
    return tables


def _is_grid(grid: list[list[_Box | None]]) -> bool:
    slots = [cell for row in grid for cell in row]
    return (
        len(grid) >= 2
        and len(grid[0]) >= 2
        and sum(cell is not None for cell in slots) >= _MIN_CELLS * len(slots)
    )


def _cells_above(grid: list[list[_Box | None]]) -> list[list[_Box | None]]:
    """Give for each missing cell the one that spans its row from above."""
    result: list[list[_Box | None]] = []
    latest: list[_Box | None] = [None] * max(len(row) for row in grid)
    for row in grid:
        bottom = max((cell[3] for cell in row if cell), default=0.0)
        spanning = [
            above if cell is None and above is not None and above[3] >= bottom - 2 else None
            for cell, above in zip(row, latest, strict=False)
        ]
        result.append(spanning)
        latest = [cell or above for cell, above in zip(row, latest, strict=False)]
    return result


def _row_texts(row: list[_Box | None], above: list[_Box | None], text_page: Any, top: float) -> list[str]:
    texts: list[str] = []
    for cell in (own or spanning for own, spanning in zip(row, above, strict=True)):
        if cell is None:
            texts.append("")
        else:
            x0, y_top, x1, y_bottom = cell
            texts.append(clean_cell(text_page.get_text_bounded(x0, top - y_bottom, x1, top - y_top)))
    return texts


def _columns_with_text(rows: list[list[str]]) -> int:
    columns = zip(*rows, strict=False)
    return sum(sum(bool(cell.strip()) for cell in column) >= 2 for column in columns)


def _covers(table: Table, rows: list[list[str]], lines: Sequence[Line]) -> bool:
    def length(text: str) -> int:
        return len("".join(text.split()))

    loose = sum(length(line.text) for line in lines if table.holds(line))
    inside = sum(length(cell) for row in rows for cell in row)
    return loose > 0 and inside >= _MIN_COVERED * loose
