import logging
import socket
import threading
import time
from email.utils import formatdate

import pytest

from ragpg.embedding import CircuitBreaker, RetryPolicy, make_embedder
from ragpg.embedding.openai import OpenAIEmbedder
from ragpg.errors import ConfigError, DimensionMismatch, EmbeddingError
from tests.unit.embedding.embeddings_server import Reply, embeddings, error, vector

QUICK = RetryPolicy(max_attempts=3, max_elapsed=5.0, first_delay=0.01, max_delay=0.02)
KEY = "sk-secret-0123456789"


def embedder(server, model="tiny", **options):
    options = {"base_url": server.url, "api_key": KEY, "retry": QUICK} | options
    return OpenAIEmbedder(model, **options)


class TestRequests:
    def test_vectors_come_in_the_order_of_the_inputs(self, server):
        texts = ["one", "three", "fourteen"]
        assert embedder(server).embed_documents(texts) == [vector(text, 4) for text in texts]

    def test_base64_is_asked_for_and_decoded(self, server):
        got = embedder(server, "nested").embed_documents(["one", "three"])
        assert server.requests[0]["encoding_format"] == "base64"
        assert got == [vector("one", 8), vector("three", 8)]

    def test_prefixes(self, server):
        nomic = embedder(server, query_prefix="search_query: ", document_prefix="search_document: ")
        nomic.embed_documents(["refunds"])
        nomic.embed_query("refunds")
        assert [r["input"] for r in server.requests] == [
            ["search_document: refunds"],
            ["search_query: refunds"],
        ]

    def test_nothing_to_embed_sends_nothing(self, server):
        assert embedder(server).embed_documents([]) == []
        assert server.requests == []

    def test_the_key_is_sent_and_the_environment_is_the_default(self, server, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "from-env")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        OpenAIEmbedder("tiny").embed_query("x")
        embedder(server).embed_query("x")
        assert [h["authorization"] for h in server.headers] == ["Bearer from-env", f"Bearer {KEY}"]

    def test_an_endpoint_of_ones_own_needs_no_key(self, server):
        assert len(embedder(server, api_key=None).embed_query("x")) == 4

    def test_a_closed_embedder_connects_again(self, server):
        tiny = embedder(server)
        tiny.close()
        assert tiny.embed_query("x") == vector("x", 4)
        tiny.close()
        assert tiny.embed_query("x") == vector("x", 4)

    def test_openai_itself_needs_a_key(self, server):
        with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
            OpenAIEmbedder("text-embedding-3-small").embed_query("x")

    @pytest.mark.parametrize(
        "url", ["localhost:11434/v1", "ftp://host/v1", "http://", "http://[::1/v1", "http://h:x/"]
    )
    def test_a_malformed_base_url_is_refused_at_once(self, url):
        with pytest.raises(ConfigError, match="base URL"):
            OpenAIEmbedder("tiny", base_url=url)

    @pytest.mark.parametrize(("texts", "index"), [(["a", "  "], 1), (["a", "b", "x\ud800"], 2)])
    def test_input_that_no_model_takes_is_refused_by_index(self, server, texts, index):
        with pytest.raises(EmbeddingError, match=f"input {index} "):
            embedder(server).embed_documents(texts)
        assert server.requests == []


