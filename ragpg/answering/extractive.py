"""Answers without a language model: the sentences of the best hits that say most about the question, each with its source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Protocol

from ragpg.answering.citations import cite
from ragpg.answering.expected import expected_answer, holds
from ragpg.answering.language import guess_language, unknown_answer
from ragpg.answering.markers import without_markers
from ragpg.answering.prompt import distinct_hits
from ragpg.answering.units import Unit, hit_units
from ragpg.answering.words import (
    content_terms,
    inverse_frequency,
    is_identifier,
    overlap,
    synonyms,
    terms,
)
from ragpg.errors import EmbeddingError
from ragpg.types import Answer, Citation, SearchHit

LEAD_IN: Final = "Extracted from the sources (no language model configured):"
NO_SENTENCE_EMBEDDING: Final = "no_sentence_embedding"

# Chosen with all-MiniLM-L6-v2 on 500 questions of XQuAD (English; 8 paragraphs each): it answers 95 % of the questions whose paragraph
# is there, 28 % where it is missing but others of its article are there, 3 % where the article is missing too. Of 253 questions about
# the example handbook it answers 124 of the 131 that have an answer there (119 with the right sentence) and 11 of the 122 that have none.
_THRESHOLD: Final = 0.418
# By words alone, the same three figures on 200 questions (en 500): en .34: 88, 23, 11 %; ja (JSQuAD) .30: 92, 33, 9; de .25: 90, 44, 8;
# zh .20: 75, 14, 5; ar .20: 86, 50, 11; th .42: 100, 94, 16. Other languages take the value of German.
_LEXICAL_THRESHOLD: Final = 0.25
_LEXICAL_THRESHOLDS: Final = {"en": 0.34, "ja": 0.30, "zh": 0.20, "ar": 0.20, "th": 0.42}
# Words weigh the rest. Where 95 % of the XQuAD questions with their paragraph are answered, heavier vectors let fewer handbook
# questions without an answer through (6 %) and more of those whose paragraph is missing (31 to 34 %).
_SIMILARITY_WEIGHT: Final = 0.5
_SOURCE_WEIGHT: Final = 0.1
_FIT_WEIGHT: Final = 0.08
_LOOKED_UP_WEIGHT: Final = 0.1
_RANK_PENALTY: Final = 0.00625
_CONTEXT_CREDIT: Final = 0.7
_SYNONYM_CREDIT: Final = 0.85
_EMBEDDED_UNITS: Final = 24
_MAX_UNITS: Final = 3
_SAME_SOURCE: Final = 0.6
_OTHER_SOURCE: Final = 0.8
_SAME_SENTENCE: Final = 0.8
# Models differ in the cosine of texts that have nothing to do with each other (near 0 for some, 0.75 for E5): it counts as 0.
_BACKGROUND: Final = (
    "The cat sleeps on the warm windowsill.",
    "She bought apples and pears at the market.",
    "The orchestra played until midnight.",
    "Snow covered the road over the mountain.",
    "He painted the old boat blue.",
)


class SentenceEmbedder(Protocol):
    """The part of an embedder that scores sentences."""

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        ...


@dataclass(slots=True)
class Candidate:
    """A unit of a source, and how well it answers.

    ``number`` is the source's rank. ``shared`` are the question's words in the unit, ``coverage`` is their weight (0 to 1),
    ``similarity`` that of the vectors, ``source_similarity`` that of the whole source's. ``fit`` is 1 where the unit holds the kind of
    answer that the question asks for (a number, a name), -1 where it does not, 0 where the question does not tell.
    """

    number: int
    unit: Unit
    words: frozenset[str]
    context_words: frozenset[str]
    heading: str
    shared: frozenset[str] = frozenset()
    coverage: float = 0.0
    similarity: float | None = None
    source_similarity: float = 0.0
    fit: int = 0
    is_looked_up: bool = False

    @property
    def support(self) -> float:
        """How far the unit answers the question, for the comparison with a threshold."""
        if self.similarity is None:
            return self.coverage
        return (
            _SIMILARITY_WEIGHT * self.similarity
            + _SOURCE_WEIGHT * self.source_similarity
            + (1 - _SIMILARITY_WEIGHT - _SOURCE_WEIGHT) * self.coverage
            + _FIT_WEIGHT * self.fit
            + _LOOKED_UP_WEIGHT * self.is_looked_up
        )

    @property
    def score(self) -> float:
        """The support, with a small advantage for better hits."""
        return self.support - _RANK_PENALTY * self.number


def extract_answer(
    question: str, hits: Sequence[SearchHit], *, embedder: SentenceEmbedder | None = None
) -> Answer:
    """Answer a question with sentences of the sources.

    Parameters
    ----------
    question
        The question.
    hits
        The hits in rank order.
    embedder
        Judges sentences by meaning too; without it only the words count.

    Returns
    -------
    Answer
        ``extractive``; its text begins with `LEAD_IN`, and a few sentences follow, those of the best source first, each with its
        ``[n]``. The numbers count the quoted sources from 1, in order of first use; ``citations`` says which they are. Where nothing
        supports the question it is the fixed phrase for "I don't know", without citations and ``answered`` false.
    """
    context = distinct_hits(hits)
    candidates, degraded = score_units(question, context, embedder)
    chosen = _in_reading_order(_choose(candidates, _threshold(question, candidates)), context)
    if not chosen:
        return Answer(
            unknown_answer(question), (), tuple(context), tuple(degraded), extractive=True, answered=False
        )
    return Answer(
        text=f"{LEAD_IN}\n\n{_compose(chosen)}",
        citations=tuple(_citations(chosen, context)),
        context=tuple(context),
        degraded=tuple(degraded),
        extractive=True,
        answered=True,
    )


def score_units(
    question: str, context: Sequence[SearchHit], embedder: SentenceEmbedder | None
) -> tuple[list[Candidate], list[str]]:
    """Score the units of the sources for a question.

    Parameters
    ----------
    question
        The question.
    context
        The sources; the first is number 1.
    embedder
        Judges by meaning; ``None``: by words only.

    Returns
    -------
    candidates : list of Candidate
        The best first.
    degraded : list of str
        ``no_sentence_embedding`` if there was an embedder and it failed.
    """
    candidates = [
        _candidate(number, hit, unit) for number, hit in enumerate(context, 1) for unit in hit_units(hit)
    ]
    about = _about_codes(question, context, candidates)
    language = guess_language(question)
    wanted = content_terms(question, language) or list(dict.fromkeys(terms(question)))
    expected = expected_answer(question, language)
    weights = inverse_frequency(wanted, [candidate.words for candidate in candidates])
    total = sum(weights.values())
    for candidate in candidates:
        candidate.shared = candidate.words & weights.keys()
        credit = sum(weight * _credit(term, candidate) for term, weight in weights.items())
        candidate.coverage = credit / total if total else 0.0
        if expected is not None:
            held = holds(candidate.unit.text, expected, question=question, language=language)
            candidate.fit = 1 if held else -1
        candidate.is_looked_up = candidate.unit.kind == "row" and _is_looked_up(candidate.unit, wanted)
    candidates = sorted(about, key=lambda candidate: -candidate.score)
    if embedder is None or not candidates:
        return candidates, []
    shortlist = sorted(candidates, key=lambda candidate: -_promise(candidate, context))[:_EMBEDDED_UNITS]
    try:
        query = embedder.embed_query(question)
        vectors = embedder.embed_documents([*_BACKGROUND, *map(_embedding_input, shortlist)])
    except EmbeddingError:
        return candidates, [NO_SENTENCE_EMBEDDING]
    cosines = [_cosine(query, vector) for vector in vectors]
    zero = median(cosines[: len(_BACKGROUND)])
    for candidate, cosine in zip(shortlist, cosines[len(_BACKGROUND) :], strict=True):
        distance = context[candidate.number - 1].vector_distance
        candidate.similarity = _above(zero, cosine)
        candidate.source_similarity = (
            candidate.similarity if distance is None else _above(zero, 1.0 - distance)
        )
    return sorted(shortlist, key=lambda candidate: -candidate.score), []


def _candidate(number: int, hit: SearchHit, unit: Unit) -> Candidate:
    around = f"{hit.title or ''} {hit.heading} {unit.context}"
    return Candidate(
        number=number,
        unit=unit,
        words=frozenset(terms(unit.text)),
        context_words=frozenset(terms(around)),
        heading=hit.heading.split("\n")[0].split(" › ")[-1],
    )


def _credit(term: str, candidate: Candidate) -> float:
    """Tell how far a unit says a word of the question: itself, by a word that means the same, or by what stands above it."""
    alike = synonyms(term)
    if term in candidate.words:
        return 1.0
    own = _SYNONYM_CREDIT if alike & candidate.words else 0.0
    above = _CONTEXT_CREDIT if term in candidate.context_words else 0.0
    return max(own, above, _CONTEXT_CREDIT * _SYNONYM_CREDIT if alike & candidate.context_words else 0.0)


def _is_looked_up(row: Unit, wanted: Sequence[str]) -> bool:
    """Tell whether a question names a column of a table and, by another word, a cell of this row, as one looks up a table."""
    parts = [part.partition(": ") for part in row.text.split("; ")]
    names = frozenset(terms(" ".join(name for name, colon, _ in parts if colon)))
    cells = frozenset(terms(" ".join(value or name for name, _, value in parts)))
    columns = {term for term in wanted if term in names or synonyms(term) & names}
    return bool(columns) and any(term in cells for term in wanted if term not in columns)


def _embedding_input(candidate: Candidate) -> str:
    above = candidate.unit.context or candidate.heading
    return f"{above}\n\n{candidate.unit.text}" if above else candidate.unit.text


def _threshold(question: str, candidates: Sequence[Candidate]) -> float:
    if any(candidate.similarity is not None for candidate in candidates):
        return _THRESHOLD
    return _LEXICAL_THRESHOLDS.get(guess_language(question), _LEXICAL_THRESHOLD)


def _choose(candidates: Sequence[Candidate], threshold: float) -> list[Candidate]:
    """Take the best unit and others that come near it, rather from the same source; none if the best is too weak."""
    if not candidates or candidates[0].support < threshold:
        return []
    best = candidates[0]
    chosen = [best]
    for candidate in candidates[1:]:
        if len(chosen) == _MAX_UNITS:
            break
        if _adds(candidate, best) and all(
            overlap(candidate.words, other.words, {}) < _SAME_SENTENCE for other in chosen
        ):
            chosen.append(candidate)
    return chosen


def _in_reading_order(chosen: Sequence[Candidate], context: Sequence[SearchHit]) -> list[Candidate]:
    """Begin with the best unit and the chosen ones that directly adjoin it; the others follow by source and place."""
    if not chosen:
        return []
    sources = list(dict.fromkeys(candidate.number for candidate in chosen))
    leading = _adjoining(chosen[0], chosen, context)
    others = [candidate for candidate in chosen if candidate not in leading]
    others.sort(key=lambda candidate: (sources.index(candidate.number), candidate.unit.start))
    return [*leading, *others]


def _adjoining(best: Candidate, chosen: Sequence[Candidate], context: Sequence[SearchHit]) -> list[Candidate]:
    """Return a unit and the sentences around it that were chosen too, with nothing between them, in the order of the text."""
    content = context[best.number - 1].content
    own = sorted(
        (candidate for candidate in chosen if candidate.number == best.number),
        key=lambda candidate: candidate.unit.start,
    )
    run = [best]
    if best.unit.kind != "sentence":
        return run
    for candidate in own:
        if (
            candidate.unit.start >= run[-1].unit.end
            and not content[run[-1].unit.end : candidate.unit.start].strip()
        ):
            run.append(candidate)
    for candidate in reversed(own):
        if (
            candidate.unit.end <= run[0].unit.start
            and not content[candidate.unit.end : run[0].unit.start].strip()
        ):
            run.insert(0, candidate)
    return run


def _adds(candidate: Candidate, best: Candidate) -> bool:
    """Tell whether a unit may stand beside the best one: near it, and about the same codes where that one names the question's codes."""
    if any(is_identifier(term) for term in best.shared - candidate.words - candidate.context_words):
        return False
    if candidate.number == best.number:
        return candidate.score >= _SAME_SOURCE * best.score
    return bool(candidate.shared) and candidate.score >= _OTHER_SOURCE * best.score


