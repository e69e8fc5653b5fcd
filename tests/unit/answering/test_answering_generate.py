from __future__ import annotations

import socket

import pytest

from ragpg.answering import Message, OpenAIGenerator
from ragpg.errors import ConfigError, GenerationError
from ragpg.remote import RetryPolicy
from tests.unit.answering.chat_server import ChatServer, Reply, completion, failure

ONCE = RetryPolicy(max_attempts=1)
TWICE = RetryPolicy(max_attempts=2, first_delay=0.01)
KEY = "sk-very-secret-0123456789"
MESSAGES = [Message("system", "be brief"), Message("user", "hello")]


def generator(server: ChatServer, **options: object) -> OpenAIGenerator:
    return OpenAIGenerator("small-model", base_url=server.url, api_key=KEY, **options)  # type: ignore[arg-type]


def test_success_sends_the_messages_and_returns_text_model_and_usage(server: ChatServer) -> None:
    server.replies = [completion(" 14 days [1]. \n")]
    generation = generator(server, max_output_tokens=77).generate(MESSAGES)
    assert generation.text == "14 days [1]."
    assert generation.model == "served-model"
    assert generation.usage == {"prompt_tokens": 120, "completion_tokens": 8, "total_tokens": 128}
    assert not generation.truncated
    assert server.requests == [
        {
            "model": "small-model",
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
            "max_tokens": 77,
            "temperature": 0.0,
        }
    ]
    assert server.keys == [f"Bearer {KEY}"]


def test_endpoint_and_key_come_from_the_environment(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.replies = [completion("yes")]
    assert OpenAIGenerator("m").generate(MESSAGES).text == "yes"
    assert server.keys == [f"Bearer {KEY}"]


def test_a_server_of_ones_own_needs_no_key(server: ChatServer) -> None:
    server.replies = [completion("yes")]
    assert OpenAIGenerator("m", base_url=server.url).generate(MESSAGES).text == "yes"


def test_no_key_and_no_endpoint_is_named_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL.*chat model none"):
        OpenAIGenerator("m").generate(MESSAGES)


def test_a_malformed_base_url_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="base URL"):
        OpenAIGenerator("m", base_url="localhost:11434/v1")


def test_retry_after_is_waited_for(server: ChatServer) -> None:
    server.replies = [failure(429, retry_after="1"), completion("yes")]
    assert generator(server).generate(MESSAGES).text == "yes"
    assert len(server.times) == 2
    assert server.times[1] - server.times[0] >= 1.0


def test_a_server_error_is_retried(server: ChatServer) -> None:
    server.replies = [failure(500), completion("yes")]
    assert generator(server).generate(MESSAGES).text == "yes"
    assert len(server.requests) == 2


def test_server_errors_end_after_the_retries(server: ChatServer) -> None:
    server.replies = [failure(500, "out of memory")]
    with pytest.raises(
        GenerationError, match=r"small-model at http://127.*status 500: out of memory .after 2 attempts"
    ):
        generator(server, retry=TWICE).generate(MESSAGES)
    assert len(server.requests) == 2


def test_a_rate_limit_that_stays_is_quoted(server: ChatServer) -> None:
    server.replies = [failure(429, "slow down")]
    with pytest.raises(GenerationError, match="status 429: slow down"):
        generator(server, retry=ONCE).generate(MESSAGES)


def test_a_quota_that_is_used_up_is_not_asked_again(server: ChatServer) -> None:
    server.replies = [failure(429, "pay first", code="insufficient_quota")]
    with pytest.raises(GenerationError, match=r"status 429: pay first .check the account's quota"):
        generator(server).generate(MESSAGES)
    assert len(server.requests) == 1


def test_a_prompt_that_is_too_large_names_the_limit(server: ChatServer) -> None:
    server.replies = [failure(413, "too large")]
    with pytest.raises(GenerationError, match=r"status 413: too large .lower max_context_tokens"):
        generator(server).generate(MESSAGES)


def test_a_closed_generator_connects_again(server: ChatServer) -> None:
    server.replies = [completion("yes")]
    writer = generator(server)
    writer.close()
    assert writer.generate(MESSAGES).text == "yes"
    writer.close()
    assert writer.generate(MESSAGES).text == "yes"


@pytest.mark.parametrize("message", [f"Incorrect API key provided: {KEY}", "no"])
def test_a_refused_key_is_not_retried_and_never_printed(server: ChatServer, message: str) -> None:
    server.replies = [failure(401, message)]
    with pytest.raises(GenerationError, match=r"status 401: .*check OPENAI_API_KEY") as caught:
        generator(server).generate(MESSAGES)
    assert len(server.requests) == 1
    assert KEY not in f"{caught.value} {caught.value.__cause__}"


