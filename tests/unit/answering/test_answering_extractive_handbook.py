"""Questions to the example handbook, chunked and embedded as a user's would be; only the ranking is done here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest

from ragpg.answering import extract_answer
from ragpg.chunking import DEFAULT_CHUNKING, make_chunker
from ragpg.embedding import make_embedder
from ragpg.parsing import parse_path
from ragpg.types import Answer, Chunk, SearchHit

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"
PUBLIC = (
    "public/catalogue.md",
    "public/returns-and-refunds.md",
    "public/shipping.html",
    "public/warranty.txt",
)
SALARIES = "hr/salary-bands-2026.md"


@dataclass
class Shelf:
    """Some documents of the handbook."""

    chunks: list[tuple[str, Chunk, list[float]]]

    def ask(self, question: str) -> Answer:
        """Answer from the eight chunks nearest to the question."""
        embedder = make_embedder("local")
        vector = embedder.embed_query(question)
        near = sorted(self.chunks, key=lambda entry: _distance(vector, entry[2]))[:8]
        hits = [
            _hit(name, chunk, rank, _distance(vector, each))
            for rank, (name, chunk, each) in enumerate(near, 1)
        ]
        return extract_answer(question, hits, embedder=embedder)


def _distance(left: Sequence[float], right: Sequence[float]) -> float:
    return 1.0 - sum(a * b for a, b in zip(left, right, strict=True))


def _hit(name: str, chunk: Chunk, rank: int, distance: float) -> SearchHit:
    return SearchHit(
        chunk_id=uuid5(NAMESPACE_URL, f"{name}#{chunk.ordinal}"),
        document_id=uuid5(NAMESPACE_URL, name),
        external_id=name,
        title=chunk.heading.split(" › ")[0],
        uri=None,
        content=chunk.content,
        heading=chunk.heading,
        section_path=chunk.section_path,
        page_start=None,
        page_end=None,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        metadata={},
        score=1 / (60 + rank),
        vector_rank=rank,
        vector_distance=distance,
        keyword_rank=None,
        keyword_score=None,
    )


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    for module in ("onnxruntime", "tokenizers", "markdown_it", "tiktoken"):
        pytest.importorskip(module)
    chunker, embedder = make_chunker(DEFAULT_CHUNKING), make_embedder("local")
    chunks = [
        (name, chunk) for name in (*PUBLIC, SALARIES) for chunk in chunker.chunk(parse_path(HANDBOOK / name))
    ]
    vectors = embedder.embed_documents([chunk.embedding_input for _, chunk in chunks])
    return Shelf([(name, chunk, vector) for (name, chunk), vector in zip(chunks, vectors, strict=True)])


@pytest.mark.parametrize(
    ("question", "source", "quoted"),
    [
        (
            "how long until I get my money back",
            "public/returns-and-refunds.md",
            "within 10 business days after the parcel has been inspected",
        ),
        ("what does a team lead earn per year", SALARIES, "73,500"),
        ("How much does the PX-4471-B cost?", "public/catalogue.md", "980"),
        ("price of GW-220-C", "public/catalogue.md", "520"),
        ("what does the soil probe cost", "public/catalogue.md", "130"),
    ],
)
def test_the_right_sentence_comes_first(shelf: Shelf, question: str, source: str, quoted: str) -> None:
    answer = shelf.ask(question)
    assert answer.answered
    assert [citation.number for citation in answer.citations] == list(range(1, len(answer.citations) + 1))
    assert answer.citations[0].external_id == source
    first = answer.text.split("\n\n")[1].split(" [")[0]
    assert quoted in first
    assert quoted in answer.citations[0].quote


@pytest.mark.parametrize(
    "question",
    [
        "How much does the PX-9999 cost?",
        "What does ERR-1042 mean?",
        "how many vacation days do I have",
        "can I bring my dog to the office",
        "what is the wifi password",
        "when does the new assembly hall open",
    ],
)
def test_what_these_documents_do_not_say_is_not_known(shelf: Shelf, question: str) -> None:
    assert not shelf.ask(question).answered


def test_without_its_document_a_question_is_not_answered_from_another(shelf: Shelf) -> None:
    public = Shelf([entry for entry in shelf.chunks if entry[0] != SALARIES])
    assert not public.ask("what does a team lead earn per year").answered
