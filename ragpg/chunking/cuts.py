"""Where text can be cut: paragraphs, lines, list items, code sections, table rows, sentences, words, characters.

Every cutter takes a range of the text and returns consecutive ranges that cover it without a gap; trimming comes later.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator

from ragpg.text import Span, TokenCounter, split_sentences, word_start

Cutter = Callable[[str, int, int], list[Span]]

_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
_LINE_END = re.compile(r"\n")
_LIST_ITEM = re.compile(r"(?m)^(?P<indent>[ \t]*)(?:[-*+•‣◦]|\d{1,9}[.)])[ \t]")
_TOP_LEVEL_LINE = re.compile(r"\n[^\S\n]*\n(?=[^\s})\]])")
_ZERO_WIDTH_JOINER = "\u200d"


def trim(text: str, start: int, end: int) -> Span:
    """Drop white space around a range, but keep the indentation of its first line."""
    while end > start and text[end - 1].isspace():
        end -= 1
    first = start
    while first < end and text[first].isspace():
        first += 1
    line = text.rfind("\n", start, first) + 1
    if line:
        return line, end
    return (start if start == 0 or text[start - 1] == "\n" else first), end


def paragraphs(text: str, start: int, end: int) -> list[Span]:
    """Cut after blank lines."""
    return _cut_after(_BLANK_LINES, text, start, end)


def lines(text: str, start: int, end: int) -> list[Span]:
    """Cut after line ends."""
    return _cut_after(_LINE_END, text, start, end)


def code_sections(text: str, start: int, end: int) -> list[Span]:
    """Cut at blank lines before a line that is not indented: between top-level definitions."""
    return _cut_after(_TOP_LEVEL_LINE, text, start, end)


def list_items(text: str, start: int, end: int) -> list[Span]:
    """Cut before the items of the outermost level."""
    items = list(_LIST_ITEM.finditer(text, start, end))
    if not items:
        return [(start, end)]
    outermost = min(len(item["indent"]) for item in items)
    return _cut_at([item.start() for item in items if len(item["indent"]) == outermost], start, end)


def sentences(text: str, start: int, end: int) -> list[Span]:
    """Cut between sentences, in any language that ends them with punctuation."""
    return [(start + left, start + right) for left, right in split_sentences(text[start:end])]


def windows(
    text: str,
    start: int,
    end: int,
    budget: int,
    counter: TokenCounter,
    *,
    words: bool = True,
    overlap: int = 0,
) -> Iterator[tuple[int, int, int]]:
    """Cut into windows of at most ``budget`` tokens, between words where there are any, else between characters.

    Yields each window's range and its tokens. With ``words=False`` a window ends exactly after ``budget`` tokens, or at the last whole
    character before. A window shares its last ``overlap`` tokens with the next.
    """
    position = start
    size = budget * 5
    while position < end:
        ends = _next_token_ends(text, position, end, budget, counter, size)
        if len(ends) <= budget:
            yield position, end, len(ends)
            return
        size = ends[budget - 1]
        cut = whole_character(text, max(position + size, position + 1), position, end)
        if words:
            cut = word_start(text, position + (cut - position) // 2, cut)
        yield position, cut, bisect_left(ends, cut - position) + 1
        if cut == end:
            return
        # The next window begins after the token that is the last not to be shared, or at the cut where that makes no headway.
        shared = position + ends[max(budget - overlap, 1) - 1]
        shared = whole_character(text, shared, position, end)
        position = min(shared, cut) if overlap and shared > position else cut


def _next_token_ends(
    text: str, start: int, end: int, budget: int, counter: TokenCounter, expected: int
) -> list[int]:
    # A few tokens more than the budget: those at the cut end of the slice are not those of the whole text.
    size = expected + expected // 4 + 64
    while True:
        ends = counter.token_ends(text[start : min(end, start + size)])
        if start + size >= end or len(ends) > budget + 8:
            return ends
        size *= 2


def whole_character(text: str, cut: int, low: int, high: int) -> int:
    """Move a cut back to before the character it would part from its combining marks, but not to ``low``."""
    if cut >= high:
        return high
    for position in range(cut, max(low, cut - 32), -1):
        if not _continues(text, position):
            return position
    return cut


def _continues(text: str, position: int) -> bool:
    character = text[position]
    return (
        unicodedata.category(character)[0] == "M"
        or character == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or text[position - 1] == _ZERO_WIDTH_JOINER
        or (character == "\n" and text[position - 1] == "\r")
    )


def _cut_after(pattern: re.Pattern[str], text: str, start: int, end: int) -> list[Span]:
    return _cut_at([match.end() for match in pattern.finditer(text, start, end)], start, end)


def _cut_at(cuts: list[int], start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    for cut in cuts:
        if start < cut < end:
            spans.append((start, cut))
            start = cut
    spans.append((start, end))
    return spans
