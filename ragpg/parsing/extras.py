"""The parsers' optional libraries, imported when a file first needs them."""

from __future__ import annotations

import importlib
from typing import Any

from ragpg.errors import MissingExtra


def require(module: str) -> Any:
    """Import a library of the ``parsers`` extra.

    Parameters
    ----------
    module
        The dotted module name, ``lxml.etree`` for one.

    Returns
    -------
    Any
        The module. These libraries carry no types, so what comes out of them is checked where it is used.

    Raises
    ------
    MissingExtra
        When it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"this file's format needs {module.split('.')[0]}, which is not installed: pip install 'ragpg[parsers]'"
        ) from error
