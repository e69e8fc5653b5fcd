"""Files to stored documents: sources, manifests, and the pipeline that writes only what changed."""

from ragpg.ingest.attributes import Defaults
from ragpg.ingest.entry import ingest_one, ingest_paths, upsert_text
from ragpg.ingest.progress import IngestProgress

__all__ = ["Defaults", "IngestProgress", "ingest_one", "ingest_paths", "upsert_text"]
