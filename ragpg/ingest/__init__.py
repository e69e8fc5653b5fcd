"""Files to stored documents: sources, manifests, and the pipeline that writes only what changed.

The ways in are in :mod:`ragpg.ingest.entry`, which brings the parsers with it.
"""

from ragpg.ingest.attributes import Defaults
from ragpg.ingest.progress import IngestProgress

__all__ = ["Defaults", "IngestProgress"]
