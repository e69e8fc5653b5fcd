from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragpg.answering import LEAD_IN, answer_question, extract_answer
from ragpg.embedding import make_embedder
from ragpg.errors import EmbeddingError
from ragpg.types import Answer, SearchHit, SearchHits
from tests.unit.answering.conftest import MakeHit

CODES = "Error codes of the station firmware"
ERR_1042 = (
    "The clock of the station and the clock of the gateway differ by more than 90 seconds, so the gateway drops every frame as a"
    " replay. Set the\ntime with `stationctl clock sync`, then press the join button for 3 seconds. If the error comes back within"
    " a week, replace the CR2032 cell."
)
ERR_1043 = (
    "The gateway answered on a channel that the station does not know."
    " The channel plans differ: load the plan EU868-v3 on both sides."
)
PRICES = (
    "## Weather stations\n\nBoth stations measure temperature, humidity, pressure and rain.\n\n"
    "| SKU       | Product                      | Power           | Price |\n"
    "|-----------|------------------------------|-----------------|-------|\n"
    "| PX-4471-A | Fieldstation, cup anemometer | mains adapter   | 640   |\n"
    "| PX-4471-B | Fieldstation, ultrasonic     | solar + battery | 980   |\n"
)
REFUNDS = (
    "Reimbursement is made to the original payment method within 10 business days after the parcel has been inspected."
    " Bank transfers to accounts outside the SEPA area can take up to 5 further days."
)
# "Oxygen", Wikipedia, CC BY-SA 3.0, and "Super Bowl 50", shortened.
OXYGEN = (
    "Oxygen is a chemical element with symbol O and atomic number 8. It is a member of the chalcogen group on the periodic table."
    " By mass, oxygen is the third-most abundant element in the universe, after hydrogen and helium."
)
BOWL = (
    "Super Bowl 50 was an American football game to determine the champion of the National Football League for the 2015 season."
    " The game was played on February 7, 2016, at Levi's Stadium in Santa Clara, California."
)


@pytest.fixture
def handbook(make_hit: MakeHit) -> list[SearchHit]:
    def section(title: str, name: str, text: str, start: int) -> SearchHit:
        return make_hit(
            text,
            document=f"{title}.md",
            heading=f"{title} › {name}",
            title=title,
            section_path=(name,),
            char_start=start,
        )

    return [
        section(CODES, "ERR-1043", ERR_1043, 900),
        section(CODES, "ERR-1042", ERR_1042, 500),
        section("Product catalogue 2026", "Weather stations", PRICES, 20),
        section("Returns and refunds", "When you get your money", REFUNDS, 300),
    ]


def sentences(answer: Answer) -> str:
    lead_in, _, body = answer.text.partition("\n\n")
    assert lead_in == LEAD_IN
    assert answer.extractive
    assert answer.answered
    assert answer.model is None
    return body


def test_a_code_is_answered_from_its_own_section(handbook: list[SearchHit]) -> None:
    answer = extract_answer("What does ERR-1042 mean?", handbook)
    assert sentences(answer) == (
        "The clock of the station and the clock of the gateway differ by more than 90 seconds, so the gateway drops every frame as"
        " a replay. [1] Set the time with `stationctl clock sync`, then press the join button for 3 seconds. [1] If the error comes"
        " back within a week, replace the CR2032 cell. [1]"
    )
    (citation,) = answer.citations
    assert citation.number == 1
    assert citation.chunk_id == handbook[1].chunk_id
    assert citation.quote == ERR_1042
    assert (citation.char_start, citation.char_end) == (500, 500 + len(ERR_1042))
    assert answer.context == tuple(handbook)


@pytest.mark.parametrize(
    "question",
    [
        "What does ERR-9999 mean?",
        "ERR-104",
        "ERR-10422: the clock of the station and the clock of the gateway differ",
    ],
)
def test_a_code_that_no_source_has_is_not_known(handbook: list[SearchHit], question: str) -> None:
    assert not extract_answer(question, handbook).answered


