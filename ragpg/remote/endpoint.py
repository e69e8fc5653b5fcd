"""One OpenAI-compatible endpoint: sends a request, retries what may pass, explains what does not."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from ragpg.errors import ConfigError, RagpgError
from ragpg.remote.retry import CircuitBreaker, RetryPolicy, retry_after

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

T = TypeVar("T")

_log = logging.getLogger(__name__)

_OPENAI = "https://api.openai.com/v1"
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_ADVICE: Mapping[int, str] = {
    401: "check OPENAI_API_KEY",
    403: "check what the key in OPENAI_API_KEY may use",
    404: "check the model's name, and that the base URL is right (most end in /v1)",
}
_LONGEST_QUOTE = 300


class BadAnswer(Exception):
    """An answer that is not what was asked for; another attempt would bring the same."""


class _Failure(Exception):
    """A request that failed: why, whether another may succeed, and what the server asks to wait."""

    def __init__(self, reason: str, *, passing: bool, wait: float | None = None) -> None:
        super().__init__(reason)
        self.passing = passing
        self.wait = wait


class Endpoint:
    """One model on one server. Thread-safe; connects at the first use.

    Parameters
    ----------
    model
        The model's name.
    base_url
        The server, up to and with ``/v1``; by default ``OPENAI_BASE_URL``, else OpenAI's.
    api_key
        The key; by default ``OPENAI_API_KEY``. A server that is not OpenAI's may need none.
    timeout
        Seconds one request may take.
    breaker
        When to stop trying.
    error
        What a failure is raised as.
    api
        What the server should speak, for messages: ``"an embeddings API"``.
    without_key
        What to do where there is no key, for the message about it.
    advice
        What to do about a status that this API has an own reason for.
    max_concurrency
        Requests at the same time; as many as there are callers where it is not given.

    Raises
    ------
    ConfigError
        Where the base URL is malformed.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        breaker: CircuitBreaker,
        error: type[RagpgError],
        api: str,
        without_key: str,
        advice: Mapping[int, str] | None = None,
        max_concurrency: int | None = None,
    ) -> None:
        self._base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        self.who = f"{model} at {_shown(self._base_url or _OPENAI)}"
        self._key = api_key
        self._timeout = timeout
        self._breaker = breaker
        self._error = error
        self._api = api
        self._without_key = without_key
        self._advice = {**_ADVICE, **(advice or {})}
        self._slots = threading.BoundedSemaphore(max_concurrency) if max_concurrency else nullcontext()
        self._client: OpenAI | None = None
        self._lock = threading.Lock()

    def call(
        self, send: Callable[[OpenAI, float], T], retry: RetryPolicy, stop: threading.Event | None = None
    ) -> T:
        """Send a request, again and again where that makes sense.

        Parameters
        ----------
        send
            Sends it with a client and a time-out in seconds; raises `BadAnswer` for an answer of no use.
        retry
            How patient to be.
        stop
            Ends the waiting between two attempts when it is set.

        Returns
        -------
        T
            What ``send`` returns.

        Raises
        ------
        RagpgError
            Where the endpoint fails; of the class that the constructor was given.
        ConfigError
            Where there is no key and no base URL.
        """
        refused = self._breaker.refusal()
        if refused is not None:
            raise self._error(
                f"{self.who} failed {self._breaker.threshold} times in a row; it is tried again in {refused:.0f} s"
            )
        client = self._connect()
        stop = stop or threading.Event()
        deadline = time.monotonic() + retry.max_elapsed
        attempt = 1
        while True:
            try:
                with self._slots:
                    seconds = min(self._timeout, max(0.1, deadline - time.monotonic()))
                    answer = self._attempt(send, client, seconds)
            except _Failure as failure:
                delay = self._delay(failure, retry, attempt, deadline)
                _log.info("%s: %s; attempt %d follows in %.1f s", self.who, failure, attempt + 1, delay)
                if stop.wait(delay):
                    raise self._error(f"{self.who}: given up, because another request failed") from None
                attempt += 1
            else:
                self._breaker.succeeded()
                return answer

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _delay(self, failure: _Failure, retry: RetryPolicy, attempt: int, deadline: float) -> float:
        """Seconds until the next attempt; raises where there is none."""
        if not failure.passing:
            self._breaker.succeeded()
            raise self._error(f"{self.who}: {failure}") from failure.__cause__
        delay = retry.delay(attempt, failure.wait)
        if attempt < retry.max_attempts and time.monotonic() + delay < deadline:
            return delay
        self._breaker.failed()
        asked = "" if failure.wait is None else f"; the server asks to wait {failure.wait:.0f} s"
        attempts = "1 attempt" if attempt == 1 else f"{attempt} attempts"
        raise self._error(f"{self.who}: {failure} (after {attempts}{asked})") from failure.__cause__

    def _attempt(self, send: Callable[[OpenAI, float], T], client: OpenAI, seconds: float) -> T:
        import openai

        try:
            return send(client, seconds)
        except BadAnswer as error:
            raise _Failure(self._redacted(str(error)), passing=False) from self._cause(error.__cause__)
        except openai.APITimeoutError as error:
            raise _Failure(f"no answer within {seconds:.2g} s", passing=True) from error
        except openai.APIConnectionError as error:
            why = self._redacted(str(error.__cause__ or error))
            raise _Failure(f"can't connect ({why}): is it running?", passing=True) from self._cause(error)
        except openai.APIStatusError as error:
            raise self._refused(error) from self._cause(error)
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            why = self._redacted(str(error))
            raise _Failure(f"the answer is not one of {self._api} ({why})", passing=False) from self._cause(
                error
            )

    def _refused(self, error: APIStatusError) -> _Failure:
        body = cast("Any", error.body)
        said = self._redacted(str(body.get("message") if hasattr(body, "get") else error.message))
        reason = f"status {error.status_code}: {said[:_LONGEST_QUOTE]}"
        if error.code == "insufficient_quota":
            return _Failure(f"{reason} (check the account's quota)", passing=False)
        if error.status_code in _PASSING:
            return _Failure(reason, passing=True, wait=retry_after(error.response.headers))
        advice = self._advice.get(error.status_code)
        return _Failure(f"{reason} ({advice})" if advice else reason, passing=False)

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _cause(self, error: BaseException | None) -> BaseException | None:
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
                        f"or {self._without_key}"
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
