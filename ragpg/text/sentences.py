"""Where sentences end, in any language that ends them with punctuation. No text makes it fail."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import cast

import sentencex  # pyright: ignore[reportMissingTypeStubs]

Span = tuple[int, int]

_log = logging.getLogger(__name__)
_segment = cast("Callable[[str, str], list[str]]", sentencex.segment)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]

# The segmenter's time grows with the square of a paragraph's length.
_WINDOW = 4000
# sentencex 1.0.32 panics on one letter, such a space and a full stop ("A\u00a0."), as French and Japanese text has them.
_OTHER_SPACE = re.compile(r"[^\S\n\r\t ]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PLAIN_END = re.compile(r"(?:[.!?…]+[\"'”’»)\]]*\s|[。！？]|\n)\s*")


def split_sentences(text: str, language: str = "en") -> list[Span]:
    """Cut a text between its sentences.

    Parameters
    ----------
    text
        Running text of any length.
    language
        ISO 639-1 code; it decides which abbreviations end no sentence.

    Returns
    -------
    list of (int, int)
        Consecutive ranges that cover the text, none of them empty. White space belongs to the sentence before it.
    """
    cuts = [0]
    while (position := cuts[-1]) < len(text):
        stop = min(len(text), position + _WINDOW)
        if stop < len(text):
            stop = word_start(text, position + _WINDOW // 2, stop)
        ends = [position + end for end in _ends(text[position:stop], language)]
        # The last sentence of a window may go on after it.
        cuts += ends[:-1] if stop < len(text) and len(ends) > 1 else ends
    return list(pairwise(cuts))


def word_start(text: str, low: int, cut: int) -> int:
    """Move a cut back to the start of the word that it would part, where that word starts after ``low``."""
    if text[cut - 1 : cut + 1].strip() != text[cut - 1 : cut + 1]:
        return cut
    last_word = text[low:cut].rsplit(None, 1)[-1]
    return cut - len(last_word) if len(last_word) < cut - low else cut


def _ends(text: str, language: str) -> Iterator[int]:
    # One character for one keeps the offsets. Rust code takes no lone surrogate, which a model's JSON may hold.
    plain = _LONE_SURROGATE.sub("\ufffd", _OTHER_SPACE.sub(" ", text))
    try:
        pieces = _segment(language, plain)
    except BaseException as error:
        # The class of a panic in Rust code can't be imported, and derives from nothing narrower.
        if type(error).__name__ != "PanicException":
            raise
        _log.warning("the sentence segmenter failed on %d characters: %s", len(text), error)
        pieces = []
    if "".join(pieces) != plain:
        pieces = _plain_pieces(plain)
    end = 0
    for piece in pieces:
        if piece:
            end += len(piece)
            yield end


def _plain_pieces(text: str) -> list[str]:
    cuts = [0, *(match.end() for match in _PLAIN_END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(cuts)]
