"""Language models that write answers: any OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, llama.cpp)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from ragpg.answering.prompt import Message
from ragpg.errors import GenerationError
from ragpg.remote import CircuitBreaker, Endpoint, RetryPolicy

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionMessageParam


# A model of one's own may take a minute to load.
_PATIENCE = RetryPolicy(max_attempts=5, max_elapsed=300.0)


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

    Failures that may pass (rate limits, server errors, time-outs, lost connections) are retried as `RetryPolicy` says. Thread-safe.

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
    retry
        When to try again; by default up to 5 attempts in 5 minutes.

    Raises
    ------
    ConfigError
        Where the base URL is malformed.
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
        retry: RetryPolicy = _PATIENCE,
    ) -> None:
        """Remember the settings; the first call connects."""
        self.model = model
        self._retry = retry
        self._limits: dict[str, Any] = {"max_tokens": max_output_tokens, "temperature": temperature}
        self._endpoint = Endpoint(
            model,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            breaker=CircuitBreaker(),
            error=GenerationError,
            api="a chat API",
            without_key="choose the chat model none",
            advice={413: "lower max_context_tokens"},
        )

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
        ConfigError
            If there is no key and no base URL.
        """

        def send(client: openai.OpenAI, seconds: float) -> str:
            return self._complete(client, messages, seconds)

        return self._read(self._endpoint.call(send, self._retry))

    def close(self) -> None:
        """Close the connections to the endpoint; the next use opens new ones."""
        self._endpoint.close()

    def _complete(self, client: openai.OpenAI, messages: Sequence[Message], seconds: float) -> str:
        import openai

        limits = dict(self._limits)
        while True:
            try:
                response = client.chat.completions.with_raw_response.create(
                    model=self.model,
                    messages=[_as_openai(message) for message in messages],
                    extra_body=limits,
                    timeout=seconds,
                )
                return response.text
            except openai.BadRequestError as error:
                # Newer models of OpenAI take another name for the limit and only their own temperature.
                if "max_completion_tokens" in error.message and "max_tokens" in limits:
                    limits["max_completion_tokens"] = limits.pop("max_tokens")
                elif "temperature" in error.message and "temperature" in limits:
                    del limits["temperature"]
                else:
                    raise
                self._limits = dict(limits)

    def _read(self, body: str) -> Generation:
        """Take the reply out of the response, which may be any text at all."""
        try:
            completion = _dict(json.loads(body))
            choice = _dict(completion["choices"][0])
            message = _dict(choice["message"])
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise GenerationError(
                f"{self._endpoint.who} sent no valid chat completion: check that the URL ends in /v1"
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
