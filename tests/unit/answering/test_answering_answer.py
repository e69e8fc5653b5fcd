from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragpg.answering import Generation, Message, OpenAIGenerator, PromptTemplate, answer_question
from ragpg.errors import GenerationError, InvalidArgument, InvalidQuery
from ragpg.types import SearchHits
from tests.unit.answering.chat_server import ChatServer, completion, failure
from tests.unit.answering.conftest import MakeHit


class Scripted:
    """A model that writes one thing, and remembers what it was asked."""

    model = "scripted"

    def __init__(self, text: str, *, truncated: bool = False) -> None:
        self.text = text
        self.truncated = truncated
        self.asked: list[Sequence[Message]] = []

    def generate(self, messages: Sequence[Message]) -> Generation:
        self.asked.append(messages)
        return Generation(self.text, "scripted-v1", {"total_tokens": 9}, self.truncated)


@pytest.fixture
def hits(make_hit: MakeHit) -> SearchHits:
    return SearchHits(
        [
            make_hit("Refunds take 14 days.", document="a", char_start=30),
            make_hit("Shipping is free.", document="b"),
        ],
        ["stale_statistics"],
    )


def test_a_generated_answer_with_its_citations(hits: SearchHits) -> None:
    model = Scripted("Refunds take 14 days [1].")
    answer = answer_question("How long do refunds take?", hits, generator=model)
    assert answer.text == "Refunds take 14 days [1]."
    assert [(c.number, c.quote, c.char_start) for c in answer.citations] == [(1, "Refunds take 14 days.", 30)]
    assert answer.context == tuple(hits)
    assert (answer.answered, answer.extractive) == (True, False)
    assert (answer.model, answer.usage) == ("scripted-v1", {"total_tokens": 9})
    assert answer.degraded == ("stale_statistics",)
    ((system, user),) = model.asked
    assert (system.role, user.role) == ("system", "user")
    assert "> Refunds take 14 days." in user.content


def test_an_invented_citation_is_removed_and_reported(hits: SearchHits) -> None:
    answer = answer_question("How long?", hits, generator=Scripted("14 days [1][5]."))
    assert answer.text == "14 days [1]."
    assert answer.degraded == ("stale_statistics", "citation_removed")


def test_an_answer_without_citations_is_reported(hits: SearchHits) -> None:
    answer = answer_question("How long?", hits, generator=Scripted("14 days."))
    assert answer.degraded == ("stale_statistics", "uncited_answer")
    assert answer.answered


def test_a_cut_answer_is_reported(hits: SearchHits) -> None:
    answer = answer_question("How long?", hits, generator=Scripted("14 [1]", truncated=True))
    assert answer.degraded == ("stale_statistics", "answer_truncated")


@pytest.mark.parametrize(
    "text", ["I don't know: the sources do not answer this question.", "I don't know [1]."]
)
def test_not_knowing_has_no_citations(hits: SearchHits, text: str) -> None:
    answer = answer_question("Who is the president?", hits, generator=Scripted(text))
    assert (answer.answered, answer.citations) == (False, ())
    assert answer.degraded == ("stale_statistics",)
    assert answer.model == "scripted-v1"


def test_without_context_the_model_is_not_asked() -> None:
    model = Scripted("made up")
    answer = answer_question("Wie lange dauert das?", SearchHits(), generator=model)
    assert model.asked == []
    assert answer.text.startswith("Das weiß ich nicht")
    assert (answer.answered, answer.extractive, answer.model) == (False, False, None)


def test_the_budget_is_the_callers(hits: SearchHits) -> None:
    answer = answer_question(
        "How long?", hits, generator=Scripted("14 days [1]."), max_context_tokens=60, count_tokens=len
    )
    assert [hit.external_id for hit in answer.context] == ["a"]
    assert "context_truncated" in answer.degraded


@pytest.mark.parametrize("question", ["", "  \n\t "])
@pytest.mark.parametrize("generator", [None, Scripted("x")])
def test_an_empty_question_is_refused(hits: SearchHits, question: str, generator: Scripted | None) -> None:
    with pytest.raises(InvalidQuery, match="empty"):
        answer_question(question, hits, generator=generator)


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_below_one_is_refused(hits: SearchHits, budget: int) -> None:
    with pytest.raises(InvalidArgument, match="at least 1"):
        answer_question("Why?", hits, generator=None, max_context_tokens=budget)


def test_a_template_of_ones_own_is_used(hits: SearchHits) -> None:
    model = Scripted("14 days [1].")
    template = PromptTemplate.parse("[system]\nBe a pirate.\n[user]\n$question $sources")
    answer_question("How long?", hits, generator=model, template=template)
    assert model.asked[0][0] == Message("system", "Be a pirate.")


def test_through_a_real_endpoint(server: ChatServer, hits: SearchHits) -> None:
    server.replies = [
        failure(503, retry_after="0.05"),
        completion("Refunds take 14 days [1]. Shipping is free [2]."),
    ]
    answer = answer_question("How long?", hits, generator=OpenAIGenerator("m", base_url=server.url))
    assert [citation.external_id for citation in answer.citations] == ["a", "b"]
    assert answer.usage["total_tokens"] == 128
    assert answer.model == "served-model"


def test_a_failing_model_is_not_hidden(server: ChatServer, hits: SearchHits) -> None:
    server.replies = [failure(401)]
    with pytest.raises(GenerationError, match="401"):
        answer_question("How long?", hits, generator=OpenAIGenerator("m", base_url=server.url))
