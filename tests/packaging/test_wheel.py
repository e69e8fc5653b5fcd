"""What users get: a wheel with everything in it, that imports fast."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from ragpg.db.migrate import head_revision

if TYPE_CHECKING:
    from tests.conftest import PgServer

ROOT = Path(__file__).parents[2]
HEAVY = (
    "alembic",
    "lxml",
    "mammoth",
    "markdown_it",
    "numpy",
    "onnxruntime",
    "openai",
    "pdfplumber",
    "psycopg",
    "py3langid",
    "pypdfium2",
    "rich",
    "sqlalchemy",
    "tiktoken",
    "tokenizers",
    "typer",
    "yaml",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from what git would put into a clone."""
    source = tmp_path_factory.mktemp("source")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    target = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(target),
        str(source),
    ]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True, timeout=300)
    (built,) = target.glob("ragpg-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a virtual environment with the wheel, and with this environment's other packages."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # After the wheel's own folder, and read without the .pth files in it, so the checkout is not on the path.
    (site / "others.pth").write_text(f"{Path(psycopg.__file__).parents[1]}\n")
    return folder / "bin" / "python"


def run(python: Path | str, code: str, folder: Path) -> str:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RAGPG_"))
    }
    done = subprocess.run(
        [str(python), "-c", code],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_wheel_holds_every_file_that_is_needed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    expected = {
        f"ragpg/_resources/{file.relative_to(ROOT).as_posix()}"
        for pattern in (
            "sql/frozen/**/*.sql",
            "migrations/versions/*.py",
            "migrations/env.py",
            "migrations/preflight.sql",
        )
        for file in ROOT.glob(pattern)
    }
    expected |= {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "ragpg").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    expected |= {
        f"ragpg/_resources/handbook/{file.relative_to(ROOT / 'examples/handbook').as_posix()}"
        for file in (ROOT / "examples/handbook").rglob("*")
        if file.is_file()
    }
    assert expected - names == set()
    # The sources are for development; what is installed reads the frozen copies.
    sql = {name for name in names if name.startswith("ragpg/_resources/sql/")}
    assert {name for name in sql if not name.startswith("ragpg/_resources/sql/frozen/")} == set()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"ragpg"}


def test_installed_wheel_migrates(installed: Path, tmp_path: Path, pg_server: PgServer) -> None:
    name = pg_server.create_database()
    code = f"""
import ragpg.db.resources as resources
from ragpg.db.migrate import migrate
assert resources.sql_dir().parts[-3:] == ("ragpg", "_resources", "sql"), resources.sql_dir()
assert list(resources.handbook_dir().iterdir())
print(migrate({pg_server.url(name)!r}))
"""
    assert run(installed, code, tmp_path) == head_revision()
    pg_server.drop_database(name)


def test_import_loads_nothing_heavy(tmp_path: Path) -> None:
    code = "import sys, ragpg; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = run(sys.executable, code, tmp_path).split()
    assert "ragpg" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_public_names_can_be_imported(installed: Path, tmp_path: Path) -> None:
    code = "import ragpg; print(*[name for name in ragpg.__all__ if getattr(ragpg, name, None) is None])"
    assert run(installed, code, tmp_path) == ""
    assert "Client" in run(installed, "import ragpg; print(*ragpg.__all__)", tmp_path).split()


def test_version_is_the_packages(tmp_path: Path) -> None:
    code = "import ragpg, importlib.metadata as m; print(ragpg.__version__ == m.version('ragpg'))"
    assert run(sys.executable, code, tmp_path) == "True"
