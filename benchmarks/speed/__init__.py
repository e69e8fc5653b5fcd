"""The parts of ``benchmarks/search.py``: corpora, questions, measurements, plots."""
