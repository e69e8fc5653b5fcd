"""What the lines of a PDF are: running heads, headings, paragraphs, list items, code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile

from ragpg.parsing.pdf_lines import Line, PageText

_MARGIN = 0.14
_OUTERMOST = 3
_MIN_REPEATS = 3
_HEADING_RATIO = 1.15
_MAX_HEADING = 150
_MAX_BOLD_HEADING = 100
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"(?:page |seite )?[-–—(]? ?(?:#|[ivxlc]+) ?[-–—)]?(?: (?:/|of|von) #)?", re.IGNORECASE
)
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|kapitel)\s+)?[\dA-Z]{0,3}(?:\.\d+)*[.:)]?\s+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Style:
    """What is usual in the document."""

    body_size: float
    leading: float
    code_is_marked: bool
    words: frozenset[str]


def measure(pages: Sequence[PageText]) -> Style:
    """Find the size of the running text, the distance of its lines, and whether monospaced text stands out."""
    sizes: Counter[float] = Counter()
    leadings: Counter[float] = Counter()
    monospaced = total = 0
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text)
            monospaced += len(line.text) * line.monospaced
            total += len(line.text)
        for before, line in pairwise(page.lines):
            gap = before.y - line.y
            if before.size == line.size and 0.9 * line.size < gap < 3 * line.size:
                leadings[round(gap / line.size, 1)] += 1
    words = {word for page in pages for line in page.lines for word in re.findall(r"\w+(?:-\w+)*", line.text)}
    return Style(
        body_size=sizes.most_common(1)[0][0] if sizes else 0.0,
        leading=leadings.most_common(1)[0][0] if leadings else 1.2,
        code_is_marked=monospaced * 2 < total,
        words=frozenset(words),
    )


def without_running_lines(pages: Sequence[PageText]) -> list[list[Line]]:
    """Leave out the lines at the head and foot of the pages that repeat from page to page, and page numbers."""
    edges = [_edge_lines(page) for page in pages]
    repeats = Counter(key for page in edges for key in {_appearance(line) for line in chain(*page)})

    def running(page: Sequence[Sequence[Line]]) -> set[Line]:
        """From the edge inwards, as long as they repeat: the text itself may repeat, too."""
        return {line for edge in page for line in takewhile(repeated, edge)}

    def repeated(line: Line) -> bool:
        key = _appearance(line)
        return repeats[key] >= (2 if _PAGE_NUMBER.fullmatch(key) else _MIN_REPEATS)

    kept: list[list[Line]] = []
    for page, edge in zip(pages, edges, strict=True):
        out = running(edge)
        kept.append([line for line in page.lines if line not in out] or list(page.lines))
    return kept


def heading_levels(
    pages: Sequence[Sequence[Line]], outline: Sequence[tuple[int, int, str]], style: Style
) -> dict[Line, int]:
    """Find the headings.

    Parameters
    ----------
    pages
        The lines of each page.
    outline
        The bookmarks: level from 1, index of the page, title.
    style
        What is usual in the document.

    Returns
    -------
    dict[Line, int]
        The headings' lines and levels: by the bookmarks where most of them are found as lines, else by size, else (in a document of one
        size) by short bold lines that stand alone.
    """
    marked: dict[Line, int] = {}
    found = 0
    for level, page, title in outline:
        wanted = _comparable(title)
        match = next((line for line in pages[page] if wanted and _comparable(line.text) == wanted), None)
        if match is not None:
            marked[match] = min(level, 6)
            found += 1
    if found >= 2 and found * 2 >= len(outline):
        return marked
    large = [
        [line for line in page if line.size >= _HEADING_RATIO * style.body_size and _may_be_heading(line)]
        for page in pages
    ]
    if any(large):
        return _levels_by_size(large)
    return {line: 1 for page in pages for line in _lone_bold(page)}


def _levels_by_size(pages: Sequence[Sequence[Line]]) -> dict[Line, int]:
    """The largest is level 1. The other sizes of one page only (a cover's) must not push the sections down: they share a level."""
    used = Counter(size for page in pages for size in {line.size for line in page})
    repeated = {size for size, count in used.items() if count > 1}
    ranked = repeated | {max(used)} if repeated else set(used)
    return {line: min(1 + sum(size > line.size for size in ranked), 6) for page in pages for line in page}


def _edge_lines(page: PageText) -> tuple[list[Line], list[Line]]:
    """The lines within the margins, the lowest first and the highest first."""
    margin = (page.top - page.bottom) * _MARGIN
    rising = sorted(page.lines, key=lambda line: line.y)
    low = [line for line in rising[:_OUTERMOST] if line.y < page.bottom + margin]
    high = [line for line in rising[: -_OUTERMOST - 1 : -1] if line.y > page.top - margin]
    return low, high


def _appearance(line: Line) -> str:
    return _DIGITS.sub("#", line.text)


def _comparable(text: str) -> str:
    text = " ".join(text.split()).casefold()
    return _NUMBERING.sub("", text) or text


def _may_be_heading(line: Line) -> bool:
    text = line.text
    return (
        len(text) <= _MAX_HEADING
        and any(character.isalpha() for character in text)
        and not text.endswith((",", ";"))
    )


def _lone_bold(page: Sequence[Line]) -> Iterable[Line]:
    for index, line in enumerate(page):
        around = [*page[max(0, index - 1) : index], *page[index + 1 : index + 2]]
        if (
            line.bold
            and not any(other.bold for other in around)
            and not any(abs(other.y - line.y) < line.size / 2 for other in around)
            and len(line.text) <= _MAX_BOLD_HEADING
            and _may_be_heading(line)
            and not line.text.endswith((".", ":"))
        ):
            yield line
