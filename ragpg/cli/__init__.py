"""The command line: ``ragpg``.

Each command imports what it needs when it runs, so that ``ragpg --help`` and ``ragpg search`` start fast.
"""

from ragpg.cli.main import app

__all__ = ["app"]
