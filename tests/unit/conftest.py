"""Connections to the fake servers are closed after each test: an open socket is a warning, and warnings are errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ragpg.remote import Endpoint


@pytest.fixture(autouse=True)
def _endpoints_are_closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    made: list[Endpoint] = []
    construct = Endpoint.__init__

    def recorded(self: Endpoint, *args: Any, **kwargs: Any) -> None:
        construct(self, *args, **kwargs)
        made.append(self)

    monkeypatch.setattr(Endpoint, "__init__", recorded)
    yield
    for endpoint in made:
        endpoint.close()
