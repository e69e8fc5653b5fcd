"""ragpg: a Postgres-native backend for retrieval-augmented generation."""
