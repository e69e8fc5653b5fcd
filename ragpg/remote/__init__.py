"""OpenAI-compatible endpoints: connecting, retrying, and saying what went wrong."""

from ragpg.remote.endpoint import BadAnswer, Endpoint
from ragpg.remote.retry import CircuitBreaker, RetryPolicy, retry_after

__all__ = ["BadAnswer", "CircuitBreaker", "Endpoint", "RetryPolicy", "retry_after"]
