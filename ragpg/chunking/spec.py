"""Which parameters a chunking may have, and their defaults. The normalised form is what a collection remembers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from ragpg.errors import ChunkingError
from ragpg.text import TOKENIZERS

DEFAULT_CHUNKING: Mapping[str, Any] = {"strategy": "structure", "max_tokens": 256}
"""What a collection uses when it names nothing else."""

MIN_TOKENS = 8
"""The smallest limit: one character alone may take five tokens of a model's input."""

_PARENT_MAX_TOKENS = 1500
_COMMON = ("strategy", "max_tokens", "tokenizer", "parent", "parent_max_tokens")
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "structure": _COMMON,
    "recursive": (*_COMMON, "overlap"),
    "fixed": (*_COMMON, "overlap"),
}
_log = logging.getLogger(__name__)


def normalise_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Check a chunking and fill in its defaults. The result is plain JSON; normalising it again changes nothing.

    Parameters
    ----------
    spec
        ``strategy``: ``"structure"`` (default), ``"recursive"`` or ``"fixed"``.
        ``max_tokens``: the limit of what is embedded, heading included (256).
        ``overlap``: tokens that neighbours share, for ``recursive`` and ``fixed`` (an eighth of the limit).
        ``tokenizer``: ``"cl100k_base"`` (default) or ``"local"``.
        ``parent``: ``"section"`` or ``None``; by default ``"section"`` for ``structure`` and ``None`` for the others.
        ``parent_max_tokens``: the largest parent, where there is one (1500, or ``max_tokens`` if that is more).

    Raises
    ------
    ChunkingError
        A key is unknown or a value is not allowed.
    """
    strategy = spec.get("strategy", DEFAULT_CHUNKING["strategy"])
    if not isinstance(strategy, str) or strategy not in _PARAMETERS:
        raise ChunkingError(f"unknown chunking strategy {strategy!r}: use one of {', '.join(_PARAMETERS)}")
    allowed = _PARAMETERS[strategy]
    if unknown := [key for key in spec if key not in allowed]:
        raise ChunkingError(
            f"unknown chunking parameter {unknown[0]!r} for {strategy!r}: allowed are {', '.join(allowed)}"
        )
    max_tokens = _integer(spec, "max_tokens", DEFAULT_CHUNKING["max_tokens"], least=MIN_TOKENS)
    normal: dict[str, Any] = {
        "strategy": strategy,
        "max_tokens": max_tokens,
        "tokenizer": _choice(spec, "tokenizer", TOKENIZERS[0], TOKENIZERS),
    }
    if "overlap" in allowed:
        normal["overlap"] = _overlap(spec, max_tokens)
    parent = spec.get("parent", "section" if strategy == "structure" else None)
    normal["parent"] = None if parent is None else _choice(spec, "parent", "section", ("section",))
    if parent is not None:
        default = max(max_tokens, _PARENT_MAX_TOKENS)
        normal["parent_max_tokens"] = _integer(spec, "parent_max_tokens", default, least=max_tokens)
    elif spec.get("parent_max_tokens") is not None:
        raise ChunkingError("'parent_max_tokens' needs 'parent': 'section'")
    return normal


def _overlap(spec: Mapping[str, Any], max_tokens: int) -> int:
    overlap = _integer(spec, "overlap", max_tokens // 8, least=0)
    if overlap >= max_tokens:
        raise ChunkingError(f"'overlap' ({overlap}) must be smaller than 'max_tokens' ({max_tokens})")
    if overlap * 4 > max_tokens:
        _log.warning(
            "an overlap of %d of %d tokens stores and embeds much text twice; 10 to 15 %% is usual",
            overlap,
            max_tokens,
        )
    return overlap


def _integer(spec: Mapping[str, Any], key: str, default: int, *, least: int) -> int:
    value = spec.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ChunkingError(f"{key!r} must be a whole number of at least {least}, not {value!r}")
    return value


def _choice(spec: Mapping[str, Any], key: str, default: str, allowed: tuple[str, ...]) -> str:
    value = spec.get(key, default)
    if value not in allowed:
        raise ChunkingError(f"{key!r} must be one of {', '.join(allowed)}, not {value!r}")
    return value
