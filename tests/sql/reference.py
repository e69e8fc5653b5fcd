"""The formulas of the documentation written down a second time, in plain Python, to check the database against."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def bm25(
    query: Mapping[str, int],
    frequencies: Mapping[str, int],
    length: int,
    *,
    chunks: int,
    average_length: float,
    document_frequencies: Mapping[str, int],
    k1: float = 1.2,
    b: float = 0.75,
) -> float:
    """Σ count · ln(1 + (N − df + ½)/(df + ½)) · tf·(k1 + 1)/(tf + k1·(1 − b + b·length/average))."""
    score = 0.0
    for lexeme, count in query.items():
        tf = frequencies.get(lexeme, 0)
        if tf == 0:
            continue
        df = document_frequencies[lexeme]
        idf = math.log(1 + (chunks - df + 0.5) / (df + 0.5))
        score += count * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average_length))
    return score


def rrf(ranks: Sequence[int | None], weights: Sequence[float], k: int = 60) -> float:
    """Σ weight/(k + rank) over the legs that returned the chunk."""
    return sum(weight / (k + rank) for rank, weight in zip(ranks, weights, strict=True) if rank is not None)


def cosine_distance(left: Sequence[float], right: Sequence[float]) -> float:
    """1 − the cosine of the angle."""
    dot = sum(x * y for x, y in zip(left, right, strict=True))
    return 1 - dot / (math.hypot(*left) * math.hypot(*right))
