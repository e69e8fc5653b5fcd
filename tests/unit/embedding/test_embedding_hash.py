import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragpg.embedding.hash import HashEmbedder
from ragpg.errors import EmbeddingError


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_the_vectors_never_change():
    # Frozen: a collection made with an earlier release must still match.
    assert HashEmbedder(4).embed_query("refund policy") == pytest.approx([0.5**0.5, 0.5**0.5, 0.0, 0.0])


def test_shared_words_are_near_and_case_does_not_matter():
    embedder = HashEmbedder(256)
    query = embedder.embed_query("How long do REFUNDS take?")
    near, far = embedder.embed_documents(["refunds take ten days", "the stadium was empty"])
    assert cosine(query, near) > 0.4 > 0.2 > cosine(query, far)


@given(text=st.text(min_size=1).filter(lambda text: text.strip()), dimensions=st.integers(1, 70))
def test_every_text_has_length_one(text, dimensions):
    embedder = HashEmbedder(dimensions)
    try:
        text.encode()
    except UnicodeEncodeError:
        with pytest.raises(EmbeddingError):
            embedder.embed_query(text)
        return
    vector = embedder.embed_query(text)
    assert len(vector) == dimensions
    assert math.isclose(cosine(vector, vector), 1.0)


def test_prefixes_and_progress():
    embedder = HashEmbedder(query_prefix="query: ", document_prefix="passage: ")
    done = []
    document = embedder.embed_documents(["x", "y"], on_progress=done.append)[0]
    assert document == HashEmbedder().embed_query("passage: x")
    assert embedder.embed_query("x") == HashEmbedder().embed_query("query: x")
    assert sum(done) == 2


def test_blank_text_is_refused():
    with pytest.raises(EmbeddingError, match="input 1 is blank"):
        HashEmbedder().embed_documents(["x", "\n"])


def test_it_counts_words_and_fits_all():
    assert HashEmbedder().count_tokens("one two, three") == 3
    assert HashEmbedder().fits("word " * 10**5)
