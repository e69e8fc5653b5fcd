"""The calls in Python name functions and parameters that the database has."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from ragpg.db import calls, search_calls

CALL = re.compile(r"ragpg\.(\w+)\((.*?)\)\s*(?:\"\"\"|$|\",)", re.DOTALL)
NAMED = re.compile(r"(\w+) => %\((\w+)\)s")
FUNCTIONS = [
    function
    for module in (calls, search_calls)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and "Call(" in inspect.getsource(function)
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_function_and_its_parameters_are_in_the_catalogue(
    conn: psycopg.Connection, function: Callable[..., Any]
) -> None:
    source = inspect.getsource(function)
    (name,) = set(re.findall(r"\b(?:from|select) ragpg\.(\w+)\(", source))
    assert name.lstrip("_") == function.__name__
    sent = dict(NAMED.findall(source))
    row = conn.execute(
        "select proargnames[1:pronargs], pronargs - pronargdefaults from pg_catalog.pg_proc"
        " where pronamespace = 'ragpg'::regnamespace and proname = %s",
        (name,),
    ).fetchone()
    assert row is not None, f"there is no function ragpg.{name}"
    parameters, required = row
    assert set(sent) <= set(parameters)
    assert set(parameters[:required]) <= set(sent)
    assert all(parameter in (f"p_{value}", f"p_{value}s") for parameter, value in sent.items())


def test_every_function_is_covered() -> None:
    assert len(FUNCTIONS) >= 18
