from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from ragpg.remote import CircuitBreaker, RetryPolicy, retry_after

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": format_datetime(NOON.replace(second=30), usegmt=True)}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:20 -0000"}, 20.0),
        ({"retry-after": format_datetime(NOON.replace(hour=11), usegmt=True)}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after(headers, now=NOON.timestamp) == seconds


def test_backoff_doubles_up_to_the_longest_and_is_jittered():
    policy = RetryPolicy(first_delay=1.0, max_delay=4.0)
    for attempt, longest in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0), (60, 4.0)]:
        delays = [policy.delay(attempt, None) for _ in range(50)]
        assert all(longest / 2 <= delay <= longest for delay in delays)
        assert len(set(delays)) > 1


def test_the_servers_wish_is_granted_exactly():
    assert RetryPolicy(max_delay=1.0).delay(1, 7.5) == 7.5


def test_after_the_cooldown_one_trial_is_let_through():
    now = [100.0]
    breaker = CircuitBreaker(threshold=2, cooldown=10, clock=lambda: now[0])
    breaker.failed()
    assert breaker.refusal() is None
    breaker.failed()
    assert breaker.refusal() == 10
    now[0] = 111.0
    assert breaker.refusal() is None
    assert breaker.refusal() == 10
    breaker.failed()
    now[0] = 113.0
    assert breaker.refusal() == 8
    now[0] = 122.0
    assert breaker.refusal() is None
    breaker.succeeded()
    assert breaker.refusal() is None


def test_a_success_in_between_starts_the_count_again():
    breaker = CircuitBreaker(threshold=2)
    for _ in range(5):
        breaker.failed()
        breaker.succeeded()
    assert breaker.refusal() is None
