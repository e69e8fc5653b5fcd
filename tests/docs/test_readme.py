"""The README's runnable blocks run, each on a database of its own."""

from __future__ import annotations

import pytest

from .pages import ROOT, runnable_blocks

BLOCKS = runnable_blocks(ROOT / "README.md")


def test_the_readme_has_runnable_blocks() -> None:
    assert len(BLOCKS) == 2


@pytest.mark.parametrize("block", BLOCKS, ids=["python", "application"])
def test_block_runs(block: str, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(block, "README.md", "exec"), {"url": database})