@pytest.mark.parametrize("spelling", ["ERR 1042", "err1042", "ERR_1042"])
def test_a_code_is_found_however_it_is_divided(make_hit: MakeHit, spelling: str) -> None:
    hit = make_hit(f"When the display shows {spelling}, set the clock.")
    assert "set the clock" in sentences(extract_answer("What to do when the display shows ERR-1042?", [hit]))


def test_a_table_gives_the_row_with_its_header(handbook: list[SearchHit]) -> None:
    answer = extract_answer("What is the price of the PX-4471-B?", handbook)
    assert (
        sentences(answer)
        == "SKU: PX-4471-B; Product: Fieldstation, ultrasonic; Power: solar + battery; Price: 980 [1]"
    )
    (citation,) = answer.citations
    assert citation.quote == "| PX-4471-B | Fieldstation, ultrasonic     | solar + battery | 980   |"
    assert PRICES[citation.char_start - 20 : citation.char_end - 20] == citation.quote


def test_a_heading_alone_is_never_the_answer(make_hit: MakeHit) -> None:
    hit = make_hit(
        "# How long do refunds take?\n\nWithin ten days of the inspection the money is refunded.",
        heading="Refunds",
    )
    assert sentences(extract_answer("How long do refunds take?", [hit])) == (
        "Within ten days of the inspection the money is refunded. [1]"
    )
    assert not extract_answer("How long do refunds take?", [make_hit("# How long do refunds take?")]).answered


def test_real_paragraphs(make_hit: MakeHit) -> None:
    hits = [make_hit(BOWL, document="bowl"), make_hit(OXYGEN, document="oxygen", char_start=40)]
    answer = extract_answer("What is the atomic number of oxygen?", hits)
    assert sentences(answer).startswith("Oxygen is a chemical element with symbol O and atomic number 8. [1]")
    assert answer.citations[0].external_id == "oxygen"
    assert answer.citations[0].char_start == 40
    answer = extract_answer("Where was the game played?", hits)
    assert "Santa Clara, California. [1]" in sentences(answer)


def test_german(make_hit: MakeHit) -> None:
    hits = [
        make_hit(
            "Der Versand nach Wien dauert z. B. drei Tage. Pakete über 20 kg holt eine Spedition ab.",
            document="versand",
        ),
        make_hit(
            "Die Erstattung dauert höchstens 14 Tage ab dem Eingang der Ware. Gutscheine sind ausgenommen.",
            document="geld",
        ),
    ]
    answer = extract_answer("Wie lange dauert die Erstattung?", hits)
    assert "Die Erstattung dauert höchstens 14 Tage ab dem Eingang der Ware. [1]" in sentences(answer)
    unknown = extract_answer("Wer ist der Präsident von Brasilien?", hits)
    assert unknown.text == "Das weiß ich nicht: Die Quellen beantworten diese Frage nicht."


def test_japanese(make_hit: MakeHit) -> None:
    hits = [
        make_hit("送料は全国一律で無料です。配達には三日かかります。", document="送料"),
        make_hit(
            "返金は商品の到着後14日以内に行われます。お問い合わせは電話でお願いします。", document="返金"
        ),
    ]
    answer = extract_answer("返金は何日以内に行われますか？", hits)
    assert sentences(answer) == "返金は商品の到着後14日以内に行われます。 [1]"
    assert answer.citations[0].quote == "返金は商品の到着後14日以内に行われます。"
    assert not extract_answer("社長の名前は何ですか？", hits).answered


@pytest.mark.parametrize(
    "question",
    ["What is the capital of France?", "How do I bake sourdough bread?", "Is there a gym membership?", "???"],
)
def test_what_the_sources_do_not_say_is_not_known(handbook: list[SearchHit], question: str) -> None:
    answer = extract_answer(question, handbook)
    assert answer == Answer(
        text="I don't know: the sources do not answer this question.",
        citations=(),
        context=tuple(handbook),
        degraded=(),
        extractive=True,
        answered=False,
    )


