"""Everything a user can type or read is documented: settings, commands, options, exit codes, errors, methods."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from ragpg import AsyncClient, Client
from ragpg.cli import app, group
from ragpg.cli.output import DEGRADED_MEANING
from ragpg.errors import RagpgError

from .pages import DOCS, PAGES, ROOT, relative_links, sections

SHARED_OPTIONS = {"--url", "--json", "--help", "-h"}


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Walk the application and yield each command that does something, with its full name."""
    children = getattr(command, "commands", None)
    if children is None:
        yield " ".join(path), command
        return
    for name, child in children.items():
        yield from commands(child, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app), ("ragpg",)))


def section_of(name: str) -> str | None:
    for heading, text in sections(DOCS / "cli.md").items():
        if re.fullmatch(re.escape(name) + r"( [^a-z].*)?", heading):
            return text
    return None


def defined_settings() -> set[str]:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "ragpg").rglob("*.py")]
    return {name for source in sources for name in re.findall(r"\bRAGPG_[A-Z][A-Z_]*[A-Z]\b", source)}


def test_the_walk_finds_commands() -> None:
    assert {"ragpg search", "ragpg collection create"} <= COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_command_is_documented_with_its_options(name: str) -> None:
    text = section_of(name)
    assert text is not None, f"docs/cli.md has no section for {name}"
    shared = sections(DOCS / "cli.md")["What all commands share"]
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name != "option":
            continue
        for option in [*parameter.opts, *parameter.secondary_opts]:
            where = shared if option in SHARED_OPTIONS else text
            assert option in ("--help", "-h") or f"{option}" in re.findall(r"--[a-z-]+", where), (
                f"{name} {option}"
            )


@pytest.mark.parametrize(
    "heading", [heading for heading in sections(DOCS / "cli.md") if heading.startswith("ragpg")]
)
def test_documented_command_and_options_exist(heading: str) -> None:
    name = re.sub(r" [^a-z].*$", "", heading)
    assert name in COMMANDS
    real = {
        option
        for parameter in COMMANDS[name].params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    for row in re.findall(r"^\| `(--[a-z-]+)", section_of(name) or "", re.MULTILINE):
        assert row in real, f"{name} has no {row}"


def test_exit_codes_are_documented() -> None:
    codes = {value for name, value in vars(group).items() if name.startswith("EXIT_")} | {0}
    table = sections(DOCS / "cli.md")["What all commands share"]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)} == codes


def test_settings_are_documented() -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(RAGPG_[A-Z_]+)`", page, re.MULTILINE))
    assert documented == defined_settings()


def test_readme_names_no_setting_that_does_not_exist() -> None:
    named = set(re.findall(r"\bRAGPG_[A-Z_]*[A-Z]\b", (ROOT / "README.md").read_text(encoding="utf-8")))
    assert named <= defined_settings()


def test_degraded_words_are_documented() -> None:
    tables = [sections(DOCS / page)["degraded"] for page in ("search.md", "answers.md")]
    documented = {word for table in tables for word in re.findall(r"^\| `([a-z_]+)`", table, re.MULTILINE)}
    assert documented == DEGRADED_MEANING.keys()


def error_classes(base: type[RagpgError]) -> Iterator[type[RagpgError]]:
    for error in base.__subclasses__():
        yield error
        yield from error_classes(error)


def test_errors_are_documented() -> None:
    table = sections(DOCS / "python.md")["Errors"]
    rows = dict(re.findall(r"^\| `(\w+)` \| (RG\d+)? ?\|", table, re.MULTILINE))
    real = {
        error.__name__: error.code or ""
        for error in error_classes(RagpgError)
        if error.__module__ == "ragpg.errors"
    }
    assert rows == real


def public_methods(client: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(method)
        for name, method in inspect.getmembers(client, inspect.isfunction)
        if not name.startswith("_") and name not in ("close", "aclose")
    }


@pytest.mark.parametrize(
    ("name", "signature"), public_methods(Client).items(), ids=lambda value: str(value)[:20]
)
def test_method_is_documented_with_its_parameters(name: str, signature: inspect.Signature) -> None:
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    match = re.search(rf"`{name}\((.*?)\)( -> [^`]*)?`", page)
    assert match, f"docs/python.md does not name {name}"
    documented = re.findall(r"(?:^|, )\*?(\w+)", re.sub(r'"[^"]*"', '""', match[1]))
    assert documented == [parameter for parameter in signature.parameters if parameter != "self"]


def test_both_clients_have_the_same_methods() -> None:
    assert public_methods(Client).keys() == public_methods(AsyncClient).keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    for link in relative_links(page):
        assert (page.parent / link).exists(), f"{page.name} links to {link}"
