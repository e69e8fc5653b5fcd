"""One question, three rankings side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.cli.output import clean, hit_dict, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ragpg.cli.demo import Question
    from ragpg.client import Client
    from ragpg.types import SearchHit, SearchHits

SHOWN = 4


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question and what each leg found for it."""

    number: str
    question: Question
    keyword: SearchHits
    vector: SearchHits
    hybrid: SearchHits

    def as_dict(self) -> dict[str, Any]:
        """The comparison for ``--json``.

        Returns
        -------
        dict[str, Any]
            The question with its number and principals, and the hits of each leg.
        """
        return {
            "number": self.number,
            "question": self.question.text,
            "principals": list(self.question.principals),
            "keyword": [hit_dict(hit) for hit in self.keyword],
            "vector": [hit_dict(hit) for hit in self.vector],
            "hybrid": [hit_dict(hit) for hit in self.hybrid],
        }


def compare(client: Client, collection: str, number: str, question: Question) -> Comparison:
    """Ask a question of each leg alone and of both.

    Parameters
    ----------
    client
        An open client.
    collection
        The collection's name.
    number
        The question's number.
    question
        The question, and who asks it.

    Returns
    -------
    Comparison
        The three rankings.
    """
    asked_as = question.asked_as
    return Comparison(
        number,
        question,
        client.search(collection, question.text, k=SHOWN, mode="keyword", principals=asked_as),
        client.search(collection, question.text, k=SHOWN, mode="vector", principals=asked_as),
        client.search(collection, question.text, k=SHOWN, mode="hybrid", principals=asked_as),
    )


def print_comparison(console: Console, comparison: Comparison, *, total: int) -> None:
    """Print the three rankings as a table.

    Parameters
    ----------
    console
        Where to.
    comparison
        What ``compare`` found.
    total
        How many questions there are.
    """
    from rich.table import Table
    from rich.text import Text

    question = comparison.question
    console.print()
    console.print(title(f"Question {comparison.number} of {total}", question))
    if question.remark:
        console.print(Text(question.remark, "dim"))
    table = Table(show_lines=False, pad_edge=False, expand=False)
    table.add_column("", justify="right", no_wrap=True)
    for name in ("keyword (BM25)", "vector", "hybrid (both fused)"):
        table.add_column(name, overflow="fold")
    legs = (comparison.keyword, comparison.vector, comparison.hybrid)
    for row in range(max((len(leg) for leg in legs), default=0)):
        cells = [_cell(leg[row]) if row < len(leg) else Text("") for leg in legs]
        table.add_row(str(row + 1), *cells)
    if table.row_count:
        console.print(table)
    else:
        console.print("  nothing that this caller may read")


def title(label: str, question: Question) -> Text:
    """Say what is asked, and as whom.

    Parameters
    ----------
    label
        What the line begins with.
    question
        The question.

    Returns
    -------
    Text
        One line for rich.
    """
    from rich.text import Text

    asked_as = ", ".join(question.principals) or "public"
    return Text.assemble(f"{label}: ", (f"“{clean(question.text)}”", "bold"), f"  asked as {asked_as}")


def _cell(hit: SearchHit) -> Text:
    from rich.text import Text

    name = hit.external_id.rsplit("/", 1)[-1]
    section = hit.section_path[-1] if hit.section_path else ""
    text = Text(clean(name))
    if hit.page_start is not None:
        text.append(f" p. {hit.page_start}")
    if section:
        text.append(f" › {one_line(section, 40)}", "cyan")
    return text