def test_a_key_in_any_other_message_is_not_printed(server: ChatServer) -> None:
    server.replies = [failure(400, f"bad header {KEY}")]
    with pytest.raises(GenerationError) as caught:
        generator(server).generate(MESSAGES)
    assert KEY not in f"{caught.value} {caught.value.__cause__}"


def test_an_unknown_model_is_named(server: ChatServer) -> None:
    server.replies = [failure(404, "model not found")]
    with pytest.raises(GenerationError, match=r"small-model at .*status 404: .*check the model's name"):
        generator(server).generate(MESSAGES)


def test_a_time_out_is_retried_then_explained(server: ChatServer) -> None:
    server.replies = [Reply(body="{}", delay=30)]
    with pytest.raises(GenerationError, match=r"no answer within 0.2 s .after 2 attempts"):
        generator(server, timeout=0.2, retry=TWICE).generate(MESSAGES)
    assert len(server.requests) == 2


def test_a_slow_reply_after_a_time_out_is_taken(server: ChatServer) -> None:
    server.replies = [Reply(body="{}", delay=30), completion("yes")]
    assert generator(server, timeout=0.3).generate(MESSAGES).text == "yes"


def test_nobody_listening_is_explained() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(GenerationError, match=f"127.0.0.1:{port}/v1: can't connect"):
        OpenAIGenerator("m", base_url=f"http://127.0.0.1:{port}/v1", retry=ONCE).generate(MESSAGES)


@pytest.mark.parametrize(
    "body",
    [
        '{"choices": [',
        "<html>hello</html>",
        "",
        "[]",
        "null",
        "{}",
        '{"choices": []}',
        '{"choices": [null]}',
        '{"choices": [{"message": 5}]}',
    ],
)
def test_what_is_no_completion_is_refused(server: ChatServer, body: str) -> None:
    server.replies = [Reply(body=body)]
    with pytest.raises(GenerationError, match="no valid chat completion"):
        generator(server, retry=ONCE).generate(MESSAGES)


@pytest.mark.parametrize("text", [None, "", " \n "])
def test_an_empty_answer_is_an_error(server: ChatServer, text: str | None) -> None:
    server.replies = [completion(text)]
    with pytest.raises(GenerationError, match="empty answer: try again"):
        generator(server).generate(MESSAGES)


def test_an_answer_that_never_began_names_the_output_limit(server: ChatServer) -> None:
    server.replies = [completion("", choice={"finish_reason": "length"})]
    with pytest.raises(GenerationError, match="raise max_output_tokens"):
        generator(server).generate(MESSAGES)


def test_a_cut_answer_says_so(server: ChatServer) -> None:
    server.replies = [completion("It takes", choice={"finish_reason": "length"})]
    assert generator(server).generate(MESSAGES).truncated


@pytest.mark.parametrize(
    "choice",
    [
        {"finish_reason": "content_filter"},
        {"message": {"role": "assistant", "content": None, "refusal": "I can't help with that."}},
    ],
)
def test_a_refusal_is_an_error(server: ChatServer, choice: dict[str, object]) -> None:
    server.replies = [completion("x", choice=choice)]
    with pytest.raises(GenerationError, match="refused"):
        generator(server).generate(MESSAGES)


def test_missing_usage_is_no_error(server: ChatServer) -> None:
    server.replies = [completion("yes", usage=None, model=None)]
    generation = generator(server).generate(MESSAGES)
    assert generation.usage == {}
    assert generation.model == "small-model"


def test_parameters_that_a_newer_model_refuses_are_changed_once(server: ChatServer) -> None:
    server.replies = [
        failure(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        failure(400, "Unsupported value: 'temperature' does not support 0 with this model."),
        completion("yes"),
    ]
    writer = generator(server, max_output_tokens=50)
    assert writer.generate(MESSAGES).text == "yes"
    assert writer.generate(MESSAGES).text == "yes"
    limits = [{k: v for k, v in r.items() if k not in {"model", "messages"}} for r in server.requests]
    assert limits[0] == {"max_tokens": 50, "temperature": 0.0}
    assert limits[1:] == [
        {"max_completion_tokens": 50, "temperature": 0.0},
        {"max_completion_tokens": 50},
        {"max_completion_tokens": 50},
    ]
