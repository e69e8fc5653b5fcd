import hashlib
import subprocess
import sys

import pytest

from ragpg.embedding import Embedder, embedder_for, input_hash, make_embedder, model_key
from ragpg.errors import ConfigError


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ("local", "local:all-MiniLM-L6-v2-int8:384"),
        ("hash", "hash:words:64"),
        ("hash:8", "hash:words:8"),
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small:1536"),
        ("openai:text-embedding-3-large@1024", "openai:text-embedding-3-large:1024"),
        ("openai:nomic-embed-text:latest@768", "openai:nomic-embed-text:latest:768"),
        ("openai:@cf/baai/bge-m3@1024", "openai:@cf/baai/bge-m3:1024"),
    ],
)
def test_a_spec_makes_an_embedder_and_the_database_makes_the_same_again(spec, key):
    first = make_embedder(spec, query_prefix="q: ", document_prefix="d: ")
    again = embedder_for(
        first.provider, first.model, first.dimensions, first.query_prefix, first.document_prefix
    )
    for embedder in (first, again):
        assert isinstance(embedder, Embedder)
        assert model_key(embedder) == key
        assert (embedder.query_prefix, embedder.document_prefix) == ("q: ", "d: ")
    assert type(first) is type(again)


@pytest.mark.parametrize(
    "spec",
    ["", "none", "Local", "local:x", "hash:", "hash:x", "hash:-1", "openai", "openai:", "cohere:embed-v4"],
)
def test_an_unknown_spec_lists_the_choices(spec):
    with pytest.raises(ConfigError, match=r"local .*openai:MODEL.*hash"):
        make_embedder(spec)


@pytest.mark.parametrize("spec", ["hash:0", "hash:4001", "openai:text-embedding-3-small@0", "openai:x@0"])
def test_impossible_dimensions(spec):
    with pytest.raises(ConfigError, match="dimensions"):
        make_embedder(spec)


@pytest.mark.parametrize(
    ("provider", "model", "dimensions"),
    [("cohere", "embed-v4", 1024), ("local", "another", 384), ("local", "all-MiniLM-L6-v2-int8", 512)],
)
def test_what_this_version_cannot_make_is_refused(provider, model, dimensions):
    with pytest.raises(ConfigError, match=f"{provider}:{model} with {dimensions}"):
        embedder_for(provider, model, dimensions)


def test_input_hash_is_sha256_of_the_exact_input():
    assert input_hash("query: Größe") == hashlib.sha256("query: Größe".encode()).digest()


def test_making_the_local_embedder_imports_nothing_heavy():
    script = (
        "import sys; from ragpg.embedding import make_embedder; make_embedder('local')\n"
        "heavy = {'numpy', 'onnxruntime', 'openai', 'tiktoken', 'tokenizers'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_making_an_openai_embedder_does_not_import_the_package():
    script = (
        "import sys; from ragpg.embedding import make_embedder; make_embedder('openai:x')\n"
        "sys.exit('openai' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