def _about_codes(
    question: str, context: Sequence[SearchHit], candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Keep the units that are about a code in the question (``ERR-1042``), where it has one: another code's text is no answer.

    A unit is about a code that it holds, or that stands above it or, for a sentence, in the sentence before.
    """
    wanted = [_spelled(term) for term in dict.fromkeys(terms(question)) if is_identifier(term)]
    if not wanted:
        return list(candidates)
    kept: list[Candidate] = []
    before: Candidate | None = None
    for candidate in candidates:
        hit, unit = context[candidate.number - 1], candidate.unit
        held = [hit.title or "", hit.heading, unit.context, unit.text]
        if (
            before is not None
            and before.number == candidate.number
            and unit.kind == before.unit.kind == "sentence"
        ):
            held.append(before.unit.text)
        if any(code.search("\n".join(held).casefold()) for code in wanted):
            kept.append(candidate)
        before = candidate
    return kept


def _spelled(identifier: str) -> re.Pattern[str]:
    """Match a code however it is divided: ``err1042``, ``err-1042``, ``err 1042``."""
    parts = map(re.escape, re.findall(r"\d+|\D+", identifier))
    return re.compile(rf"(?<!\w){'@'.join(parts)}(?!\w)".replace("@", r"[\W_]?"))


def _citations(chosen: Sequence[Candidate], context: Sequence[SearchHit]) -> Iterator[Citation]:
    """Cite each source once, numbered by first use, with its best unit and the chosen ones that directly adjoin it."""
    for source, number in _numbers(chosen).items():
        own = [candidate for candidate in chosen if candidate.number == source]
        run = _adjoining(max(own, key=lambda candidate: candidate.score), own, context)
        yield cite(number, context[source - 1], run[0].unit.start, run[-1].unit.end)


def _numbers(chosen: Sequence[Candidate]) -> dict[int, int]:
    """Number the sources that are quoted 1, 2, 3 in order of first use, whatever their rank."""
    return {source: number for number, source in enumerate(dict.fromkeys(each.number for each in chosen), 1)}


def _compose(chosen: Sequence[Candidate]) -> str:
    numbers = _numbers(chosen)
    text = ""
    block = False
    for candidate in chosen:
        is_block = candidate.unit.kind != "sentence"
        if text:
            text += "\n\n" if block or is_block else " "
        separator = "\n" if candidate.unit.kind == "code" else " "
        text += f"{without_markers(candidate.unit.text)}{separator}[{numbers[candidate.number]}]"
        block = is_block
    return text


def _promise(candidate: Candidate, context: Sequence[SearchHit]) -> float:
    """Foretell the score from what is known before the unit has a vector: its words, and how near its source is."""
    distance = context[candidate.number - 1].vector_distance
    return candidate.score + (0.0 if distance is None else 1.0 - distance)


def _above(zero: float, cosine: float) -> float:
    return max(0.0, cosine - zero) / max(1.0 - zero, 1e-6)


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(left, right, strict=True))
    norm = sum(a * a for a in left) ** 0.5 * sum(b * b for b in right) ** 0.5
    return dot / norm if norm else 0.0
