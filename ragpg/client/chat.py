"""The chat model of a client."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ragpg.config import Settings
from ragpg.retrieval.closing import close

if TYPE_CHECKING:
    from ragpg.answering import OpenAIGenerator


class ChatModel:
    """Makes the generator when an answer needs it, once, so that its connections are used again.

    Parameters
    ----------
    name
        The model; ``None`` and ``"none"`` stand for extractive answers.
    settings
        Where it is, and how long it may take.
    """

    def __init__(self, name: str | None, settings: Settings) -> None:
        self._name = None if name == "none" else name
        self._settings = settings
        self._made: OpenAIGenerator | None = None
        self._making = threading.Lock()

    def generator(self) -> OpenAIGenerator | None:
        """Return the generator, ``None`` where answers are extractive."""
        if self._name is None:
            return None
        from ragpg.answering import OpenAIGenerator

        with self._making:
            if self._made is None:
                self._made = OpenAIGenerator(
                    self._name,
                    base_url=self._settings.openai_base_url,
                    timeout=self._settings.request_timeout,
                )
            return self._made

    def close(self) -> None:
        """Close the generator's connections."""
        with self._making:
            made, self._made = self._made, None
        close(made)
