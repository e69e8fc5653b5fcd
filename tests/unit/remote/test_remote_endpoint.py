from __future__ import annotations

import socket
from typing import Any

import pytest

from ragpg.errors import ConfigError, GenerationError
from ragpg.remote import BadAnswer, CircuitBreaker, Endpoint, RetryPolicy

KEY = "sk-secret-0123456789"
ONCE = RetryPolicy(max_attempts=1)


@pytest.fixture(autouse=True)
def _no_openai_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def endpoint(base_url: str | None = "http://127.0.0.1:9/v1", **options: Any) -> Endpoint:
    given: dict[str, Any] = {
        "api_key": KEY,
        "timeout": 1.0,
        "breaker": CircuitBreaker(threshold=2),
        "error": GenerationError,
        "api": "a chat API",
        "without_key": "do without",
    }
    return Endpoint("m", base_url=base_url, **(given | options))


def test_closing_closes_the_client_and_the_next_call_makes_another() -> None:
    one = endpoint()
    first = one.call(lambda client, seconds: client, ONCE)
    assert one.call(lambda client, seconds: client, ONCE) is first
    one.close()
    assert first.is_closed()
    second = one.call(lambda client, seconds: client, ONCE)
    assert not second.is_closed()
    one.close()
    one.close()
    assert second.is_closed()


def test_a_missing_key_says_what_else_can_be_done() -> None:
    with pytest.raises(ConfigError, match=r"OPENAI_API_KEY is not set.*or do without$"):
        endpoint(None, api_key=None).call(lambda client, seconds: client, ONCE)


def test_a_bad_answer_is_not_asked_for_again_and_opens_no_breaker() -> None:
    calls: list[float] = []

    def send(client: object, seconds: float) -> None:
        calls.append(seconds)
        raise BadAnswer("an empty vector came back")

    one = endpoint()
    for _ in range(3):
        with pytest.raises(GenerationError, match=r"^m at http://127.0.0.1:9/v1: an empty vector came back$"):
            one.call(send, RetryPolicy(max_attempts=5))
    assert calls == [1.0] * 3


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_key_in_an_unreadable_answer_is_in_no_message_and_no_cause(wrapped: bool) -> None:
    def send(client: object, seconds: float) -> None:
        error = ValueError(f"no JSON: {KEY}")
        if wrapped:
            raise BadAnswer(str(error)) from error
        raise error

    with pytest.raises(GenerationError, match=r"no JSON: \*\*\*") as caught:
        endpoint().call(send, ONCE)
    assert KEY not in f"{caught.value} {caught.value.__cause__}"


def test_a_server_that_is_not_there_is_raised_as_the_given_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        one = endpoint(f"http://127.0.0.1:{free.getsockname()[1]}/v1")
        for _ in range(2):
            with pytest.raises(GenerationError, match=r"can't connect .* \(after 1 attempt\)"):
                one.call(lambda client, seconds: client.models.list(), ONCE)
        with pytest.raises(GenerationError, match="failed 2 times in a row"):
            one.call(lambda client, seconds: client.models.list(), ONCE)
    one.close()
