"""Whether one ranking is better than another on the same queries, or only luckier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

_ROUNDS = 10_000
_SEED = 20_240


@dataclass(frozen=True)
class Comparison:
    """Mean difference over the queries, its 95 % bootstrap interval, and the p of a two-sided paired permutation test."""

    difference: float
    low: float
    high: float
    p: float


def compare(first: Mapping[str, float], second: Mapping[str, float]) -> Comparison:
    """By how much the second is better than the first; a query that only one of them answered counts 0 in the other."""
    queries = sorted(first.keys() | second.keys())
    differences = np.array([second.get(query, 0.0) - first.get(query, 0.0) for query in queries])
    observed = differences.mean()
    random = np.random.default_rng(_SEED)
    means = np.empty(_ROUNDS)
    flipped = np.empty(_ROUNDS)
    for place in range(_ROUNDS):
        means[place] = differences[random.integers(0, len(differences), len(differences))].mean()
        # Under the null hypothesis each difference might as well have been the other way round.
        flipped[place] = (differences * random.choice((-1, 1), len(differences))).mean()
    extreme = np.count_nonzero(np.abs(flipped) >= abs(observed) - 1e-12)
    low, high = np.quantile(means, (0.025, 0.975))
    return Comparison(float(observed), float(low), float(high), (extreme + 1) / (_ROUNDS + 1))
