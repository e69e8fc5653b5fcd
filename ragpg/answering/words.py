"""Words of any language as comparable terms, and how much of a question's terms a text covers."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ragpg.answering.language import FUNCTION_WORDS

# Combining vowel signs are not "word" characters for the re module, yet belong to their word.
_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u102b-\u103e"
_LETTER: Final = rf"(?:[^\W_]|[{_MARKS}])"
_TOKEN: Final = re.compile(rf"{_LETTER}+(?:[-./_'’@]{_LETTER}+)*(?:[+#]+(?!\w))?")
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_HIRAGANA: Final = re.compile("[\u3040-\u309f]+")
_IDENTIFIER: Final = re.compile(r"[^\W\d_][\w\-./]*\d[\w\-./]*")
_FEWEST_TEXTS: Final = 20
# What a question calls otherwise than the text does, in the words of everyday and of business.
_SYNONYMS: Final = (
    "cost costs price prices charge charges fee fees",
    "earn earns earned earnings salary salaries wage wages pay paid income",
    "refund refunds refunded reimburse reimbursed reimbursement repay repaid money",
    "deliver delivery delivered ship shipping shipment",
    "guarantee guarantees warranty warranties",
    "vacation vacations holiday holidays",
    "swap exchange replace replacement",
)
# Words of questions that say nothing about what is asked for ("how long until I get it back").
_FILLERS: Final = {"en": frozenset({"back", "get", "gets", "got", "until"})}
_ENDINGS: Final = ("ings", "ern", "ing", "ies", "ied", "es", "ed", "en", "er", "em", "ly", "s", "e", "n", "y")


def is_identifier(term: str) -> bool:
    """Tell whether a term is a code rather than a word: it begins with a letter and holds a digit (``err-1042``)."""
    return _IDENTIFIER.fullmatch(term) is not None


def terms(text: str) -> list[str]:
    """Split a text into terms: words without their commonest endings, codes whole, scripts without spaces as pairs of characters.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    list of str
        The terms in order, with repeats. They are for comparing texts with each other, not for showing.
    """
    found: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        token = match.group()
        if _UNSPACED.search(token):
            found.extend(_unspaced_terms(token))
        elif is_identifier(token):
            found.append(re.sub(r"[\W_]", "", token))
            found.extend(re.findall(r"\d{3,}", token))
        elif "@" in token or token[-1] in "+#":
            found.append(token)
        elif token[0].isdigit():
            found.extend(_stem(part) for part in re.split(r"[-/_'’]", token))
        else:
            parts = re.split(r"[-./_'’]", token)
            found.extend(_stem(part) for part in parts if len(part) > 1 or len(parts) == 1)
    return found


def content_terms(text: str, language: str) -> list[str]:
    """Return the distinct terms of a text that carry meaning, in order: those of `terms` but for function words."""
    skipped = {
        _stem(word)
        for word in FUNCTION_WORDS.get(language, frozenset()) | _FILLERS.get(language, frozenset())
    }
    return list(dict.fromkeys(term for term in terms(text) if term not in skipped))


def synonyms(term: str) -> frozenset[str]:
    """Return the terms of a small English list that mean nearly the same; empty for nearly every term."""
    return _SYNONYM_TERMS.get(term, frozenset())


def inverse_frequency(vocabulary: Iterable[str], texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh each term by its rarity over a few texts: ``ln(1 + (N - df + 0.5) / (df + 0.5))``.

    Parameters
    ----------
    vocabulary
        The terms.
    texts
        The terms of each text. Fewer than 20 are counted as 20, because in two or three sentences every term is either everywhere or
        nowhere.
    """
    count = max(len(texts), _FEWEST_TEXTS)
    weights: dict[str, float] = {}
    for term in vocabulary:
        df = sum(term in text for text in texts)
        weights[term] = math.log1p((count - df + 0.5) / (df + 0.5))
    return weights


def overlap(left: frozenset[str], right: frozenset[str], weights: Mapping[str, float]) -> float:
    """Return the weighted cosine of two sets of terms, between 0 (nothing shared) and 1 (the same terms)."""
    if not left or not right:
        return 0.0
    shared = sum(weights.get(term, 1.0) for term in left & right)
    sizes = sum(weights.get(term, 1.0) for term in left) * sum(weights.get(term, 1.0) for term in right)
    return shared / math.sqrt(sizes)


def _unspaced_terms(token: str) -> list[str]:
    found: list[str] = []
    position = 0
    for match in _UNSPACED.finditer(token):
        found.extend(_stem(part) for part in re.findall(r"\w+", token[position : match.start()]))
        run = match.group()
        pairs = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        # Two hiragana are nearly always grammar (です, から), which every sentence shares with every question.
        found.extend(pair for pair in pairs if not _HIRAGANA.fullmatch(pair))
        position = match.end()
    found.extend(_stem(part) for part in re.findall(r"\w+", token[position:]))
    return found


def _stem(word: str) -> str:
    if not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= (3 if ending == "s" else 4):
            stem = word[: -len(ending)]
            if ending in {"ies", "ied", "y"}:
                return stem + "i"
            if len(stem) > 4 and stem[-1] == stem[-2] and stem[-1] not in "aeiousl":
                return stem[:-1]
            return stem
    return word


_SYNONYM_TERMS: Final = {
    _stem(word): frozenset(map(_stem, group.split())) - {_stem(word)}
    for group in _SYNONYMS
    for word in group.split()
}
