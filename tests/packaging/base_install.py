"""Run by ``.ci/run`` with the Python of an install without extras: all of ragpg imports, and says which extra is missing."""

import importlib
import pkgutil
from collections.abc import Callable

import ragpg
from ragpg.db.embedded import embedded_binaries
from ragpg.embedding import make_embedder
from ragpg.errors import MissingExtra
from ragpg.parsing import parse
from ragpg.text.detection import detect_language


def complaint(use: Callable[[], object]) -> str:
    try:
        use()
    except MissingExtra as error:
        return str(error)
    return "nothing is missing here"


modules = [module.name for module in pkgutil.walk_packages(ragpg.__path__, "ragpg.")]
for name in modules:
    importlib.import_module(name)
assert "ragpg.cli.main" in modules

needs = {
    "ragpg[embedded]": embedded_binaries,
    "ragpg[languages]": lambda: detect_language("words"),
    "ragpg[local]": lambda: make_embedder("local").embed_query("words"),
    "ragpg[parsers]": lambda: parse(b"<p>words", name="a.html"),
}
for extra, use in needs.items():
    assert extra in complaint(use), extra
