"""The prompt: which hits fit the token budget, in which order they stand, and how a source is kept from posing as instructions.

Numbers follow the rank: ``[1]`` is the best hit. Positions do not: language models read the beginning and the end of a long context best
("lost in the middle", arXiv:2307.03172), so ranks 1, 3, 5, … come first and …, 6, 4, 2 after them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from string import Template
from typing import Final, Literal

from ragpg.answering.language import unknown_answer
from ragpg.answering.markers import without_markers
from ragpg.answering.units import hit_units
from ragpg.errors import ConfigError, InvalidArgument
from ragpg.types import SearchHit, embedding_input

Role = Literal["system", "user"]
CONTEXT_TRUNCATED: Final = "context_truncated"

_SECTION: Final = re.compile(r"^\[(system|user)\][ \t]*$", re.MULTILINE)
_PLACEHOLDERS: Final = frozenset({"sources", "question", "unknown"})
# What chat templates and this prompt use to mark a turn or a source, with the look-alikes of "<" that a reader may take for it.
_CONTROL: Final = re.compile(
    r"[<＜﹤‹〈](?=[\s\u200c\u200d]*[/／]?[\s\u200c\u200d]*source\b|[/／]?(?:s|bos|eos|unk|pad|start_of_turn|end_of_turn|think)[>＞]|[|｜]|<SYS)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\b)",
    re.IGNORECASE,
)
# Joiners stay: Persian, Hindi and emoji need them.
_INVISIBLE: Final = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a chat model."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """The wording of a prompt: a system and a user message with ``$sources``, ``$question`` and ``$unknown`` in them."""

    system: str
    user: str

    @classmethod
    def parse(cls, text: str) -> PromptTemplate:
        """Read a template: a line ``[system]``, its message, a line ``[user]``, its message; ``$$`` is a dollar sign.

        Parameters
        ----------
        text
            The template. ``$sources`` and ``$question`` must be in it, ``$unknown`` (the phrase for "I don't know") may be.

        Raises
        ------
        ConfigError
            If a section or a placeholder is missing, or an unknown placeholder is there.
        """
        parts = _SECTION.split(text)
        sections = dict(zip(parts[1::2], parts[2::2], strict=True))
        if set(sections) != {"system", "user"}:
            raise ConfigError(
                "a prompt template needs two sections, each under its own line: [system] and [user]"
            )
        names: set[str] = set()
        for section in sections.values():
            template = Template(section)
            if not template.is_valid():
                raise ConfigError(
                    "the prompt template holds a $ that begins no placeholder: write $$ for a dollar sign"
                )
            names.update(template.get_identifiers())
        if missing := {"sources", "question"} - names:
            raise ConfigError(f"the prompt template lacks ${', $'.join(sorted(missing))}")
        if unknown := names - _PLACEHOLDERS:
            raise ConfigError(
                f"the prompt template has an unknown placeholder ${', $'.join(sorted(unknown))}: it may use $sources, $question, $unknown"
            )
        return cls(sections["system"].strip(), sections["user"].strip())

    @classmethod
    def from_path(cls, path: Path) -> PromptTemplate:
        """Read a template from a UTF-8 file; see `parse`."""
        try:
            return cls.parse(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the prompt template {path} can't be read: {error}") from error

    def messages(self, question: str, context: Sequence[SearchHit]) -> list[Message]:
        """Fill in the template.

        Parameters
        ----------
        question
            The user's question.
        context
            The sources, in rank order: the first is ``[1]``.
        """
        values = {
            "sources": render_sources(context),
            "question": neutralise(question.strip()),
            "unknown": unknown_answer(question),
        }
        return [
            Message("system", Template(self.system).substitute(values)),
            Message("user", Template(self.user).substitute(values)),
        ]


@cache
def default_template() -> PromptTemplate:
    """Return the template that comes with ragpg (``ragpg/answering/prompts/answer.txt``)."""
    return PromptTemplate.parse(
        resources.files("ragpg.answering").joinpath("prompts/answer.txt").read_text("utf-8")
    )


def neutralise(text: str) -> str:
    """Take from a text what could pass for the prompt's own marks: source tags, chat-template tokens, invisible characters."""
    return _CONTROL.sub(lambda match: match.group() + "\\", _INVISIBLE.sub("", text))


