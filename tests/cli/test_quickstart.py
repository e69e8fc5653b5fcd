"""The main job: one command, from nothing to a cited answer. Real embedded server, real local model."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragpg.db.embedded import EmbeddedServer

from .conftest import environment, program


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A folder that is empty at first, and the server that quickstart leaves running in it."""
    # Not a folder of pytest: a second run that begins closes those to the account that the server of root runs under.
    with tempfile.TemporaryDirectory(prefix="ragpg-test-", dir="/tmp") as folder:
        yield Path(folder)
        EmbeddedServer(Path(folder) / ".ragpg").remove()


@pytest.fixture(scope="module")
def first(home: Path) -> dict[str, Any]:
    """What the first run prints."""
    result = program("quickstart", "--json", cwd=home)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def text(home: Path, first: dict[str, Any]) -> str:
    """What a second run prints, for people."""
    result = program("quickstart", cwd=home)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("\n") <= 3, "progress belongs to terminals"
    return result.stdout


def names(hits: list[dict[str, Any]]) -> list[str]:
    return [hit["external_id"] for hit in hits]


def test_everything_is_ingested(first: dict[str, Any]) -> None:
    report = first["report"]
    assert report["created"] >= 14
    assert report["failures"] == []
    assert report["embedded"] > 0
    assert first["collection"] == "handbook"


def test_each_leg_shows_what_it_is_good_at(first: dict[str, Any]) -> None:
    code, paraphrase, staff, leads = first["questions"]
    assert [question["number"] for question in first["questions"]] == ["1", "2", "3a", "3b"]
    assert "ERR-1042" in code["keyword"][0]["content"] + code["keyword"][0]["heading"]
    assert "ERR-1042" in code["hybrid"][0]["content"] + code["hybrid"][0]["heading"]
    assert paraphrase["keyword"] == []
    assert paraphrase["vector"][0]["external_id"] == "public/returns-and-refunds.md"
    assert paraphrase["hybrid"][0]["external_id"] == "public/returns-and-refunds.md"
    secret = "hr/salary-bands-2026.md"
    assert staff["question"] == leads["question"]
    for leg in ("keyword", "vector", "hybrid"):
        assert secret not in names(staff[leg])
    assert names(leads["hybrid"])[0] == secret


def test_the_answer_is_cited(first: dict[str, Any]) -> None:
    answer = first["answer"]
    assert answer["answered"] is True
    assert answer["extractive"] is True
    assert "27 days" in answer["text"]
    number = answer["citations"][0]["number"]
    assert f"[{number}]" in answer["text"]
    assert answer["citations"][0]["external_id"] == "hr/leave-policy.md"


def test_the_second_run_does_nothing_again(home: Path, first: dict[str, Any]) -> None:
    result = program("quickstart", "--json", cwd=home)
    again = json.loads(result.stdout)
    report = again["report"]
    assert report["created"] == report["updated"] == report["attributes"] == report["embedded"] == 0
    assert report["chunks_written"] == 0
    assert report["unchanged"] == first["report"]["created"]
    assert [question["hybrid"] for question in again["questions"]] == [
        question["hybrid"] for question in first["questions"]
    ]


def test_what_people_see(text: str) -> None:
    assert "keyword (BM25)" in text
    assert "hybrid" in text
    assert "group:hr-leads" in text
    assert "✓ 3 questions, each in three ways" in text
    assert re.findall(r"^Question (\w+) of 3: “", text, re.MULTILINE) == ["1", "2", "3a", "3b"]
    assert "An answer with citations: “How many days" in text
    assert "] hr/leave-policy.md" in text
    assert re.search(r"\(\d+\.\d s\)", text)
    assert "postgresql://" in text
    assert "\x1b" not in text


def test_the_commands_it_ends_with_work(home: Path, text: str) -> None:
    commands = [line.strip() for line in text.splitlines() if re.match(r"  (ragpg|\S*psql) ", line)]
    assert len(commands) >= 4
    for command in commands:
        words = shlex.split(command, comments=True)
        if words[0] == "ragpg":
            result = program(*words[1:], cwd=home)
        else:
            result = subprocess.run(words, capture_output=True, text=True, env=environment(), check=False)
        assert result.returncode == 0, (command, result.stderr)
        assert result.stdout.strip(), command


def test_a_stopped_server_is_started_on_demand(home: Path, first: dict[str, Any]) -> None:
    status = program("status", cwd=home)
    assert status.returncode == 0, status.stderr
    stopped = program("stop", "--json", cwd=home)
    assert json.loads(stopped.stdout)["stopped"] is True
    assert json.loads(program("stop", "--json", cwd=home).stdout)["stopped"] is False
    found = program("search", "handbook", "ERR-1042", "--as", "group:engineering", "--json", cwd=home)
    assert json.loads(found.stdout)["hits"]
    assert json.loads(program("stop", "--json", cwd=home).stdout)["stopped"] is True


def test_own_folder(home: Path, first: dict[str, Any]) -> None:
    folder = home / "Café Notes"
    folder.mkdir()
    (folder / "boiler.md").write_text(
        "# Boiler\n\nGeneral notes.\n\n## Descaling the boiler\n\nFill the tank with citric acid and wait an hour.\n"
    )
    (folder / "grinder.md").write_text(
        "# Grinder\n\nGeneral notes.\n\n## Calibrating the burrs\n\nTurn the collar until the burrs touch, then back.\n"
    )
    result = program("quickstart", folder, "--json", cwd=home)
    assert result.returncode == 0, result.stderr
    shown = json.loads(result.stdout)
    assert shown["collection"] == "cafe_notes"
    asked = {question["question"]: names(question["hybrid"])[0] for question in shown["questions"]}
    assert asked == {"Descaling the boiler": "boiler.md", "Calibrating the burrs": "grinder.md"}
    assert shown["answer"]["citations"]


def test_own_folder_without_documents(home: Path, first: dict[str, Any]) -> None:
    folder = home / "nothing"
    folder.mkdir()
    result = program("quickstart", folder, cwd=home)
    assert result.returncode == 1
    assert "no document" in result.stderr


def test_own_database(database: str, docs: Path) -> None:
    result = program("quickstart", docs, "--embedder", "hash", "--url", database)
    assert result.returncode == 0, result.stderr
    assert not Path(".ragpg").exists()
    assert f"export RAGPG_DATABASE_URL='{database}'" in result.stdout
    assert "ragpg stop" not in result.stdout
    assert "2 documents new or changed" in result.stdout


@pytest.mark.parametrize("given", ["option", "variable"])
def test_commands_for_a_url_with_a_password_work(database: str, docs: Path, given: str) -> None:
    url = database.replace("@", ":s3cret@", 1)
    settings = {"RAGPG_DATABASE_URL": url}
    if given == "option":
        result = program("quickstart", docs, "--embedder", "hash", "--url", url)
    else:
        result = program("quickstart", docs, "--embedder", "hash", env=settings)
    assert result.returncode == 0, result.stderr
    assert "s3cret" not in result.stdout
    assert "Try next, with the URL you gave in RAGPG_DATABASE_URL:" in result.stdout
    commands = result.stdout.split("RAGPG_DATABASE_URL:\n")[1].split("\n\n")[0].splitlines()
    assert len(commands) >= 4
    for command in commands:
        assert "***" not in command
        if command.startswith("  ragpg "):
            ran = program(*shlex.split(command)[1:], env=settings)
            assert ran.returncode == 0, (command, ran.stderr)
        else:
            assert re.match(r'  psql "\$RAGPG_DATABASE_URL" -c ', command), command
