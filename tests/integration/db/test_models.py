from __future__ import annotations

from hashlib import sha256

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from ragpg.db.migrate import engine_for
from ragpg.db.models import Base, Chunk, Collection, Document, Embedding, IndexVersion

FILL = """
    select ragpg.create_collection('things', p_embedding_provider => 'hash', p_embedding_model => 'hash',
        p_embedding_dimensions => 3);
    select ragpg.upsert_document('things', 'one', 'Refunds take ten days.', p_metadata => '{"year": 2026}',
        p_chunks => '[{"char_start": 0, "char_end": 22, "section_path": ["A", "B"]}]', p_embeddings => '{"[1,0,0]"}');
"""


def filled(url: str) -> Engine:
    engine = engine_for(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(FILL)
    return engine


def test_every_table_can_be_read(database: str) -> None:
    with Session(filled(database)) as session:
        for mapper in Base.registry.mappers:
            session.execute(select(mapper.class_)).all()


def test_relationships_and_types(database: str) -> None:
    with Session(filled(database)) as session:
        collection = session.scalars(select(Collection).where(Collection.name == "things")).one()
        (document,) = collection.documents
        (version,) = collection.index_versions
        (chunk,) = document.chunks
        assert collection.active_index_version_id == version.id
        assert isinstance(version, IndexVersion)
        assert document.metadata_ == {"year": 2026}
        assert document.acl == ["public"]
        assert document.content_hash == sha256(b"Refunds take ten days.").digest()
        assert chunk.content == document.content[chunk.char_start : chunk.char_end]
        assert chunk.section_path == ["A", "B"]
        assert chunk.embedding is not None
        assert chunk.embedding.embedding == [1, 0, 0]
        assert chunk.embedding.chunk is chunk
        assert chunk.document is document
        assert document.collection is collection


def test_vectors_can_be_compared(database: str) -> None:
    with Session(filled(database)) as session:
        distance = Embedding.embedding.cosine_distance([0, 1, 0])
        query = select(Document.external_id, distance).join(Chunk, Chunk.document_id == Document.id)
        assert session.execute(query.join(Chunk.embedding)).all() == [("one", 1.0)]