class TestDimensions:
    def test_a_known_model_needs_no_request_and_no_parameter(self, server):
        small = embedder(server, "text-embedding-3-small")
        assert small.dimensions == 1536
        assert server.requests == []
        assert len(small.embed_query("x")) == 1536
        assert "dimensions" not in server.requests[0]

    def test_a_shortened_known_model_sends_the_parameter(self, server):
        small = make_embedder("openai:text-embedding-3-small@512", base_url=server.url)
        assert small.dimensions == 512
        assert len(small.embed_query("x")) == 512
        assert [r["dimensions"] for r in server.requests] == [512]

    def test_an_unknown_model_is_probed_once(self, server):
        tiny = embedder(server)
        assert (tiny.dimensions, tiny.dimensions) == (4, 4)
        assert len(server.requests) == 1

    def test_the_first_vectors_serve_as_the_probe(self, server):
        tiny = embedder(server)
        tiny.embed_documents(["x"])
        assert tiny.dimensions == 4
        assert len(server.requests) == 1

    def test_a_promise_that_is_the_models_own_length_sends_no_parameter(self, server):
        rigid = embedder(server, "rigid", dimensions=8)
        assert len(rigid.embed_query("x")) == 8
        assert len(server.requests) == 1

    def test_an_unknown_model_that_can_shorten_is_asked_to_from_then_on(self, server):
        nested = embedder(server, "nested", dimensions=3)
        assert len(nested.embed_query("x")) == 3
        assert len(nested.embed_query("y")) == 3
        assert [r.get("dimensions") for r in server.requests] == [None, 3, 3]

    def test_a_model_that_ignores_the_parameter_is_a_mismatch(self, server):
        with pytest.raises(DimensionMismatch, match=r"4 dimensions where 3 were expected"):
            embedder(server, "tiny", dimensions=3).embed_query("x")

    def test_a_model_that_refuses_the_parameter_says_so(self, server):
        with pytest.raises(EmbeddingError, match="matryoshka"):
            embedder(server, "rigid", dimensions=3).embed_query("x")

    def test_a_known_model_that_returns_another_length_is_a_mismatch(self, server):
        server.replies = [lambda request: embeddings(request | {"model": "text-embedding-3-large"})]
        with pytest.raises(DimensionMismatch, match="3072 dimensions where 1536"):
            embedder(server, "text-embedding-3-small").embed_query("x")

    @pytest.mark.parametrize(
        ("model", "dimensions"),
        [("text-embedding-3-small", 1537), ("text-embedding-ada-002", 512), ("tiny", 0)],
    )
    def test_impossible_dimensions(self, model, dimensions):
        with pytest.raises(ConfigError, match=model):
            OpenAIEmbedder(model, dimensions=dimensions)


