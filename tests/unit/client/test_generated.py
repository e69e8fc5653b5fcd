import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ragpg.errors
from ragpg import AsyncClient, Client

TOOL = Path(__file__).parents[3] / "tools" / "unasync.py"
NAMES = [name for name in dir(AsyncClient) if not name.startswith("_")]


def convert(text: str) -> str:
    spec = importlib.util.spec_from_file_location("unasync", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.convert(text, "x.py")


def test_the_sync_client_is_what_the_tool_writes() -> None:
    done = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_tool_takes_the_async_out() -> None:
    source = (
        '"""The async client."""\n\n\nclass AsyncClient:\n    """See."""\n\n    async def f(self) -> None:\n        """Do."""\n'
        "        async with self.pool.connection() as c:\n            await (await g(c)).close()\n"
    )
    header, _, text = convert(source).partition("\n")
    assert "x.py" in header
    assert "async" not in text
    assert "await" not in text
    assert "class Client:" in text
    assert "with self.pool.connection() as c:" in text


def test_only_one_client_is_written_by_hand() -> None:
    for path in (TOOL.parents[1] / "ragpg" / "client").glob("sync_*.py"):
        assert "by hand" not in path.read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_both_clients_have_the_same_methods(name: str) -> None:
    ours, theirs = getattr(AsyncClient, name), getattr(Client, name)
    assert inspect.iscoroutinefunction(ours)
    assert not inspect.iscoroutinefunction(theirs)
    assert str(inspect.signature(ours)).replace("Async", "") == str(inspect.signature(theirs))
    assert theirs.__doc__


def test_nothing_more_is_public() -> None:
    assert [name for name in dir(Client) if not name.startswith("_")] == NAMES


MAY_FAIL = ["create_collection", "drop_collection", "stats", "refresh_statistics", "delete_document", "set_acl", "ingest", "ingest_bytes",
            "upsert_document", "search", "explain", "find", "ask"]  # fmt: skip


@pytest.mark.parametrize("name", MAY_FAIL)
def test_the_errors_of_a_method_are_documented_and_exist(name: str) -> None:
    for client in (AsyncClient, Client):
        text = inspect.getdoc(getattr(client, name)) or ""
        raised = re.findall(
            r"^([A-Z]\w+(?:, [A-Z]\w+)*)$", text.partition("Raises\n------\n")[2], re.MULTILINE
        )
        assert raised, f"{name} says nothing of its errors"
        for error in ", ".join(raised).split(", "):
            assert issubclass(getattr(ragpg.errors, error), ragpg.errors.RagpgError)
