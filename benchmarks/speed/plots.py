"""The figures as plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from .filters import KINDS
from .tables import index

# text stays text: small files, and the same every time
mpl.rcParams.update(
    {"svg.fonttype": "none", "svg.hashsalt": "ragpg", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
)

Corpus = dict[str, Any]


def plot(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write what there are figures for."""
    corpora = sorted(
        (corpus for corpus in results["corpora"].values() if corpus["build"]["key"]["source"] == "synthetic"),
        key=lambda corpus: corpus["build"]["key"]["chunks"],
    )
    written: list[Path] = []
    if corpora and all({"keyword", "vector", "hybrid"} <= corpus.keys() for corpus in corpora):
        written.append(_growth(corpora, folder / "benchmark-growth.svg"))
    for corpus in corpora:
        if "filters" in corpus:
            written.append(_filters(corpus, folder / "benchmark-filters.svg"))
        if "concurrency" in corpus:
            written.append(_concurrency(corpus, folder / "benchmark-concurrency.svg"))
    return written


def _growth(corpora: list[Corpus], path: Path) -> Path:
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.5), layout="constrained")
    chunks = [corpus["build"]["key"]["chunks"] for corpus in corpora]
    latency, seconds, size, memory = axes.flat

    series = {
        "keyword, 5 terms": ("keyword", "5 terms", "ragpg"),
        "keyword, ts_rank_cd": ("keyword", "5 terms", "ts_rank_cd"),
        "vector": ("vector", "ragpg, by acl"),
        "raw pgvector, with texts": ("vector", "raw pgvector, with texts"),
        "hybrid": ("hybrid", "search_hybrid"),
        "RRF by hand, any word": ("hybrid", "by hand, any word"),
    }
    for label, (section, *keys) in series.items():
        values: list[float] = []
        for corpus in corpora:
            row = corpus[section]["figures"]
            for key in keys:
                row = row[key]
            values.append(row["p50_ms"])
        own = "ts_rank" not in label and "raw" not in label and "by hand" not in label
        latency.plot(chunks, values, "o-" if own else "o--", label=label)
    _scale(latency, "p50, ms")

    parts = {"content_tsv": "GIN (words)", "embedding_idx": "HNSW", "pkey": "primary keys"}
    for part in ("content_tsv", "embedding_idx"):
        builds = [corpus["build"]["seconds"] for corpus in corpora]
        seconds.plot(chunks, [build[index(build, part)] for build in builds], "o-", label=parts[part])
    for name in ("rows", "refresh_statistics"):
        seconds.plot(
            chunks,
            [corpus["build"]["seconds"][name] for corpus in corpora],
            "o--",
            label=name.replace("_", " "),
        )
    _scale(seconds, "seconds to build")

    for part, label in parts.items():
        size.plot(
            chunks,
            [
                sum(bytes_ for name, (_, bytes_) in corpus["build"]["sizes"].items() if part in name) / 2**20
                for corpus in corpora
            ],
            "o-",
            label=label,
        )
    _scale(size, "MB on disk")

    for section in ("keyword", "vector", "hybrid"):
        memory.plot(
            chunks, [corpus[section]["figures"]["memory_mb"] for corpus in corpora], "o-", label=section
        )
    memory.set_xscale("log")
    memory.set_ylim(bottom=0)
    memory.set_ylabel("MB a backend has for itself")
    memory.legend()
    for axis in axes.flat:
        axis.set_xlabel("chunks")
    return _save(figure, path)


def _filters(corpus: Corpus, path: Path) -> Path:
    rows = corpus["filters"]["figures"]
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
    for axis, kind in zip(axes, KINDS, strict=True):
        shown = [row for row in rows if row["kind"] == kind and row["form"] == "acl"]
        for name, style in (("ragpg", "o-"), ("exact", "s--"), ("hnsw", "^--")):
            axis.plot(
                [row["visible_percent"] for row in shown],
                [row[name]["p50_ms"] for row in shown],
                style,
                label={"hnsw": "HNSW, forced", "exact": "exact, forced"}.get(name, name),
            )
        _scale(axis, "p50, ms")
        axis.set_xlabel(f"% of the chunks visible, {kind}")
    return _save(figure, path)


def _concurrency(corpus: Corpus, path: Path) -> Path:
    rows = corpus["concurrency"]["figures"]
    figure, (throughput, tail) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for name in dict.fromkeys(row["search"] for row in rows):
        shown = [row for row in rows if row["search"] == name]
        connections = [row["connections"] for row in shown]
        throughput.plot(connections, [row["per_second"] for row in shown], "o-", label=name)
        tail.plot(connections, [row["p95_ms"] for row in shown], "o-", label=name)
    for axis, label in ((throughput, "searches a second"), (tail, "p95, ms")):
        axis.set_xlabel("connections")
        axis.set_ylabel(label)
        axis.set_yscale("log")
        axis.legend()
    return _save(figure, path)


def _scale(axis: Axes, label: str) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylabel(label)
    axis.legend(fontsize=7)


def _save(figure: Any, path: Path) -> Path:
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    return path
