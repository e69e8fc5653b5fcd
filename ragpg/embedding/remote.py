"""One OpenAI-compatible endpoint: sends a request, retries what may pass, explains what does not."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ragpg.embedding.retry import CircuitBreaker, RetryPolicy, retry_after
from ragpg.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

_log = logging.getLogger(__name__)

_OPENAI = "https://api.openai.com/v1"
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_ADVICE = {
    401: "check OPENAI_API_KEY",
    403: "check what the key in OPENAI_API_KEY may use",
    404: "check the model's name, and that the base URL is right (most end in /v1)",
}
_LONGEST_QUOTE = 300


class _Failure(Exception):
    """A request that failed: why, whether another may succeed, and what the server asks to wait."""

    def __init__(self, reason: str, *, passing: bool, wait: float | None = None) -> None:
        super().__init__(reason)
        self.passing = passing
        self.wait = wait


class Endpoint:
    """``/v1/embeddings`` of one server, for one model. Thread-safe; connects at the first use.

    Parameters
    ----------
    model
        The model's name.
    base_url
        The server, or ``None`` for OpenAI's.
    api_key
        The key; by default ``OPENAI_API_KEY``.
    timeout
        Seconds one request may take.
    max_concurrency
        Requests at the same time.
    breaker
        When to stop trying.

    Raises
    ------
    ConfigError
        Where the base URL is malformed.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        max_concurrency: int,
        breaker: CircuitBreaker,
    ) -> None:
        self.who = f"{model} at {_shown(base_url or _OPENAI)}"
        self._model = model
        self._base_url = base_url
        self._key = api_key
        self._timeout = timeout
        self._slots = threading.BoundedSemaphore(max_concurrency)
        self._breaker = breaker
        self._client: OpenAI | None = None
        self._lock = threading.Lock()

    def embed(
        self, inputs: Sequence[str], dimensions: int | None, retry: RetryPolicy, stop: threading.Event
    ) -> list[list[float]]:
        """Send one request, again and again where that makes sense.

        Parameters
        ----------
        inputs
            The texts.
        dimensions
            The parameter of this name, sent only where it is given.
        retry
            How patient to be.
        stop
            Ends the waiting between two attempts when it is set.

        Returns
        -------
        list of list of float
            One vector per text, in order.

        Raises
        ------
        EmbeddingError
            Where the endpoint fails, or returns something else than one vector per text.
        ConfigError
            Where there is no key and no base URL.
        """
        refused = self._breaker.refusal()
        if refused is not None:
            raise EmbeddingError(
                f"{self.who} failed {self._breaker.threshold} times in a row; it is tried again in {refused:.0f} s"
            )
        client = self._connect()
        deadline = time.monotonic() + retry.max_elapsed
        attempt = 1
        while True:
            try:
                with self._slots:
                    seconds = min(self._timeout, max(0.1, deadline - time.monotonic()))
                    vectors = self._send(client, inputs, dimensions, seconds)
            except _Failure as failure:
                delay = self._delay(failure, retry, attempt, deadline)
                _log.info("%s: %s; attempt %d follows in %.1f s", self.who, failure, attempt + 1, delay)
                if stop.wait(delay):
                    raise EmbeddingError(f"{self.who}: given up, because another request failed") from None
                attempt += 1
            else:
                self._breaker.succeeded()
                return vectors

    def _delay(self, failure: _Failure, retry: RetryPolicy, attempt: int, deadline: float) -> float:
        """Seconds until the next attempt; raises where there is none."""
        if not failure.passing:
            self._breaker.succeeded()
            raise EmbeddingError(f"{self.who}: {failure}") from failure.__cause__
        delay = retry.delay(attempt, failure.wait)
        if attempt < retry.max_attempts and time.monotonic() + delay < deadline:
            return delay
        self._breaker.failed()
        asked = "" if failure.wait is None else f"; the server asks to wait {failure.wait:.0f} s"
        attempts = "1 attempt" if attempt == 1 else f"{attempt} attempts"
        raise EmbeddingError(f"{self.who}: {failure} (after {attempts}{asked})") from failure.__cause__

    def _send(
        self, client: OpenAI, inputs: Sequence[str], dimensions: int | None, seconds: float
    ) -> list[list[float]]:
        import openai

        try:
            answer = client.embeddings.create(
                model=self._model,
                input=list(inputs),
                dimensions=openai.omit if dimensions is None else dimensions,
                timeout=seconds,
            )
        except openai.APITimeoutError as error:
            raise _Failure(f"no answer within {seconds:.2g} s", passing=True) from error
        except openai.APIConnectionError as error:
            why = error.__cause__ or error
            raise _Failure(f"can't connect ({why}): is it running?", passing=True) from error
        except openai.APIStatusError as error:
            raise self._refused(error) from self._cause(error)
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise _Failure(f"the answer is not one of an embeddings API ({error})", passing=False) from error
        return _vectors(answer, len(inputs))

    def _refused(self, error: APIStatusError) -> _Failure:
        body = cast("Any", error.body)
        said = self._redacted(str(body.get("message") if hasattr(body, "get") else error.message))
        reason = f"status {error.status_code}: {said[:_LONGEST_QUOTE]}"
        if error.code == "insufficient_quota":
            return _Failure(f"{reason} (check the account's quota)", passing=False)
        if error.status_code in _PASSING:
            return _Failure(reason, passing=True, wait=retry_after(error.response.headers))
        advice = _ADVICE.get(error.status_code)
        return _Failure(f"{reason} ({advice})" if advice else reason, passing=False)

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _cause(self, error: Exception) -> Exception | None:
        """Keep the error as the cause, unless a server echoed the key in it: tracebacks end up in logs."""
        return None if self._key and self._key in str(error) else error

    def _connect(self) -> OpenAI:
        from openai import OpenAI

        with self._lock:
            if self._client is None:
                key = self._key or os.environ.get("OPENAI_API_KEY") or None
                if key is None and self._base_url is None:
                    raise ConfigError(
                        "OPENAI_API_KEY is not set: set it, or name an endpoint that needs none in OPENAI_BASE_URL, "
                        "or choose the embedder local"
                    )
                self._key = key
                # The package insists on a key; endpoints that want none ignore it.
                self._client = OpenAI(
                    api_key=key or "none",
                    base_url=self._base_url or _OPENAI,
                    max_retries=0,
                    timeout=self._timeout,
                )
            return self._client


def _shown(base_url: str) -> str:
    """The URL without user, password and parameters, any of which may be secret."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = None
    if parts is None or host is None or parts.scheme not in ("http", "https"):
        raise ConfigError(
            "the base URL of an OpenAI-compatible endpoint must look like http://localhost:11434/v1"
        )
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"


def _vectors(answer: Any, count: int) -> list[list[float]]:
    """Take the vectors out of an answer, in the order of the inputs."""
    data = cast("list[Any] | None", getattr(answer, "data", None)) or []
    by_index: dict[Any, list[float]] = {}
    try:
        for item in data:
            by_index[item.index] = [float(value) for value in item.embedding]
    except (AttributeError, TypeError, ValueError) as error:
        raise _Failure(f"the answer is not one of an embeddings API ({error})", passing=False) from error
    if not all(by_index.values()):
        raise _Failure("an empty vector came back", passing=False)
    if len(data) != count or by_index.keys() != set(range(count)):
        raise _Failure(
            f"{len(data)} vectors came back for {count} inputs, or with wrong indexes", passing=False
        )
    return [by_index[index] for index in range(count)]
