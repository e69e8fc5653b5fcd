"""How a search was found, in words: what ``ragpg search --explain`` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from ragpg.cli.output import clean, print_table

_PATHS = {
    "exact": "exact: every visible chunk was compared",
    "hnsw": "approximate: the HNSW index was walked until the page was full",
    "none": "did not run",
    "every match": "exact: every match was scored",
    "boolean threshold": "exact: only chunks that can reach the page were scored",
}
_TIMINGS = ("analyse", "visibility", "keyword", "vector", "fuse")

Section = Mapping[str, Any]


def print_explanation(explained: Section) -> None:
    """Print what ``explain_search`` reports: one line a fact, and the words as a table.

    Parameters
    ----------
    explained
        The report. A key that is not there was not told, or does not apply.
    """
    typer.echo()
    typer.secho("How it was found", bold=True)
    if "principals" in explained:
        tenant = explained.get("tenant_id")
        _line("asked as", ", ".join(explained["principals"]) + (f" in tenant {tenant}" if tenant else ""))
    _line("index version", explained.get("index_version"))
    vector: Section = explained.get("vector") or {}
    keyword: Section = explained.get("keyword") or {}
    filtered = "phrases" in explained or "exclusions" in explained
    _line("visible chunks", _visible(explained, filtered=filtered))
    _line("keyword leg", _leg(keyword))
    _line("vector leg", _leg(vector))
    _line("phrases", explained.get("phrases"))
    _line("exclusions", explained.get("exclusions"))
    if "candidates" in explained:
        _line("after fusion", _counted(explained["candidates"], "candidate"))
    _line("time", _times(explained.get("timings_ms") or {}))
    terms: Sequence[Section] | None = explained.get("terms")
    if terms:
        typer.echo()
        print_table(
            ("word", "chunks", "idf"),
            [(term["lexeme"], f"{term['document_frequency']:,}", f"{term['idf']:.3f}") for term in terms],
        )
    elif explained.get("mode") != "vector" and not keyword:
        _line("words", "not told to a reader: their frequencies count hidden documents, too")


def _line(name: str, value: object) -> None:
    if value is not None:
        typer.echo(f"{name + ':':<16}{clean(str(value))}")


def _visible(counts: Section, *, filtered: bool) -> str | None:
    count = counts.get("visible_chunks")
    if count is None:
        return None
    return f"{count:,}" + (" that pass the phrases and exclusions" if filtered else "")


def _leg(leg: Section) -> str | None:
    """What a leg did and why, and how many chunks it handed on."""
    path = leg.get("path")
    if path is None:
        return None
    parts = [_PATHS.get(path, str(path))]
    if "why" in leg:
        parts.append(str(leg["why"]))
    candidates = leg.get("candidates")
    if isinstance(candidates, int):
        parts.append(_counted(candidates, "candidate"))
    if isinstance(leg.get("threshold"), float):
        parts.append(f"a score of {leg['threshold']:.3f} was to be reached")
    if leg.get("fresh_chunks"):
        parts.append("chunks written since the last statistics were scored too")
    return "; ".join(parts)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _times(timings: Section) -> str | None:
    known = [name for name in _TIMINGS if name in timings] + [
        name for name in timings if name not in _TIMINGS
    ]
    return ", ".join(f"{name} {timings[name]:.1f} ms" for name in known) or None
