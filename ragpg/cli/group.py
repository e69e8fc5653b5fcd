"""The root command: exit codes, and errors as one clear line."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from ragpg.errors import RagpgError

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_PARTIAL = 3
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


class RootGroup(TyperGroup):
    """Runs a command, and turns what it raises into a line on standard error and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named.

        Parameters
        ----------
        ctx
            The context of the invocation.

        Returns
        -------
        Any
            What the command returned.
        """
        try:
            result = super().invoke(ctx)
            # A reader that has gone away shows up here, and not as noise when the interpreter exits.
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt as interrupt:
            _say(_with_notes(interrupt, "interrupted"))
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(EXIT_BROKEN_PIPE) from None
        except RagpgError as error:
            _show_traceback()
            _say(f"error: {_with_notes(error)}")
            raise typer.Exit(EXIT_ERROR) from error
        except Exception as error:
            if _is_usage_error(error):
                raise
            _show_traceback()
            _say(f"unexpected error: {type(error).__name__}: {_with_notes(error)}")
            if not debugging():
                _say("run the same command as `ragpg --debug …` for the traceback")
            raise typer.Exit(EXIT_ERROR) from error
        return result


def debugging() -> bool:
    """Tell whether tracebacks were asked for, with ``--debug`` or ``RAGPG_DEBUG``.

    Returns
    -------
    bool
        True when they were.
    """
    return os.environ.get("RAGPG_DEBUG", "") not in ("", "0")


def _is_usage_error(error: Exception) -> bool:
    # typer has its own copy of click in newer versions and imports click in older ones; both mark their errors so.
    return hasattr(error, "exit_code")


def _with_notes(error: BaseException, message: str | None = None) -> str:
    notes: list[str] = getattr(error, "__notes__", [])
    return "; ".join([str(error) if message is None else message, *notes])


def _show_traceback() -> None:
    if debugging():
        traceback.print_exc()


def _say(line: str) -> None:
    # libpq's messages have several lines.
    typer.secho(" ".join(line.split()), fg="red", err=True)
