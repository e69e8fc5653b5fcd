"""Language models that write answers: any OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, llama.cpp)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from ragpg.answering.prompt import Message
from ragpg.errors import GenerationError

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionMessageParam


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model wrote. ``truncated`` is true where it reached its output limit; ``usage`` counts tokens."""

    text: str
    model: str
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    truncated: bool = False


class Generator(Protocol):
    """Anything that turns messages into text."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    def generate(self, messages: Sequence[Message]) -> Generation:
        """Write the reply to the messages; raise `GenerationError` where that fails."""
        ...


class OpenAIGenerator:
    """A chat model behind an OpenAI-compatible endpoint.

    Rate limits (429), server errors, time-outs and lost connections are retried with exponential, jittered backoff, or after the time
    that the server's ``Retry-After`` asks for. Thread-safe.

    Parameters
    ----------
    model
        The model's name at the endpoint.
    base_url
        The endpoint, such as ``http://127.0.0.1:11434/v1``; else ``OPENAI_BASE_URL``, else OpenAI.
    api_key
        Else ``OPENAI_API_KEY``. A server of one's own usually needs none.
    timeout
        Seconds for one attempt.
    max_output_tokens
        Upper limit for the reply.
    temperature
        0 for the same answer every time, as far as the model allows.
    max_retries
        Attempts after the first.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        max_output_tokens: int = 800,
        temperature: float = 0.0,
        max_retries: int = 4,
    ) -> None:
        """Remember the settings; the first call connects."""
        self.model = model
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._api_key = api_key or os.environ.get("OPENAI_API_KEY") or None
        self._timeout = timeout
        self._max_retries = max_retries
        self._limits: dict[str, Any] = {"max_tokens": max_output_tokens, "temperature": temperature}
        self._client: openai.OpenAI | None = None

    def generate(self, messages: Sequence[Message]) -> Generation:
        """Write the reply to the messages.

        Parameters
        ----------
        messages
            The system's and the user's message.

        Raises
        ------
        GenerationError
            If the endpoint refuses, fails after the retries, or answers with something that is no reply.
        """
        import openai

        try:
            body = self._complete(messages)
        except openai.APIStatusError as error:
            raise GenerationError(self._explain_status(error)) from error
        except openai.APITimeoutError as error:
            raise GenerationError(
                f"{self._place} did not answer within {self._timeout:g} s, {self._max_retries + 1} times in a row:"
                " check that the model is loaded, or raise the time-out"
            ) from error
        except openai.APIConnectionError as error:
            raise GenerationError(
                f"{self._place} can't be reached: check OPENAI_BASE_URL and that the server is running"
            ) from error
        return self._read(body)

    def _complete(self, messages: Sequence[Message]) -> str:
        import openai

        client = self._connect()
        limits = dict(self._limits)
        while True:
            try:
                return self._create(client, messages, limits)
            except openai.BadRequestError as error:
                # Newer models of OpenAI take another name for the limit and only their own temperature.
                if "max_completion_tokens" in error.message and "max_tokens" in limits:
                    limits["max_completion_tokens"] = limits.pop("max_tokens")
                elif "temperature" in error.message and "temperature" in limits:
                    del limits["temperature"]
                else:
                    raise
                self._limits = dict(limits)

    def _create(self, client: openai.OpenAI, messages: Sequence[Message], limits: dict[str, Any]) -> str:
        response = client.chat.completions.with_raw_response.create(
            model=self.model,
            messages=[_as_openai(message) for message in messages],
            extra_body=limits,
        )
        return response.text

    def _connect(self) -> openai.OpenAI:
        if self._client is None:
            import openai

            if self._api_key is None and self.base_url is None:
                raise GenerationError(
                    "no API key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own"
                )
            self._client = openai.OpenAI(
                api_key=self._api_key or "none",
                base_url=self.base_url,
                timeout=self._timeout,
                max_retries=self._max_retries,
            )
        return self._client

    def _read(self, body: str) -> Generation:
        """Take the reply out of the response, which may be any text at all."""
        try:
            completion = _dict(json.loads(body))
            choice = _dict(completion["choices"][0])
            message = _dict(choice["message"])
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise GenerationError(
                f"{self._place} sent no valid chat completion: check that the URL ends in /v1"
            ) from error
        reason, text, model = choice.get("finish_reason"), message.get("content"), completion.get("model")
        if message.get("refusal") or reason == "content_filter":
            raise GenerationError(f"the model {self.model} refused to answer this question")
        if not isinstance(text, str) or not text.strip():
            advice = "raise max_output_tokens" if reason == "length" else "try again, or another model"
            raise GenerationError(f"the model {self.model} wrote an empty answer: {advice}")
        return Generation(
            text=text.strip(),
            model=model if isinstance(model, str) and model else self.model,
            usage=_usage(completion.get("usage")),
            truncated=reason == "length",
        )

    @property
    def _place(self) -> str:
        return f"the language model endpoint {self.base_url or 'of OpenAI'}"

    def _explain_status(self, error: openai.APIStatusError) -> str:
        advice = {
            401: "check OPENAI_API_KEY",
            403: "check that OPENAI_API_KEY may use this model",
            404: f"check the model's name ({self.model}) and that OPENAI_BASE_URL ends in /v1",
            413: "lower max_context_tokens",
            429: "the rate limit or the quota is used up: wait, or check the account",
        }
        fallback = (
            "try again later" if error.status_code >= 500 else "check the model's name and its context length"
        )
        return f"{self._place} answered {error.status_code}: {advice.get(error.status_code, fallback)}{self._detail(error)}"

    def _detail(self, error: openai.APIStatusError) -> str:
        """Quote the server's own message, unless a key might be in it."""
        body = error.body
        message = body.get("message") if isinstance(body, dict) else None  # type: ignore[union-attr]
        if error.status_code in {401, 403} or not isinstance(message, str):
            return ""
        if self._api_key and self._api_key in message:
            return ""
        return f" (it says: {' '.join(message.split())[:200]})"


def _as_openai(message: Message) -> ChatCompletionMessageParam:
    if message.role == "system":
        return {"role": "system", "content": message.content}
    return {"role": "user", "content": message.content}


def _dict(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("not a JSON object")
    return cast("dict[str, Any]", value)


def _usage(usage: object) -> dict[str, int]:
    counts = cast("dict[str, Any]", usage) if isinstance(usage, dict) else {}
    values = {name: counts.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
    return {name: value for name, value in values.items() if isinstance(value, int)}
