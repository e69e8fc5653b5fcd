"""The questions that ``ragpg quickstart`` asks: fixed ones for the example handbook, derived ones for anybody's folder."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragpg.errors import RagpgError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragpg.types import ParsedDocument

_WORD = re.compile(r"\w+")
_MOST_FILES = 60
_QUICK_SUFFIXES = (".md", ".markdown", ".txt", ".html", ".htm")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, who asks it (no principals: the public), and what to look at in the answer."""

    text: str
    principals: tuple[str, ...] = ()
    remark: str = ""

    @property
    def asked_as(self) -> list[str] | None:
        """The principals as ``search`` takes them."""
        return list(self.principals) or None


HANDBOOK_QUESTIONS = (
    Question(
        "ERR-1042",
        ("group:engineering",),
        "An exact code: the words find it, to a vector all codes look alike.",
    ),
    Question(
        "how long until I get my money back",
        (),
        "A paraphrase: the page has none of these words, it says reimbursement; the vectors know.",
    ),
    Question(
        "what does a team lead earn per year",
        ("group:staff",),
        "Permissions: staff may not read the salary bands, so no leg shows a trace of them …",
    ),
    Question(
        "what does a team lead earn per year",
        ("group:staff", "group:hr-leads"),
        "… the same question, asked by a lead of the people team.",
    ),
)
HANDBOOK_ANSWER = Question("How many days of annual leave do I have?", ("group:staff",))


def distinct(questions: Iterable[Question]) -> int:
    """Count the questions, one that is asked as several callers once.

    Parameters
    ----------
    questions
        The questions.

    Returns
    -------
    int
        How many different texts they have.
    """
    return len({question.text for question in questions})


def numbers(questions: Iterable[Question]) -> list[str]:
    """Number the questions: 1, 2, and 3a, 3b for one that is asked as two callers.

    Parameters
    ----------
    questions
        The questions.

    Returns
    -------
    list[str]
        One number each, in the same order.
    """
    texts = [question.text for question in questions]
    order = list(dict.fromkeys(texts))
    return [
        f"{order.index(text) + 1}{chr(ord('a') + texts[:place].count(text)) if texts.count(text) > 1 else ''}"
        for place, text in enumerate(texts)
    ]


def derive_questions(files: Iterable[Path], count: int = 3) -> list[Question]:
    """Make known-item questions from somebody's own documents: their most distinctive headings.

    A heading is distinctive when its words are rare in the other documents. At most one question a document, so that they spread.

    Parameters
    ----------
    files
        The files that were ingested.
    count
        How many questions.

    Returns
    -------
    list[Question]
        Up to ``count`` questions; none where no file has a heading, a title or a sentence.
    """
    documents = list(_parse(files))
    frequency: Counter[str] = Counter()
    for document in documents:
        frequency.update(set(_words(document.content)))
    best: dict[str, tuple[float, str, str]] = {}
    for document in documents:
        scored = [(_score(text, frequency, len(documents)), text) for text in _phrases(document)]
        if scored:
            score, text = max(scored)
            best.setdefault(text.lower(), (score, text, document.title or ""))
    chosen = sorted(best.values(), key=lambda entry: (-entry[0], entry[1]))[:count]
    return [Question(text, (), f"A heading of “{title}”." if title else "") for _, text, title in chosen]


def _parse(files: Iterable[Path]) -> Iterator[ParsedDocument]:
    from ragpg.parsing import parse_path

    in_order = sorted(files, key=lambda path: (path.suffix.lower() not in _QUICK_SUFFIXES, path))
    for path in in_order[:_MOST_FILES]:
        try:
            yield parse_path(path)
        except RagpgError:
            # Ingest has reported it already.
            continue


def _phrases(document: ParsedDocument) -> Iterator[str]:
    """Yield what could be asked about a document: headings, else its title, else the start of its first paragraph."""
    found = False
    for block in document.blocks:
        if block.kind != "heading":
            continue
        text = document.content[block.char_start : block.char_end].strip().strip("#").strip()
        if 2 <= len(text.split()) <= 9:
            found = True
            yield text
    if found:
        return
    if document.title and len(document.title.split()) >= 2:
        yield document.title
        return
    words = document.content.split()
    if len(words) >= 3:
        yield " ".join(words[:8]).rstrip(".,;:")


def _score(text: str, frequency: Counter[str], documents: int) -> float:
    words = [word for word in _words(text) if len(word) > 2]
    if not words:
        return 0.0
    return sum(math.log(1 + documents / (frequency[word] or 1)) for word in words) / len(words)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
