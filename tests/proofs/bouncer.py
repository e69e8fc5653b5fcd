"""PgBouncer in transaction mode in front of a server, on a Unix socket of its own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from ragpg.db.account import Account
from ragpg.db.embedded import EmbeddedServer

_PORT = 6432
_PATIENCE = 10


def program() -> str | None:
    """The path of ``pgbouncer``, which Debian keeps among the administrator's programs; ``None`` where there is none."""
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")


class PgBouncer:
    """One that is running."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def url(self, database: str, user: str) -> str:
        """The URL of a database of the server behind it."""
        return f"postgresql://{quote(user, safe='')}@/{quote(database, safe='')}?host={self._folder}&port={_PORT}"


@contextmanager
def running(server: EmbeddedServer, *, sessions: int, users: tuple[str, ...]) -> Iterator[PgBouncer]:
    """Start it, with so many sessions of the server for each database and user, and stop it at the end."""
    command = program()
    assert command is not None
    account = Account.for_server(server.data)
    with tempfile.TemporaryDirectory(prefix="ragpg-test-", dir="/tmp") as name:
        folder = Path(name)
        configuration, list_of_users = folder / "pgbouncer.ini", folder / "users"
        list_of_users.write_text("".join(f'"{user}" ""\n' for user in users))
        configuration.write_text(
            f"[databases]\n* = host={server.socket_folder} port=5432\n"
            f"[pgbouncer]\nlisten_addr =\nlisten_port = {_PORT}\nunix_socket_dir = {folder}\n"
            f"auth_type = trust\nauth_file = {list_of_users}\n"
            f"pool_mode = transaction\ndefault_pool_size = {sessions}\n"
        )
        log = folder / "log"
        for path in (log, configuration, list_of_users):
            account.own_file(path)
        account.own_folder(folder)
        with log.open("w") as output:
            # it refuses to run as root, and the server's socket is in a folder of the server's account
            process = subprocess.Popen(
                [command, str(configuration)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                **account.popen_options(),
            )
        try:
            _wait(process, folder / f".s.PGSQL.{_PORT}", log)
            yield PgBouncer(folder)
        finally:
            process.terminate()
            process.wait(_PATIENCE)


def _wait(process: subprocess.Popen[bytes], path: Path, log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(path)) == 0:
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"pgbouncer does not start:\n{log.read_text()}")
        time.sleep(0.02)
