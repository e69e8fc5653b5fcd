"""``ragpg quickstart``: from nothing to a cited answer, in one command."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import time
import unicodedata
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragpg.cli.connect import Database, find_database, open_client
from ragpg.cli.options import JsonOption, UrlOption
from ragpg.cli.output import note_problems, print_json
from ragpg.cli.progress import ingest_progress, waiting
from ragpg.cli.requirements import require_quickstart
from ragpg.config import Settings

if TYPE_CHECKING:
    from ragpg.cli.comparison import Comparison
    from ragpg.cli.demo import Question
    from ragpg.client import Client
    from ragpg.types import Answer, IngestReport

_NOT_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True)
class Stages:
    """Says what is being done, and how long it took."""

    quiet: bool
    seconds: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def stage(self, key: str, doing: str, text: str) -> Generator[None]:
        """Time one stage.

        Parameters
        ----------
        key
            Its name in the JSON.
        doing
            What to show while it runs, where somebody is watching.
        text
            Its line when it is done.
        """
        begun = time.monotonic()
        with waiting(doing, shown=not self.quiet):
            yield
        self.seconds[key] = round(time.monotonic() - begun, 3)
        self.say(f"✓ {text} ({self.seconds[key]:.1f} s)")

    def say(self, line: str) -> None:
        """Print a line, unless only JSON was asked for.

        Parameters
        ----------
        line
            The line.
        """
        if not self.quiet:
            typer.echo(line)


def quickstart(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH",
            help="A file or folder of your own. Default: the example handbook.",
            exists=True,
            show_default=False,
        ),
    ] = None,
    embedder: Annotated[
        str, typer.Option("--embedder", metavar="local|openai:MODEL|hash", help="What makes the vectors.")
    ] = "local",
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """See your documents searched and answered from PostgreSQL: one command, no key, no server.

    Starts an embedded PostgreSQL in ./.ragpg, ingests the example handbook (or PATH), shows three questions as keyword,
    vector and hybrid rankings, and one answer with citations. Run it again as often as you like: only what changed is
    done.
    """
    begun = time.monotonic()
    stages = Stages(quiet=as_json)
    source = path.resolve() if path is not None else _handbook()
    files = _documents(source)
    collection = collection_name(source) if path is not None else "handbook"
    embedded = Settings.from_env(database_url=url or None).database_url is None
    require_quickstart(files, embedder=embedder, embedded=embedded)

    from ragpg.db.migrate import migrate

    with stages.stage("database", "starting PostgreSQL", "PostgreSQL is running"):
        database = find_database(url, create=True)
    with stages.stage("migrate", "installing schema ragpg", "schema ragpg is up to date"):
        migrate(database.url)
    # What runs without a key and a network does so for everybody, whatever the environment holds.
    with open_client(url, database=database, chat_model="none") as client:
        _ensure_collection(client, collection, embedder)
        report = _ingest(client, collection, source, stages)
        questions, answered = _questions(files, own=path is not None)
        with stages.stage("search", "searching", _count(questions)):
            comparisons = _compare(client, collection, questions)
        answer = _answer(client, collection, answered)
    stages.seconds["total"] = round(time.monotonic() - begun, 3)

    if as_json:
        print_json(
            {
                "url": database.shown,
                "collection": collection,
                "report": asdict(report),
                "questions": [comparison.as_dict() for comparison in comparisons],
                "answer": None if answer is None else asdict(answer),
                "seconds": stages.seconds,
            }
        )
        return
    _show(comparisons, answered, answer)
    _what_next(collection, database, questions, answered, url)
    typer.echo(f"\nAll of it took {stages.seconds['total']:.1f} s.")


def collection_name(source: Path) -> str:
    """Make a collection's name from a file's or folder's.

    Parameters
    ----------
    source
        An absolute path.

    Returns
    -------
    str
        Lower-case letters, digits and underscores, beginning with a letter.
    """
    plain = unicodedata.normalize("NFKD", source.stem if source.is_file() else source.name)
    name = _NOT_NAME.sub("_", plain.encode("ascii", "ignore").decode().lower()).strip("_")
    return name if name[:1].isalpha() else f"docs_{name}".rstrip("_")


def _handbook() -> Path:
    from ragpg.db.resources import handbook_dir

    return handbook_dir()


def _ensure_collection(client: Client, name: str, embedder: str) -> None:
    from ragpg.errors import CollectionNotFound

    try:
        client.stats(name)
    except CollectionNotFound:
        client.create_collection(name, embedder=embedder)


def _ingest(client: Client, collection: str, source: Path, stages: Stages) -> IngestReport:
    begun = time.monotonic()
    with ingest_progress(shown=not stages.quiet) as on_progress:
        report = client.ingest(collection, source, on_progress=on_progress)
    stages.seconds["ingest"] = round(time.monotonic() - begun, 3)
    new = report.created + report.updated + report.attributes
    stages.say(
        f"✓ collection {collection}: {new} documents new or changed, {report.unchanged} unchanged, "
        f"{report.chunks_written} chunks written, {report.embedded} vectors computed ({stages.seconds['ingest']:.1f} s)"
    )
    note_problems(report)
    return report


def _documents(source: Path) -> list[Path]:
    from ragpg.errors import InvalidArgument
    from ragpg.ingest.sources import collect
    from ragpg.parsing import supported_suffixes

    suffixes = supported_suffixes()
    files = [file.path for file in collect([source], suffixes).files]
    if not files:
        raise InvalidArgument(f"no document in {source}: ragpg reads {', '.join(sorted(suffixes))}")
    return files


def _questions(files: list[Path], *, own: bool) -> tuple[list[Question], Question | None]:
    from ragpg.cli.demo import HANDBOOK_ANSWER, HANDBOOK_QUESTIONS, derive_questions

    if not own:
        return list(HANDBOOK_QUESTIONS), HANDBOOK_ANSWER
    questions = derive_questions(files)
    return questions, questions[0] if questions else None


def _count(questions: list[Question]) -> str:
    from ragpg.cli.demo import distinct

    number = distinct(questions)
    return f"{number} {'question' if number == 1 else 'questions'}, each in three ways"


def _compare(client: Client, collection: str, questions: list[Question]) -> list[Comparison]:
    from ragpg.cli.comparison import compare
    from ragpg.cli.demo import numbers

    asked = zip(numbers(questions), questions, strict=True)
    return [compare(client, collection, number, question) for number, question in asked]


def _answer(client: Client, collection: str, question: Question | None) -> Answer | None:
    if question is None:
        return None
    return client.ask(collection, question.text, principals=question.asked_as)


def _show(comparisons: list[Comparison], question: Question | None, answer: Answer | None) -> None:
    from rich.console import Console

    from ragpg.cli.ask import print_answer
    from ragpg.cli.comparison import print_comparison, title
    from ragpg.cli.demo import distinct

    # Where the output is no terminal there is no width to fit, so nothing has to be folded.
    console = Console() if sys.stdout.isatty() else Console(width=140)
    total = distinct(comparison.question for comparison in comparisons)
    for comparison in comparisons:
        print_comparison(console, comparison, total=total)
    if question is not None and answer is not None:
        console.print()
        console.print(title("An answer with citations", question))
        print_answer(answer)


def _what_next(
    collection: str, database: Database, questions: list[Question], asked: Question | None, url: str | None
) -> None:
    where = (
        f"embedded PostgreSQL, in {database.data_dir}" if database.data_dir is not None else "your PostgreSQL"
    )
    # A command with *** in it would not work, and the password does not belong on the screen.
    secret = database.shown != database.url
    address = '"$RAGPG_DATABASE_URL"' if secret else shlex.quote(database.url)
    lines = [f"export RAGPG_DATABASE_URL={address}"] if url is not None and not secret else []
    lines += [f"ragpg search {collection} {_for_shell(question)} --explain" for question in questions[:2]]
    if asked is not None:
        lines.append(f"ragpg ask {collection} {_for_shell(asked)}")
        lines.append(f"{_psql(database)} {address} -c {_sql_example(collection, asked)}")
    lines.append("ragpg status")
    if database.data_dir is not None:
        lines.append("ragpg stop   # stops the server; the next command starts it again")
    typer.echo(f"\nEverything is in schema ragpg of {database.shown} ({where}).")
    typer.echo(f"Try next{', with the URL you gave in RAGPG_DATABASE_URL' if secret else ''}:")
    for line in lines:
        typer.echo(f"  {line}")


def _for_shell(question: Question) -> str:
    return " ".join([shlex.quote(question.text), *(f"--as {name}" for name in question.principals)])


def _sql_example(collection: str, question: Question) -> str:
    """A query for copying, quoted for a shell. Nothing here is run."""
    text = question.text.replace("'", "''")
    principals = f", p_principals => '{{{','.join(question.principals)}}}'" if question.principals else ""
    call = f"ragpg.search_hybrid('{collection}', '{text}'{principals})"
    query = f"select external_id, heading, score from {call}"  # noqa: S608
    return shlex.quote(query) if set(query) & set('"$`\\!') else f'"{query}"'


def _psql(database: Database) -> str:
    if shutil.which("psql") is not None or database.data_dir is None:
        return "psql"

    from ragpg.db.embedded import embedded_binaries

    return shlex.quote(str(embedded_binaries() / "psql"))
