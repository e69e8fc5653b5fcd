from __future__ import annotations

import psycopg
import pytest


@pytest.fixture
def catalog(conn: psycopg.Connection) -> psycopg.Connection:
    """The owner's connection, with one collection that has partitions with vectors and one that has none."""
    conn.execute("select ragpg.create_collection('keywords')")
    conn.execute(
        "select ragpg.create_collection('vectors', p_embedding_provider => 'hash', p_embedding_model => 'hash',"
        " p_embedding_dimensions => 3)"
    )
    return conn
