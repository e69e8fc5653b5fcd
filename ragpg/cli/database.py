"""``ragpg init | migrate | stop | uninstall``."""

from __future__ import annotations

from typing import Annotated

import typer

from ragpg.cli.connect import find_database, libpq_names_one
from ragpg.cli.group import EXIT_USAGE
from ragpg.cli.options import JsonOption, UrlOption, YesOption
from ragpg.cli.output import note, print_json
from ragpg.config import Settings


def init(as_json: JsonOption = False, url: UrlOption = None) -> None:
    """Make a database ready: your own, or an embedded PostgreSQL in ./.ragpg where none is named. Safe to repeat."""
    from ragpg.db.migrate import migrate as upgrade

    database = find_database(url, create=not libpq_names_one())
    revision = upgrade(database.url)
    if as_json:
        print_json({"url": database.shown, "revision": revision, "embedded": database.data_dir is not None})
        return
    kind = f"embedded PostgreSQL in {database.data_dir}" if database.data_dir is not None else "PostgreSQL"
    typer.echo(f"ready: {kind}, schema ragpg at revision {revision}")
    typer.echo(f"connection: {database.shown}")
    note("next: ragpg collection create docs; ragpg ingest docs PATH; ragpg search docs QUERY")


def migrate(
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the script that installs the schema, without connecting.")
    ] = False,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Bring the schema to the newest revision, in one transaction."""
    from ragpg.db.migrate import current_revision, migration_script
    from ragpg.db.migrate import migrate as upgrade

    if sql:
        script = migration_script()
        if as_json:
            print_json({"sql": script})
        else:
            typer.echo(script, nl=False)
        return
    database = find_database(url)
    before = current_revision(database.url)
    after = upgrade(database.url)
    if as_json:
        print_json({"url": database.shown, "before": before, "after": after})
    elif before == after:
        typer.echo(f"schema ragpg is at revision {after} already")
    else:
        typer.echo(f"schema ragpg is now at revision {after}, was {before or 'not installed'}")


def stop(as_json: JsonOption = False) -> None:
    """Stop the embedded PostgreSQL of ./.ragpg. Its data stay, and the next command starts it again."""
    from ragpg.db.embedded import EmbeddedServer

    server = EmbeddedServer(Settings.from_env().data_dir)
    was_running = server.running()
    server.stop()
    if as_json:
        print_json({"stopped": was_running, "data_dir": str(server.home)})
    else:
        typer.echo(
            f"stopped the server in {server.home}" if was_running else f"no server runs in {server.home}"
        )


def uninstall(yes: YesOption = False, as_json: JsonOption = False, url: UrlOption = None) -> None:
    """Drop schema ragpg with everything in it; pgvector and your own tables stay. Needs --yes."""
    from ragpg.db.migrate import current_revision
    from ragpg.db.migrate import uninstall as drop_schema

    database = find_database(url)
    revision = current_revision(database.url)
    if not yes:
        note(f"would drop schema ragpg and all its documents in {database.shown}. Add --yes to do it.")
        raise typer.Exit(EXIT_USAGE)
    drop_schema(database.url)
    if as_json:
        print_json({"url": database.shown, "dropped": revision})
    elif revision is None:
        typer.echo(f"nothing to do: {database.shown} has no schema ragpg")
    else:
        typer.echo(f"dropped schema ragpg in {database.shown}")
