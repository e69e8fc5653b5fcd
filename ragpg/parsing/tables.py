"""Rows of cells as a Markdown table."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Write rows as a Markdown table whose header is the first row.

    Parameters
    ----------
    rows
        Cells from left to right; a short row is filled up. Rows and trailing columns without any text are left out.

    Returns
    -------
    str
        The table, one line a row, or an empty string where there is no text at all.
    """
    cleaned = [[_cell(cell) for cell in row] for row in rows]
    cleaned = [row for row in cleaned if any(row)]
    width = max((index + 1 for row in cleaned for index, cell in enumerate(row) if cell), default=0)
    if not width:
        return ""
    lines = [_line((row + [""] * width)[:width]) for row in cleaned]
    lines.insert(1, _line(["---"] * width))
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
