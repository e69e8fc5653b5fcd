"""Search from Python: filters, the remembered embedder, the search itself."""
