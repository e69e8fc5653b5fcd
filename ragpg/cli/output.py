"""What the commands print: JSON or text on standard output, everything else on standard error."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from ragpg.types import Citation, IngestReport, SearchHit

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SPACE = re.compile(r"\s+")

DEGRADED_MEANING: Mapping[str, str] = {
    "no_query_embedding": "the query had no vector, so the vector leg did not run",
    "query_embedding_from_feedback": "the query had no vector; the best keyword hits stood in for it",
    "keyword_empty": "no visible document holds any word of the query",
    "stale_embeddings": "some chunks have no vector yet, so only the keyword leg can find them",
    "stale_statistics": "the word statistics are old; scores are a little off until they are refreshed",
    "language_missing": "a text-search configuration of some documents is gone; their language was left out",
    "exact_fallback": "the vector index came back short, so the search was exact and slower",
    "term_cap": "the query was long; only its most telling words were searched",
    "query_truncated": "the query was longer than the model reads, so its end was not embedded",
    "context_truncated": "a source was cut or left out, to stay within the token budget",
    "answer_truncated": "the language model reached its output limit, so the answer ends early",
    "citation_removed": "the language model cited a source that is not there; that number was removed",
    "uncited_answer": "the language model cited no source",
    "no_sentence_embedding": "the sentences of the answer were chosen by their words only",
}


def print_json(value: Any) -> None:
    """Print a value as JSON, with uuids and dates as strings.

    Parameters
    ----------
    value
        Anything made of dicts, lists, strings, numbers, uuids, dates.
    """
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    typer.echo(json.dumps(value, default=str, ensure_ascii=ascii_only, indent=2))


def hit_dict(hit: SearchHit) -> dict[str, Any]:
    """Turn a hit into the fields of ``ragpg.search_hit``.

    Parameters
    ----------
    hit
        The hit.

    Returns
    -------
    dict[str, Any]
        Its fields, ready for ``print_json``.
    """
    return asdict(hit)


def note(line: str) -> None:
    """Tell the person at the terminal something, on standard error.

    Parameters
    ----------
    line
        One line.
    """
    typer.echo(clean(line), err=True)


def warn(line: str) -> None:
    """Warn on standard error.

    Parameters
    ----------
    line
        One line.
    """
    typer.secho(f"warning: {clean(line)}", fg="yellow", err=True)


def note_degraded(degraded: Iterable[str]) -> None:
    """Say on standard error why a search gave less than it could.

    Parameters
    ----------
    degraded
        The words of ``SearchHits.degraded``.
    """
    for word in degraded:
        meaning = DEGRADED_MEANING.get(word)
        typer.secho(f"degraded: {word}" + (f" ({meaning})" if meaning else ""), fg="yellow", err=True)


def clean(text: str) -> str:
    """Make a document's text safe to show: no control characters, so that it can't drive the terminal.

    Parameters
    ----------
    text
        Text from a document or a file name.

    Returns
    -------
    str
        The text, with control characters other than newline and tab removed.
    """
    return _CONTROL.sub("", text)


def one_line(text: str, limit: int) -> str:
    """Shorten a text to one line of at most ``limit`` characters.

    Parameters
    ----------
    text
        The text.
    limit
        The longest result.

    Returns
    -------
    str
        One line, ending in ``…`` where it was cut.
    """
    flat = clean(_SPACE.sub(" ", text)).strip()
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def place(hit: SearchHit | Citation) -> str:
    """Name where a hit or a citation comes from: document, page, section.

    Parameters
    ----------
    hit
        The hit or the citation.

    Returns
    -------
    str
        For example ``refunds.md · Refunds › Deadlines``.
    """
    parts = [hit.external_id]
    if hit.page_start is not None:
        last = hit.page_end if hit.page_end is not None else hit.page_start
        parts.append(f"page {hit.page_start}" if last == hit.page_start else f"pages {hit.page_start}–{last}")
    heading = hit.heading.split("\n", 1)[0]
    if heading:
        parts.append(heading)
    return clean(" · ".join(parts))


def print_report(collection: str, report: IngestReport, seconds: float) -> None:
    """Print what an ingest run did, and to standard error what went wrong.

    Parameters
    ----------
    collection
        The collection's name.
    report
        The run's report.
    seconds
        How long it took.
    """
    counts = [
        ("created", report.created),
        ("updated", report.updated),
        ("changed in title, ACL or metadata", report.attributes),
        ("unchanged", report.unchanged),
        ("deleted", report.deleted),
        ("failed", len(report.failures)),
    ]
    documents = ", ".join(f"{count} {word}" for word, count in counts if count) or "nothing to do"
    typer.echo(f"{collection}: {documents} ({seconds:.1f} s)")
    if report.chunks_written or report.embedded or report.reused:
        typer.echo(
            f"chunks: {report.chunks_written} written; vectors: {report.embedded} computed, {report.reused} reused"
        )
    note_problems(report)


def note_problems(report: IngestReport) -> None:
    """Say on standard error which files failed, and what was repaired.

    Parameters
    ----------
    report
        The run's report.
    """
    for line in report.warnings:
        warn(line)
    for failure in report.failures:
        typer.secho(f"failed: {clean(failure.path)}: {clean(failure.error)}", fg="red", err=True)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows as columns of equal width, as plain text.

    Parameters
    ----------
    header
        The columns' names.
    rows
        The cells.
    """
    lines = [list(header), *[[clean(cell) for cell in row] for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for number, line in enumerate(lines):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        typer.secho(text, bold=number == 0)