def render_source(number: int, hit: SearchHit) -> str:
    """Write one source as the prompt shows it.

    Every line that comes from the document begins with ``> ``, so whatever the document holds, a line that closes the source is
    never one of its own.
    """
    lines = neutralise(without_markers(embedding_input(hit.heading, hit.content))).splitlines()
    quoted = "\n".join(f"> {line}".rstrip() for line in lines)
    return f'<source number="{number}">\n{quoted}\n</source>'


def render_sources(context: Sequence[SearchHit]) -> str:
    """Write the sources, best first and last; the numbers stay those of the rank."""
    numbers = [*range(1, len(context) + 1, 2), *reversed(range(2, len(context) + 1, 2))]
    return "\n\n".join(render_source(number, context[number - 1]) for number in numbers)


def distinct_hits(hits: Sequence[SearchHit]) -> list[SearchHit]:
    """Drop a hit whose text a better one holds: the same chunk, a range inside its range, the same words and heading."""
    kept: list[SearchHit] = []
    for hit in hits:
        if not hit.content.strip() or any(_covers(better, hit) for better in kept):
            continue
        kept.append(hit)
    return kept


def _covers(better: SearchHit, hit: SearchHit) -> bool:
    if better.chunk_id == hit.chunk_id or (better.heading, better.content.split()) == (
        hit.heading,
        hit.content.split(),
    ):
        return True
    return (
        better.document_id == hit.document_id
        and better.char_start <= hit.char_start
        and hit.char_end <= better.char_end
    )


def select_context(
    hits: Sequence[SearchHit], *, count_tokens: Callable[[str], int], max_context_tokens: int
) -> tuple[list[SearchHit], list[str]]:
    """Choose the sources that fit the budget.

    Parameters
    ----------
    hits
        The hits in rank order.
    count_tokens
        Counts the tokens of a text.
    max_context_tokens
        Upper limit for the tokens of all sources together, as `render_sources` writes them.

    Returns
    -------
    context : list of SearchHit
        In rank order. The first hit that does not fit is cut at the end of a sentence or a table row, with its ``char_end`` moved
        along; later ones are in whole or not at all.
    degraded : list of str
        ``context_truncated`` if a hit was cut or left out.

    Raises
    ------
    InvalidArgument
        If not even a few words of the best hit fit.
    """
    context: list[SearchHit] = []
    degraded: list[str] = []

    def fits(hit: SearchHit) -> bool:
        return count_tokens(render_sources([*context, hit])) <= max_context_tokens

    for hit in distinct_hits(hits):
        if fits(hit):
            context.append(hit)
            continue
        if not degraded and (cut := _cut(hit, fits, or_between_words=not context)):
            context.append(cut)
        elif not context:
            raise InvalidArgument(
                f"max_context_tokens={max_context_tokens} leaves no room for any source: raise it"
            )
        degraded = [CONTEXT_TRUNCATED]
    return context, degraded


def _cut(hit: SearchHit, fits: Callable[[SearchHit], bool], *, or_between_words: bool) -> SearchHit | None:
    ends = [unit.end for unit in hit_units(hit)]
    found = _longest(hit, ends, fits)
    if found is None and or_between_words:
        ends = [match.end() for match in re.finditer(r"\S+", hit.content)]
        found = _longest(hit, ends, fits) or _longest(hit, range(1, len(hit.content)), fits)
    return found


def _longest(hit: SearchHit, ends: Sequence[int], fits: Callable[[SearchHit], bool]) -> SearchHit | None:
    low, high = 0, len(ends)
    best: SearchHit | None = None
    while low < high:
        middle = (low + high) // 2
        shorter = replace(hit, content=hit.content[: ends[middle]], char_end=hit.char_start + ends[middle])
        if fits(shorter):
            best, low = shorter, middle + 1
        else:
            high = middle
    return best
