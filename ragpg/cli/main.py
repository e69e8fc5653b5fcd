"""The application: the root options, and every command under its name."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from ragpg.cli import ask, collection, database, find, ingest, quickstart, search, status
from ragpg.cli.group import RootGroup

_EPILOG = (
    'Exit codes: 0 success (a search without hits and an honest "I don\'t know" included) · 1 error · '
    "2 wrong usage · 3 ingest finished, but some files failed · 130 interrupted · 141 the reader of the output has gone."
)

app = typer.Typer(
    name="ragpg",
    cls=RootGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Hybrid search, permissions and cited answers inside your own PostgreSQL.",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragpg {version('ragpg')}")
        raise typer.Exit


@app.callback()
def root(
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show tracebacks of errors (also RAGPG_DEBUG=1).", show_default=False),
    ] = False,
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Hybrid search, permissions and cited answers inside your own PostgreSQL."""
    if debug:
        os.environ["RAGPG_DEBUG"] = "1"


def _add(command: Callable[..., None]) -> None:
    # The terminal wraps the help, so a paragraph must come as one line.
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(command.__name__, help=text)(command)


_add(quickstart.quickstart)
_add(database.init)
_add(database.migrate)
_add(status.status)
_add(ingest.ingest)
_add(ingest.delete)
_add(search.search)
_add(find.find)
_add(ask.ask)
_add(database.stop)
_add(database.uninstall)
app.add_typer(collection.app, name="collection")
