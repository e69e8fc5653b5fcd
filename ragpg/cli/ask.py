"""``ragpg ask``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ragpg.cli.connect import open_client
from ragpg.cli.options import (
    AsOption,
    CollectionArgument,
    FilterOption,
    Idf,
    IdfOption,
    JsonOption,
    TenantOption,
    UrlOption,
)
from ragpg.cli.output import clean, note, note_degraded, place, print_json

if TYPE_CHECKING:
    from ragpg.types import Answer


def ask(
    collection: CollectionArgument,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.", show_default=False)],
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="How many hits the answer may draw on.")] = 8,
    principals: AsOption = None,
    tenant: TenantOption = None,
    filter_: FilterOption = None,
    idf: IdfOption = Idf.corpus,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Answer a question from a collection, with citations.

    With a language model configured (RAGPG_CHAT_MODEL) it writes the answer; without one the answer is made of the
    documents' own sentences. "I don't know" exits with 0; scripts read "answered" in the JSON.
    """
    with open_client(url) as client:
        answer = client.ask(
            collection,
            question,
            k=k,
            principals=principals,
            tenant_id=tenant,
            filter=filter_,
            idf=idf.value,
        )
    if as_json:
        print_json(asdict(answer))
    else:
        print_answer(answer)


def print_answer(answer: Answer) -> None:
    """Print an answer and the sources it cites.

    Parameters
    ----------
    answer
        The answer.
    """
    typer.echo(clean(answer.text))
    if answer.citations:
        typer.echo()
    for citation in answer.citations:
        typer.echo(f"[{citation.number}] {place(citation)}")
    # An extractive answer says so itself; an "I don't know" for want of any source was written by nobody.
    if answer.model is not None:
        note(f"(written by {answer.model})")
    note_degraded(answer.degraded)
