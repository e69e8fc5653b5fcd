from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from ragpg.chunking import DEFAULT_CHUNKING, make_chunker, normalise_spec
from ragpg.errors import ChunkingError

STRUCTURE = {
    "strategy": "structure",
    "max_tokens": 256,
    "tokenizer": "cl100k_base",
    "parent": "section",
    "parent_max_tokens": 1500,
}


@pytest.mark.parametrize("spec", [{}, DEFAULT_CHUNKING, STRUCTURE, {"parent": "section"}])
def test_the_default_is_structure_at_256_tokens(spec: dict[str, Any]) -> None:
    assert normalise_spec(spec) == STRUCTURE


@pytest.mark.parametrize("strategy", ["recursive", "fixed"])
def test_the_others_overlap_by_an_eighth_and_have_no_parent(strategy: str) -> None:
    assert normalise_spec({"strategy": strategy, "max_tokens": 400}) == {
        "strategy": strategy,
        "max_tokens": 400,
        "tokenizer": "cl100k_base",
        "overlap": 50,
        "parent": None,
    }


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"strategy": "fixed"},
        {"parent": None},
        {"max_tokens": 4000},
        {"strategy": "recursive", "parent": "section"},
    ],
)
def test_normalising_again_changes_nothing_and_json_keeps_it(spec: dict[str, Any]) -> None:
    normal = normalise_spec(spec)
    assert normalise_spec(json.loads(json.dumps(normal))) == normal


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"strategy": "clever"}, "'clever'.*structure, recursive, fixed"),
        ({"strategy": 3}, "unknown chunking strategy 3"),
        ({"size": 3}, "'size'.*allowed are strategy, max_tokens, tokenizer"),
        ({"overlap": 10}, "'overlap' for 'structure'"),
        ({"max_tokens": 0}, "'max_tokens'.*at least 8, not 0"),
        ({"max_tokens": -1}, "'max_tokens'"),
        ({"max_tokens": True}, "'max_tokens'.*True"),
        ({"max_tokens": 256.0}, "'max_tokens'"),
        ({"max_tokens": "256"}, "'max_tokens'"),
        ({"strategy": "fixed", "overlap": -1}, "'overlap'"),
        ({"strategy": "fixed", "max_tokens": 50, "overlap": 50}, r"'overlap' \(50\) must be smaller"),
        ({"tokenizer": "p50k"}, "'tokenizer' must be one of cl100k_base, local"),
        ({"parent": "page"}, "'parent' must be one of section"),
        ({"parent_max_tokens": 100}, "'parent_max_tokens'.*at least 256"),
        ({"parent": None, "parent_max_tokens": 2000}, "needs 'parent'"),
    ],
)
def test_a_mistake_is_named(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(ChunkingError, match=message):
        make_chunker(spec)


def test_an_overlap_over_a_quarter_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="ragpg.chunking"):
        normalise_spec({"strategy": "fixed", "max_tokens": 100, "overlap": 25})
        assert not caplog.records
        normalise_spec({"strategy": "fixed", "max_tokens": 100, "overlap": 26})
    assert "overlap of 26 of 100 tokens" in caplog.text
