from collections.abc import Callable
from typing import Any

import pytest

from ragpg.db.flow import Blocking, Flow
from ragpg.errors import RagpgError


class Driver:
    """Drives flows without a database: ``answers`` maps SQL function names to values, errors or functions of the parameters."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def __call__(self, flow: Flow[Any]) -> Any:
        try:
            step = next(flow)
            while True:
                try:
                    result = self._answer(step)
                except RagpgError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(result)
        except StopIteration as stop:
            return stop.value

    def _answer(self, step: Any) -> Any:
        if isinstance(step, Blocking):
            return step.function()
        name = step.sql.partition("ragpg.")[2].partition("(")[0]
        self.calls.append((name, dict(step.params)))
        answer = self.answers[name]
        if isinstance(answer, Callable):
            answer = answer(step.params)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def drive() -> Driver:
    return Driver()
