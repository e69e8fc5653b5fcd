"""In which language a text is written, by py3langid; and when nobody can tell."""

from __future__ import annotations

import functools
import importlib
from importlib.util import find_spec
from typing import Any, Final

from ragpg.errors import MissingExtra

_LIBRARY: Final = "py3langid"
# Under this the answer is wrong too often; over it, 2 to 5 in 10,000 texts (docs/decisions.md).
_SURE: Final = 0.8
_PIECE: Final = 2000
# Written alike, so that one sentence is split between them: Wu and Yue are Chinese, Nynorsk is Norwegian.
_SAME: Final = {"wuu": "zh", "yue": "zh", "nn": "no"}
# The library's word for numbers, hashes and the like.
_NO_LANGUAGE: Final = "zxx"


def detector_installed() -> bool:
    """Whether ``ragpg[languages]`` is there."""
    return find_spec(_LIBRARY) is not None


def detect_language(text: str) -> str | None:
    """The language of a text.

    Parameters
    ----------
    text
        Prose. Of a long one the beginning, the middle and the end are looked at.

    Returns
    -------
    str | None
        An ISO 639 code such as ``de``; ``None`` where the text is too short, of several languages, or of none.

    Raises
    ------
    MissingExtra
        Without the package.
    """
    shares: dict[str, float] = {}
    ranked: list[tuple[str, float]] = _identifier().rank(_sample(text))
    for code, probability in ranked:
        language = _SAME.get(code, code)
        shares[language] = shares.get(language, 0) + probability
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= _SURE and best != _NO_LANGUAGE else None


def _sample(text: str) -> str:
    if len(text) <= 3 * _PIECE:
        return text
    middle = (len(text) - _PIECE) // 2
    return " ".join((text[:_PIECE], text[middle : middle + _PIECE], text[-_PIECE:]))


@functools.cache
def _identifier() -> Any:
    """The model, read once: that takes most of a second."""
    try:
        library = importlib.import_module(f"{_LIBRARY}.langid")
    except ImportError as error:
        raise MissingExtra(
            f"detecting a language needs {_LIBRARY}, which is not installed: pip install 'ragpg[languages]'"
        ) from error
    return library.LanguageIdentifier.from_model_file(library.MODEL_FILE, norm_probs=True)
