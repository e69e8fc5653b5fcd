"""What kind of answer a question asks for (a number or a date, a person), and whether a text holds one."""

from __future__ import annotations

import re
from typing import Final, Literal

Expected = Literal["number", "name"]

_NUMBER_QUESTIONS: Final = {
    "en": re.compile(
        r"\b(?:how (?:much|many|long|often|fast|quickly|soon|old|far|deep|tall|high|big|large|heavy)|when|prices?|costs?|salary|earns?"
        r"|until what|(?:what|which) (?:year|day|date|time|percentage|share))\b"
    ),
    "de": re.compile(
        r"\b(?:wie ?(?:viele?|lange?|oft|schnell|alt|weit|tief|hoch|groß|schwer|teuer)|wann|preis|kosten|kostet|gehalt|verdient)\b"
    ),
}
_NAME_QUESTIONS: Final = {
    "en": re.compile(r"\b(?:who|whom|whose)\b"),
    "de": re.compile(r"\b(?:wer|wen|wem)\b"),
}
_NUMBERS: Final = {
    "en": re.compile(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|half|once|twice|first|second|third|free"
        r"|(?:hundred|thousand|million|billion|dozen|decade)s?|century|centuries|none|daily|weekly|monthly|yearly|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
        r"|january|february|march|april|may|june|july|august|september|october|november|december)\b"
    ),
    "de": re.compile(
        r"\d|\b(?:eine?[mnrs]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|halb\w*|einmal|zweimal|kostenlos"
        r"|täglich|wöchentlich|monatlich|jährlich|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?"
        r"|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)\b"
    ),
}
_WORD: Final = re.compile(r"\w+(?:[-.,:/]\w+)*")
_NAME: Final = re.compile(r"(?:(?<=[^\W_] )|(?<=[,;:(] ))[^\W\d_a-zäöüß]\w+")


def expected_answer(question: str, language: str) -> Expected | None:
    """Tell what an answer must hold: a number (also a date), a name, or ``None`` where that can't be told.

    Parameters
    ----------
    question
        The question.
    language
        ISO 639-1 code; English and German questions are understood.
    """
    words = question.casefold()
    if language in _NUMBER_QUESTIONS and _NUMBER_QUESTIONS[language].search(words):
        return "number"
    if language in _NAME_QUESTIONS and _NAME_QUESTIONS[language].search(words):
        return "name"
    return None


def holds(text: str, expected: Expected, *, question: str, language: str) -> bool:
    """Tell whether a text holds what is expected and the question does not say itself.

    Parameters
    ----------
    text
        A sentence or a table row.
    expected
        What `expected_answer` returned for the question: a number in digits or in words, or a name, which is a capital letter
        inside a sentence.
    question
        The question.
    language
        The language it was asked in.
    """
    said = set(_WORD.findall(question.casefold()))
    if expected == "number":
        plain = _WORD.sub(lambda word: "" if word.group() in said else word.group(), text.casefold())
        return _NUMBERS[language].search(plain) is not None
    return any(name.casefold() not in said for name in _NAME.findall(text))
