"""Citations: what an answer cites is checked against its context, and each source is quoted where it says the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ragpg.answering.language import guess_language
from ragpg.answering.markers import find_markers
from ragpg.answering.units import hit_units, sentence_spans
from ragpg.answering.words import content_terms, inverse_frequency, overlap, terms
from ragpg.types import Citation, SearchHit

CITATION_REMOVED: Final = "citation_removed"


@dataclass(frozen=True, slots=True)
class CheckedText:
    """An answer after the check. ``removed`` holds the citations that were taken out, as they were written."""

    text: str
    citations: tuple[Citation, ...]
    removed: tuple[str, ...]


def check_citations(text: str, context: Sequence[SearchHit]) -> CheckedText:
    """Check the citations of an answer and build the list of its sources.

    Parameters
    ----------
    text
        The answer as it was written.
    context
        The sources; the first is ``[1]``.

    Returns
    -------
    CheckedText
        The text without the numbers that no source has; one citation per source in the order of first use, each with the sentence,
        table row or code of the source that shares most with a sentence that cites it.
    """
    cleaned, removed = _remove_unknown(text, len(context))
    citations = tuple(
        _quote(number, context[number - 1], sentences)
        for number, sentences in _citing_sentences(cleaned, len(context)).items()
    )
    return CheckedText(cleaned, citations, tuple(removed))


def _remove_unknown(text: str, count: int) -> tuple[str, list[str]]:
    parts: list[str] = []
    removed: list[str] = []
    position = 0
    for marker in find_markers(text):
        if marker.is_within(count):
            continue
        kept = "".join(f"[{number}]" for number in marker.numbers(count))
        before = text[position : marker.start]
        parts += [before if kept else before.rstrip(" "), kept]
        removed.append(text[marker.start : marker.end])
        position = marker.end
    return "".join([*parts, text[position:]]).strip(), removed


def _citing_sentences(text: str, count: int) -> dict[int, list[str]]:
    """Return, for each cited number in order of first use, the sentences that its citations end."""
    plain = ""
    position = 0
    places: list[tuple[int, list[int]]] = []
    for marker in find_markers(text):
        plain += text[position : marker.start]
        position = marker.end
        places.append((len(plain.rstrip()), marker.numbers(count)))
    plain += text[position:]
    spans = sentence_spans(plain)
    found: dict[int, list[str]] = {}
    for place, numbers in places:
        sentence = next((plain[start:end] for start, end in reversed(spans) if start < place), "")
        for number in numbers:
            found.setdefault(number, []).append(sentence)
    return found


def _quote(number: int, hit: SearchHit, sentences: Iterable[str]) -> Citation:
    spans = [(unit.start, unit.end, frozenset(terms(unit.text))) for unit in hit_units(hit)]
    citing = [frozenset(content_terms(sentence, guess_language(sentence))) for sentence in sentences]
    weights = inverse_frequency(frozenset[str]().union(*citing), [words for _, _, words in spans])
    start, end, _ = max(
        spans,
        key=lambda span: max((overlap(words, span[2], weights) for words in citing), default=0.0),
        default=(0, len(hit.content), frozenset[str]()),
    )
    return cite(number, hit, start, end)


def cite(number: int, hit: SearchHit, start: int, end: int) -> Citation:
    """Cite ``hit.content[start:end]`` as source ``number``."""
    return Citation(
        number=number,
        chunk_id=hit.chunk_id,
        document_id=hit.document_id,
        external_id=hit.external_id,
        title=hit.title,
        uri=hit.uri,
        heading=hit.heading,
        page_start=hit.page_start,
        page_end=hit.page_end,
        char_start=hit.char_start + start,
        char_end=hit.char_start + end,
        quote=hit.content[start:end],
    )
