"""The options that several commands share, and how their values are read."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Annotated, Any

import typer

_EXPAND = re.compile(r"parent|document|neighbors:[0-9]{1,3}")
_LONGEST_ID = 1000
_LONGEST_NAME = 200


class Mode(StrEnum):
    """Which legs search."""

    hybrid = "hybrid"
    keyword = "keyword"
    vector = "vector"


class Idf(StrEnum):
    """What the frequencies of words count."""

    corpus = "corpus"
    visible = "visible"


def _known_expansion(value: str | None) -> str | None:
    if value is not None and not _EXPAND.fullmatch(value):
        raise typer.BadParameter(f"{value!r} is none of parent, document, neighbors:N (N from 0 to 999)")
    return value


def _short_enough(value: str | None) -> str | None:
    if value is not None and len(value.encode(errors="surrogateescape")) > _LONGEST_ID:
        raise typer.BadParameter(f"longer than {_LONGEST_ID} bytes")
    return value


def check_external_id(value: str | None) -> str | None:
    """Check an external id as far as that needs no database.

    Parameters
    ----------
    value
        What was given.

    Returns
    -------
    str | None
        The same.

    Raises
    ------
    typer.BadParameter
        Where it is empty or too long.
    """
    if value == "":
        raise typer.BadParameter("an external id is not empty")
    return _short_enough(value)


def check_new_name(value: str) -> str:
    """Check the name of a collection to create.

    Parameters
    ----------
    value
        What was given.

    Returns
    -------
    str
        The same.

    Raises
    ------
    typer.BadParameter
        Where it is blank or too long.
    """
    if not value.strip() or len(value) > _LONGEST_NAME:
        raise typer.BadParameter(f"a name has 1 to {_LONGEST_NAME} characters, not only spaces")
    return value


def check_acl(values: list[str] | None) -> list[str] | None:
    """Check who may read documents.

    Parameters
    ----------
    values
        The principals, if any were given.

    Returns
    -------
    list[str] | None
        The same.

    Raises
    ------
    typer.BadParameter
        Where one is blank, or the wildcard.
    """
    for value in values or []:
        if not value.strip() or value.strip() == "*":
            raise typer.BadParameter(f"{value!r} is no principal such as user:ana, group:hr or public")
    return values


CollectionArgument = Annotated[
    str, typer.Argument(metavar="COLLECTION", help="The collection.", show_default=False)
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="PostgreSQL connection URL. Default: RAGPG_DATABASE_URL, then the embedded server in ./.ragpg, "
        "then libpq's PG* variables.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, and nothing else.")]
AsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="PRINCIPAL",
        help="Search as this principal (user:ana, group:hr); repeat for several. Default: only what is public.",
        show_default=False,
    ),
]
TenantOption = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        metavar="TENANT",
        help="The tenant. Default: the default tenant.",
        callback=_short_enough,
        show_default=False,
    ),
]
FilterOption = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="JSONPATH",
        help="""Only documents whose metadata match, as jsonpath: '$.year >= 2024 && $.team == "hr"'.""",
        show_default=False,
    ),
]
ExpandOption = Annotated[
    str | None,
    typer.Option(
        "--expand",
        metavar="parent|neighbors:N|document",
        help="Return each hit with the text around it.",
        callback=_known_expansion,
        show_default=False,
    ),
]
ModeOption = Annotated[Mode, typer.Option("--mode", help="Which legs search.")]
IdfOption = Annotated[
    Idf,
    typer.Option(
        "--idf",
        help="What the frequencies of words count: every chunk, or only those that the principals may see.",
    ),
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Do it; without this the command only says what it would do.")
]


def parse_metadata(pairs: list[str]) -> dict[str, Any]:
    """Read ``key=value`` pairs; a value that is JSON (a number, true, a list) is taken as such.

    Parameters
    ----------
    pairs
        The values of ``--metadata``.

    Returns
    -------
    dict[str, Any]
        The metadata.

    Raises
    ------
    typer.BadParameter
        Where a pair has no ``=``, or no key.
    """
    metadata: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(f"{pair!r} is not key=value", param_hint="--metadata")
        metadata[key.strip()] = _value(text)
    return metadata


def _value(text: str) -> Any:
    try:
        value: Any = json.loads(text, parse_constant=_not_json)
    except ValueError:
        return text
    # A number that would come back different (1.10, 1e3) is a version or a code, not a number.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return text if is_number and json.dumps(value) != text else value


def _not_json(word: str) -> Any:
    raise ValueError(word)
