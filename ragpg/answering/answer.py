"""From a question and its hits to a cited answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from ragpg.answering.citations import CITATION_REMOVED, check_citations
from ragpg.answering.extractive import SentenceEmbedder, extract_answer
from ragpg.answering.generate import Generator
from ragpg.answering.language import is_unknown_answer, unknown_answer
from ragpg.answering.prompt import PromptTemplate, default_template, select_context
from ragpg.errors import InvalidArgument, InvalidQuery
from ragpg.text import token_counter
from ragpg.types import Answer, SearchHits

ANSWER_TRUNCATED: Final = "answer_truncated"
UNCITED_ANSWER: Final = "uncited_answer"


def answer_question(
    question: str,
    hits: SearchHits,
    *,
    generator: Generator | None,
    embedder: SentenceEmbedder | None = None,
    max_context_tokens: int = 3000,
    template: PromptTemplate | None = None,
    count_tokens: Callable[[str], int] | None = None,
) -> Answer:
    """Answer a question from search hits, with citations.

    Parameters
    ----------
    question
        The question.
    hits
        What the search found, in rank order.
    generator
        The language model that writes the answer; ``None``: the answer is made of sentences of the hits.
    embedder
        Helps to choose these sentences; not used with a generator.
    max_context_tokens
        Upper limit for the sources in the prompt.
    template
        The prompt; the one that comes with ragpg when not given.
    count_tokens
        How the budget is counted; cl100k when not given.

    Returns
    -------
    Answer
        ``degraded`` holds the words of the hits, then ``context_truncated`` (a hit was cut or left out), ``answer_truncated`` (the model
        reached its output limit), ``citation_removed`` (it cited a number that is not there), ``uncited_answer`` (it cited nothing),
        ``no_sentence_embedding`` (sentences were chosen by their words only, because the embedder failed).

    Raises
    ------
    InvalidQuery
        If the question is empty.
    InvalidArgument
        If the budget is too small for any source.
    GenerationError
        If the model fails.
    """
    if not question.strip():
        raise InvalidQuery("the question is empty: write what you want to know")
    if max_context_tokens < 1:
        raise InvalidArgument(f"max_context_tokens must be at least 1, got {max_context_tokens}")
    if generator is None:
        answer = extract_answer(question, hits, embedder=embedder)
    else:
        answer = _generate(
            question,
            hits,
            generator,
            max_context_tokens,
            template or default_template(),
            count_tokens or _cl100k(),
        )
    return replace(answer, degraded=tuple(dict.fromkeys((*hits.degraded, *answer.degraded))))


def _generate(
    question: str,
    hits: SearchHits,
    generator: Generator,
    max_context_tokens: int,
    template: PromptTemplate,
    count_tokens: Callable[[str], int],
) -> Answer:
    context, degraded = select_context(hits, count_tokens=count_tokens, max_context_tokens=max_context_tokens)
    if not context:
        return Answer(unknown_answer(question), (), (), tuple(degraded), extractive=False, answered=False)
    generation = generator.generate(template.messages(question, context))
    if generation.truncated:
        degraded.append(ANSWER_TRUNCATED)
    checked = check_citations(generation.text, context)
    answered = not is_unknown_answer(checked.text)
    if answered and checked.removed:
        degraded.append(CITATION_REMOVED)
    if answered and not checked.citations:
        degraded.append(UNCITED_ANSWER)
    return Answer(
        text=checked.text,
        citations=checked.citations if answered else (),
        context=tuple(context),
        degraded=tuple(degraded),
        extractive=False,
        answered=answered,
        model=generation.model,
        usage=generation.usage,
    )


def _cl100k() -> Callable[[str], int]:
    return token_counter("cl100k_base").count