def test_no_hits_is_not_known() -> None:
    answer = answer_question("Why?", SearchHits([], ["keyword_empty"]), generator=None)
    assert not answer.answered
    assert answer.degraded == ("keyword_empty",)


def test_at_most_three_sentences_in_the_order_of_the_sources(make_hit: MakeHit) -> None:
    hits = [
        make_hit("Refunds take ten days. Unrelated words stand here.", document="a"),
        make_hit(
            "Nothing. Refunds to cards take five days. Refunds by cheque take long. Refunds abroad take more.",
            document="b",
        ),
        make_hit("Refunds take ten days.", document="c"),
    ]
    body = sentences(extract_answer("How long do refunds take?", hits))
    assert body.count("[") == 3
    assert [body.index("[1]"), body.index("[2]")] == sorted([body.index("[1]"), body.index("[2]")])
    assert body.count("Refunds take ten days.") == 1
    assert "Unrelated" not in body


def test_the_best_sentence_leads_before_an_earlier_one_of_its_source(make_hit: MakeHit) -> None:
    text = "A refund to a card can take paperwork.\n\nOther words stand here.\n\nRefunds to a card take ten days."
    answer = extract_answer("How many days do refunds to a card take?", [make_hit(text)])
    assert sentences(answer) == (
        "Refunds to a card take ten days. [1] A refund to a card can take paperwork. [1]"
    )
    assert answer.citations[0].quote == "Refunds to a card take ten days."


def test_a_marker_in_a_source_does_not_pass_for_a_citation(make_hit: MakeHit) -> None:
    answer = extract_answer(
        "When was the bridge built?", [make_hit("The bridge was built in 1894.[7] It is open.")]
    )
    assert "The bridge was built in 1894.(7)" in sentences(answer)
    assert "[7]" not in answer.text
    assert answer.citations[0].quote.startswith("The bridge was built in 1894.[7]")


class Meanings:
    """An embedder that knows one synonym; everything has the cosine ``background`` with everything else."""

    def __init__(self, background: float = 0.0) -> None:
        self.background = background

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        cosines = [0.99 if "Reimbursement is made" in text else self.background for text in texts]
        return [[cosine, (1 - cosine * cosine) ** 0.5] for cosine in cosines]


@pytest.mark.parametrize("background", [0.0, 0.8])
def test_meaning_finds_what_words_do_not(handbook: list[SearchHit], background: float) -> None:
    question = "Until when is my cash given to me again?"
    assert not extract_answer(question, handbook).answered
    answer = extract_answer(question, handbook, embedder=Meanings(background))
    assert sentences(answer).startswith("Reimbursement is made to the original payment method")


@pytest.mark.parametrize("background", [0.0, 0.8])
def test_the_cosine_of_unrelated_texts_is_no_support(handbook: list[SearchHit], background: float) -> None:
    hits = handbook[:3]
    assert not extract_answer("What is the capital of France?", hits, embedder=Meanings(background)).answered


class Broken(Meanings):
    def embed_query(self, text: str) -> list[float]:
        raise EmbeddingError("down")


def test_a_failing_embedder_is_reported_and_words_decide(handbook: list[SearchHit]) -> None:
    answer = answer_question(
        "What does ERR-1042 mean?",
        SearchHits(handbook, ["stale_embeddings"]),
        generator=None,
        embedder=Broken(),
    )
    assert answer.answered
    assert answer.degraded == ("stale_embeddings", "no_sentence_embedding")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How long do refunds take?", "within 10 business days"),
        ("What does ERR-1042 mean?", "The clock of the station"),
        ("How much is the ultrasonic station?", "Price: 980"),
        ("Who won the world cup in 2018?", None),
        ("What is the dress code in the office?", None),
        ("Can I bring my dog to work?", None),
    ],
)
def test_with_the_local_model(handbook: list[SearchHit], question: str, expected: str | None) -> None:
    pytest.importorskip("onnxruntime")
    answer = extract_answer(question, handbook, embedder=make_embedder("local"))
    if expected is None:
        assert not answer.answered
    else:
        assert expected in sentences(answer)
