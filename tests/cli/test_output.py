"""What the terminal says: errors with their notes, who wrote an answer, every degraded word explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ragpg.cli.ask import print_answer
from ragpg.cli.group import RootGroup
from ragpg.cli.output import DEGRADED_MEANING
from ragpg.errors import EmbeddingError
from ragpg.types import Answer

ROOT = Path(__file__).parents[2]


def failing(error: BaseException) -> typer.Typer:
    app = typer.Typer(cls=RootGroup)

    @app.callback()
    def root() -> None:
        pass

    @app.command()
    def fail() -> None:
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (EmbeddingError("the provider is down"), "error: the provider is down"),
        (ValueError("odd"), "unexpected error: ValueError: odd"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_notes_of_an_error_are_in_its_line(error: BaseException, shown: str) -> None:
    error.add_note("3 documents were written before; run again to complete")
    result = CliRunner().invoke(failing(error), ["fail"])
    assert result.stderr.splitlines()[0] == f"{shown}; 3 documents were written before; run again to complete"


def answer(model: str | None, *, extractive: bool) -> Answer:
    return Answer("I don't know.", (), (), (), extractive=extractive, answered=False, model=model)


def test_the_model_that_wrote_an_answer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(answer("gpt-x", extractive=False))
    assert capsys.readouterr().err == "(written by gpt-x)\n"


@pytest.mark.parametrize("extractive", [True, False])
def test_an_answer_that_no_model_wrote_names_none(
    capsys: pytest.CaptureFixture[str], extractive: bool
) -> None:
    print_answer(answer(None, extractive=extractive))
    printed = capsys.readouterr()
    assert printed.out == "I don't know.\n"
    assert printed.err == ""


def words_in_code() -> set[str]:
    """Every word that a search or an answer can put into ``degraded``."""
    words: set[str] = set()
    for path in (ROOT / "sql" / "functions").glob("*.sql"):
        sql = path.read_text(encoding="utf-8")
        for pattern in (r"degraded\s*\|\|\s*'(\w+)'", r"array\['([a-z]+_[a-z_]+)'\]"):
            words |= set(re.findall(pattern, sql))
    for package in ("answering", "retrieval", "client"):
        for path in (ROOT / "ragpg" / package).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            words |= set(re.findall(r'^[A-Z_]+: Final = "([a-z]+_[a-z_]+)"$', source, re.MULTILINE))
            words |= set(re.findall(r'(?<![\w)\]])\["([a-z]+_[a-z_]+)"\]', source))
    return words


def test_every_degraded_word_has_a_meaning_and_no_other() -> None:
    assert words_in_code() == DEGRADED_MEANING.keys()