class TestPacking:
    def test_by_number_of_inputs(self, server):
        texts = [f"text {i}" for i in range(4097)]
        assert embedder(server).embed_documents(texts) == [vector(text, 4) for text in texts]
        assert sorted(len(r["input"]) for r in server.requests) == [1, 2048, 2048]

    def test_by_tokens(self, server):
        # 1,000 tokens each: 250 fit into one request, counted in tokens and not in bytes.
        texts = [" word" * 1000] * 600
        embedder(server, "text-embedding-3-small", dimensions=2).embed_documents(texts)
        assert sorted(len(r["input"]) for r in server.requests) == [100, 250, 250]

    def test_never_more_requests_at_a_time_than_allowed(self, server):
        server.delay = 0.05
        limited = embedder(server, max_concurrency=2)
        threads = [threading.Thread(target=limited.embed_documents, args=(["x"] * 4097,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(server.requests) == 6
        assert server.most_at_once == 2

    def test_progress_counts_every_text_once(self, server):
        done = []
        embedder(server).embed_documents(["x"] * 3000, on_progress=done.append)
        assert sum(done) == 3000
        assert len(done) == 2

    def test_one_failed_request_ends_the_others(self, server):
        slow = RetryPolicy(max_attempts=50, first_delay=60, max_delay=60)
        server.replies = [error(500, "busy"), error(400, "no"), error(500, "busy")]
        started = time.monotonic()
        with pytest.raises(EmbeddingError, match=r"status 400: no$"):
            embedder(server, retry=slow, max_concurrency=3).embed_documents(["x"] * 6000)
        assert time.monotonic() - started < 20
        assert len(server.requests) <= 3

    def test_an_input_over_the_limit_is_cut_and_logged(self, server, caplog):
        small = embedder(server, "text-embedding-3-small", dimensions=2)
        long = " word" * 9000
        with caplog.at_level(logging.WARNING, "ragpg"):
            small.embed_documents(["short", long, long])
        assert [r.getMessage() for r in caplog.records] == [
            "2 of 3 inputs were cut at 8191 tokens (the first is input 1): what follows is not in their vectors"
        ]
        assert server.requests[0]["input"] == ["short", " word" * 8191, " word" * 8191]
        assert small.fits("short")
        assert not small.fits(long)
        assert small.count_tokens(long) == 9000

    def test_the_tokens_of_other_models_are_not_known(self, server):
        assert embedder(server).count_tokens("x") is None


class TestRetries:
    def test_a_429_is_repeated_after_the_time_asked_for(self, server):
        server.replies = [error(429, "slow down", code="rate_limit_exceeded", retry_after="0.4")]
        started = time.monotonic()
        assert embedder(server).embed_query("x") == vector("x", 4)
        assert time.monotonic() - started >= 0.4
        assert len(server.requests) == 2

    def test_milliseconds_win(self, server):
        server.replies = [error(429, "slow down", retry_after="60", retry_after_ms="50")]
        assert embedder(server).embed_query("x") == vector("x", 4)

    def test_a_wait_longer_than_our_patience_is_not_begun(self, server):
        server.always = error(429, "slow down", retry_after=formatdate(time.time() + 3600, usegmt=True))
        started = time.monotonic()
        with pytest.raises(EmbeddingError, match=r"asks to wait 3[56]\d\d s"):
            embedder(server).embed_query("x")
        assert time.monotonic() - started < 10
        assert len(server.requests) == 1

    @pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
    def test_what_may_pass_is_repeated(self, server, status):
        server.replies = [error(status, "later"), error(status, "later")]
        assert embedder(server).embed_query("x") == vector("x", 4)
        assert len(server.requests) == 3

    def test_attempts_are_limited(self, server):
        server.always = error(503, "overloaded")
        with pytest.raises(
            EmbeddingError, match=r"tiny at http://127.*status 503: .*overloaded.*after 3 attempts"
        ):
            embedder(server).embed_documents(["x"])
        assert len(server.requests) == 3

    @pytest.mark.parametrize(
        ("status", "code", "advice"),
        [
            (400, None, "status 400"),
            (401, "invalid_api_key", "check OPENAI_API_KEY"),
            (403, None, "OPENAI_API_KEY"),
            (404, "model_not_found", "model's name.*/v1"),
            (429, "insufficient_quota", "quota"),
        ],
    )
    def test_what_will_not_pass_is_not_repeated(self, server, status, code, advice):
        server.always = error(status, f"Not with {KEY}", code=code)
        with pytest.raises(EmbeddingError, match=advice) as caught:
            embedder(server).embed_query("x")
        assert len(server.requests) == 1
        assert "tiny at http://127.0.0.1" in str(caught.value)
        assert KEY not in f"{caught.value} {caught.value.__cause__}"

    def test_a_cause_without_the_key_is_kept(self, server):
        server.always = error(400, "no")
        with pytest.raises(EmbeddingError) as caught:
            embedder(server).embed_query("x")
        assert type(caught.value.__cause__).__name__ == "BadRequestError"

    def test_user_and_password_in_the_base_url_are_not_shown(self, server):
        server.always = error(400, "no")
        url = server.url.replace("http://", "http://ana:hidden@")
        with pytest.raises(EmbeddingError) as caught:
            embedder(server, base_url=url).embed_query("x")
        assert "hidden" not in str(caught.value)

    def test_a_slow_answer_is_given_up_and_repeated(self, server):
        server.replies = [Reply(delay=0.9)]
        assert embedder(server, timeout=0.5).embed_query("x") == vector("x", 4)
        assert len(server.requests) > 1

    def test_an_endpoint_that_never_answers(self, server):
        server.always = Reply(delay=0.5)
        with pytest.raises(EmbeddingError, match=r"no answer within 0.1 s .after 3 attempts"):
            embedder(server, timeout=0.1).embed_query("x")

    def test_the_total_time_is_limited(self, server):
        server.always = Reply(delay=0.5)
        patient = RetryPolicy(max_attempts=100, max_elapsed=0.4, first_delay=0.01)
        started = time.monotonic()
        with pytest.raises(EmbeddingError, match="no answer"):
            embedder(server, timeout=0.15, retry=patient).embed_documents(["x"])
        assert time.monotonic() - started < 10

    def test_connection_refused(self, server):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
            with pytest.raises(
                EmbeddingError, match=r"tiny at http://127.* can't connect .*after 3 attempts"
            ):
                embedder(server, base_url=url).embed_query("x")


class TestBadAnswers:
    @pytest.mark.parametrize(
        "body",
        [
            b'{"data": [{"index": 0, "embe',
            b"[]",
            b"null",
            b'"text"',
            b"{}",
            b'{"data": null}',
            b'{"data": []}',
            b'{"data": [null]}',
            b'{"data": [{"index": 0, "embedding": null}]}',
            b'{"data": [{"index": 0, "embedding": ["a", "b", "c", "d"]}]}',
            b'{"data": [{"index": 0, "embedding": "!!"}]}',
            b'{"data": [{"index": 1, "embedding": [1, 2, 3, 4]}]}',
            b'{"data": [{"index": [], "embedding": [1, 2, 3, 4]}]}',
            b'{"data": [{"embedding": [1, 2, 3, 4]}]}',
            b'{"data": [{"index": 0, "embedding": [1, 2, 3, NaN]}]}',
        ],
    )
    def test_malformed(self, server, body):
        server.always = Reply(body=body)
        with pytest.raises(EmbeddingError, match="tiny at http://127"):
            embedder(server, dimensions=4).embed_query("x")

    def test_a_web_page(self, server):
        server.always = Reply(body=b"<html>hello</html>", headers={"content-type": "text/html"})
        with pytest.raises(EmbeddingError, match="not one of an embeddings API"):
            embedder(server).embed_query("x")

    def test_fewer_vectors_than_inputs(self, server):
        server.always = embeddings({"input": ["a", "b"], "model": "tiny"})
        with pytest.raises(EmbeddingError, match="2 vectors came back for 3 inputs"):
            embedder(server).embed_documents(["a", "b", "c"])

    def test_the_same_index_twice(self, server):
        server.always = Reply(
            body=b'{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}]}'
        )
        with pytest.raises(EmbeddingError, match="wrong indexes"):
            embedder(server).embed_documents(["a", "b"])


class TestBreaker:
    def test_a_dead_endpoint_is_left_alone_for_a_while(self, server):
        now = [0.0]
        once = RetryPolicy(max_attempts=1)
        breaker = CircuitBreaker(threshold=2, cooldown=30, clock=lambda: now[0])
        broken = embedder(server, retry=once, breaker=breaker)
        server.always = error(500, "broken")
        for _ in range(2):
            with pytest.raises(EmbeddingError, match="status 500"):
                broken.embed_query("x")
        with pytest.raises(EmbeddingError, match="2 times in a row; it is tried again in 30 s"):
            broken.embed_query("x")
        assert len(server.requests) == 2
        now[0] = 31.0
        server.always = None
        assert broken.embed_query("x") == vector("x", 4)
        assert broken.embed_query("x") == vector("x", 4)

    def test_a_wrong_request_is_no_sign_of_a_dead_endpoint(self, server):
        server.always = error(400, "no")
        working = embedder(server, breaker=CircuitBreaker(threshold=1))
        for _ in range(3):
            with pytest.raises(EmbeddingError, match="status 400"):
                working.embed_query("x")
        assert len(server.requests) == 3
