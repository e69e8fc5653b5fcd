"""How many tokens the inputs of a remote model have, which are too long, and which go into one request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ragpg.errors import MissingExtra
from ragpg.text import TokenCounter, token_counter

#: Limits of OpenAI's endpoint for one request; it refuses more than 300,000 tokens by its own count.
MOST_INPUTS = 2048
MOST_TOKENS = 250_000


class InputCounter:
    """Counts and cuts inputs in ``cl100k_base``, the encoding of OpenAI's embedding models.

    The vocabulary is loaded when it is first needed. Where it can't be (it is downloaded unless ``ragpg[offline]``
    is installed), counting says ``None`` and nothing is cut.
    """

    def count(self, text: str) -> int | None:
        """Count the tokens of a text."""
        return None if self._counter is None else self._counter.count(text)

    def cut(self, text: str, limit: int) -> str | None:
        """Cut a text at a number of tokens, after a whole character; ``None`` where it is short enough."""
        # Every token has at least one byte, so most texts need no vocabulary.
        if len(text) * 4 <= limit or len(text.encode()) <= limit or self._counter is None:
            return None
        ends = self._counter.token_ends(text)
        return text[: ends[limit - 1]] if len(ends) > limit else None

    def weights(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, or an upper bound where they all go into one request anyway."""
        bounds = byte_weights(texts)
        if sum(bounds) <= MOST_TOKENS or self._counter is None:
            return bounds
        return self._counter.count_many(texts)

    @cached_property
    def _counter(self) -> TokenCounter | None:
        counter = token_counter("cl100k_base")
        try:
            counter.count("")
        except MissingExtra:
            return None
        return counter


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
