from __future__ import annotations

import pytest

from ragpg.answering.expected import Expected, expected_answer, holds


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("How much does it cost?", "en", "number"),
        ("how long until I get my money back", "en", "number"),
        ("What does a team lead earn?", "en", "number"),
        ("When is the freeze?", "en", "number"),
        ("Who keeps the rota?", "en", "name"),
        ("What does ERR-1042 mean?", "en", None),
        ("Whenever it rains, why does it stop?", "en", None),
        ("Wie lange dauert die Erstattung?", "de", "number"),
        ("Wer ist zuständig?", "de", "name"),
        ("返金は何日以内に行われますか？", "ja", None),
    ],
)
def test_what_a_question_asks_for(question: str, language: str, expected: Expected | None) -> None:
    assert expected_answer(question, language) == expected


@pytest.mark.parametrize(
    ("text", "expected", "question", "held"),
    [
        ("It takes 10 days.", "number", "How long does it take?", True),
        ("It takes ten days.", "number", "How long does it take?", True),
        ("It takes a while.", "number", "How long does it take?", False),
        ("The PX-4471-B is heavy.", "number", "What does the PX-4471-B cost?", False),
        ("Prices changed in 2026.", "number", "How much did prices rise in 2026?", False),
        ("Prices rose by 3 % in 2026.", "number", "How much did prices rise in 2026?", True),
        ("The rota is kept by Priya Raman.", "name", "Who keeps the rota?", True),
        ("The rota is kept by the team.", "name", "Who keeps the rota?", False),
        ("We at Marlow sell stations.", "name", "Who founded Marlow?", False),
    ],
)
def test_what_a_text_holds(text: str, expected: Expected, question: str, held: bool) -> None:
    assert holds(text, expected, question=question, language="en") is held
