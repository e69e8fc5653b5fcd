import pytest

from ragpg.embedding.packing import InputCounter, pack


@pytest.mark.parametrize(
    ("weights", "requests"),
    [
        ([], []),
        ([5], [[0]]),
        ([5, 5], [[0, 1]]),
        ([5, 6], [[0], [1]]),
        ([1, 1, 1, 1], [[0, 1, 2], [3]]),
        ([99, 1, 99], [[0], [1], [2]]),
        ([0, 10, 1], [[0, 1], [2]]),
    ],
)
def test_packing(weights, requests):
    assert [list(r) for r in pack(weights, most_inputs=3, most_tokens=10)] == requests


def test_cutting_leaves_no_broken_character():
    text = "🦔" * 50
    shorter = InputCounter().cut(text, 20)
    assert shorter is not None
    assert text.startswith(shorter)
    assert 0 < len(shorter) < 20
    assert InputCounter().cut("short", 20) is None
    assert InputCounter().cut(" word" * 20, 20) is None


def test_without_the_vocabulary_nothing_is_counted_or_cut(monkeypatch):
    def fail(name):
        raise OSError("no network")

    monkeypatch.setattr("tiktoken.get_encoding", fail)
    counter = InputCounter()
    assert counter.count("text") is None
    assert counter.cut("text " * 100, 20) is None
    assert counter.weights(["text"] * 100_000) == [4] * 100_000
