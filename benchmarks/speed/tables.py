"""The figures as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Corpus = dict[str, Any]


def tables(results: dict[str, Any]) -> str:
    """All that was measured, largest corpus last."""
    parts: list[str] = []
    corpora = sorted(results["corpora"].values(), key=lambda corpus: corpus["build"]["key"]["chunks"])
    parts.append(_build(corpora))
    for corpus in corpora:
        title = f"{corpus['build']['key']['chunks']:,} chunks ({corpus['build']['key']['source']})"
        for section, render in (
            ("keyword", _keyword),
            ("vector", _vector),
            ("hybrid", _hybrid),
            ("filters", _filters),
            ("concurrency", _concurrency),
        ):
            if section in corpus:
                load = corpus[section]["load_average"]
                parts.append(
                    f"### {section.capitalize()}, {title}\n\n{render(corpus[section]['figures'])}\n\n"
                    f"Load average of the machine meanwhile: {load[0]} to {load[1]}."
                )
    return "\n\n".join(parts) + "\n"


def _build(corpora: list[Corpus]) -> str:
    header = [
        "chunks",
        "rows",
        "GIN (words)",
        "HNSW",
        "statistics",
        "GIN size",
        "HNSW size",
        "chunks' table",
        "embeddings' table",
    ]
    lines: list[list[str]] = []
    for corpus in corpora:
        build = corpus["build"]
        seconds, sizes = build["seconds"], build["sizes"]
        lines.append(
            [
                f"{build['key']['chunks']:,}",
                f"{seconds['rows']:.0f} s",
                f"{seconds[index(seconds, 'content_tsv')]:.0f} s",
                f"{seconds[index(seconds, 'embedding_idx')]:.0f} s",
                f"{seconds['refresh_statistics']:.0f} s",
                *(
                    f"{sizes[index(sizes, part)][1] / 2**20:.0f} MB"
                    for part in ("content_tsv", "embedding_idx")
                ),
                *(
                    f"{next(size for name, (kind, size) in sizes.items() if kind == 'table' and name.startswith(table)) / 2**20:.0f} MB"
                    for table in ("chunk_v", "embedding_v")
                ),
            ]
        )
    return "### Building\n\n" + _table(header, lines)


def index(names: Iterable[str], part: str) -> str:
    """The name that holds a part: index names begin with the number of their index version."""
    return next(name for name in names if part in name)


def _keyword(figures: dict[str, Any]) -> str:
    header = [
        "question",
        "p50",
        "p95",
        "ts_rank_cd p50",
        "p95",
        "p50, 2 more workers",
        "times faster",
        "in CPU",
        "not exact",
        "pages",
    ]
    return _table(
        header,
        (
            [
                kind, _ms(row["ragpg"]["p50_ms"]), _ms(row["ragpg"]["p95_ms"]), _ms(row["ts_rank_cd"]["p50_ms"]),
                _ms(row["ts_rank_cd"]["p95_ms"]), _ms(row["ts_rank_cd, parallel"]["p50_ms"]), str(row["ratio"]),
                _optional(row, "cpu_ratio"), f"{row['wrong']} of {row['checked']}", f"{row['pages']:,}",
            ]
            for kind, row in figures.items()
            if isinstance(row, dict)
        ),
    )  # fmt: skip


def _vector(figures: dict[str, Any]) -> str:
    raw, texts = figures["raw pgvector"], figures["raw pgvector, with texts"]
    reached, effort = f"{raw['recall']:.3f}", figures["effort_at_equal_recall"]
    lines = [
        [f"raw pgvector, ef_search {effort}", _ms(raw["p50_ms"]), _ms(raw["p95_ms"]), reached, ""],
        ["the same, with texts", _ms(texts["p50_ms"]), _ms(texts["p95_ms"]), reached, ""],
    ]
    for caller in ("owner", "by acl"):
        row = figures[f"ragpg, {caller}"]
        lines += [
            [f"ragpg's leg, {caller}", _ms(row["leg_p50_ms"]), "", f"{row['recall']:.3f}", f"{row['leg_ratio']} of raw"],
            [
                f"search_vector, {caller}", _ms(row["p50_ms"]), _ms(row["p95_ms"]), f"{row['recall']:.3f}",
                f"{row['ratio']} of raw with texts, in CPU {_optional(row, 'cpu_ratio')}",
            ],
        ]  # fmt: skip
    return _table(["search", "p50", "p95", "recall@10", "ratio"], lines)


def _hybrid(figures: dict[str, Any]) -> str:
    lines = [
        [name, _ms(figures[name]["p50_ms"]), _ms(figures[name]["p95_ms"])]
        for name in ("search_hybrid", "by hand, any word", "by hand, every word")
    ]
    lines.append(["the two legs by their own clock", _ms(figures["legs_p50_ms"]), ""])
    return _table(["search", "p50", "p95"], lines) + f"\n\nOverhead over the legs: {figures['overhead']:.1%}."


def _filters(figures: list[dict[str, Any]]) -> str:
    header = [
        "",
        "visible",
        "by",
        "p50",
        "p95",
        "recall@10",
        "short",
        "exact p50",
        "HNSW p50",
        "recall",
        "short",
        "of the faster",
        "in CPU",
        "path",
    ]
    return _table(
        header,
        (
            [
                row["kind"], f"{row['visible_percent']:g} %", row["form"], _ms(row["ragpg"]["p50_ms"]), _ms(row["ragpg"]["p95_ms"]),
                f"{row['ragpg']['recall']:.3f}", str(row["ragpg"]["short_pages"]), _ms(row["exact"]["p50_ms"]), _ms(row["hnsw"]["p50_ms"]),
                f"{row['hnsw']['recall']:.3f}", str(row["hnsw"]["short_pages"]), str(row["ratio"]), _optional(row, "cpu_ratio"),
                row["path"],
            ]
            for row in figures
        ),
    )  # fmt: skip


def _concurrency(figures: list[dict[str, Any]]) -> str:
    header = ["search", "connections", "a second", "p50", "p95", "seen waiting for a lock"]
    return _table(
        header,
        (
            [
                row["search"], str(row["connections"]), f"{row['per_second']:g}", _ms(row["p50_ms"]), _ms(row["p95_ms"]),
                str(row["seen_waiting_for_locks"]),
            ]
            for row in sorted(figures, key=lambda row: (row["search"], row["connections"]))
        ),
    )  # fmt: skip


def _optional(row: dict[str, Any], key: str) -> str:
    return str(row.get(key, ""))


def _ms(value: float) -> str:
    return f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"


def _table(header: list[str], lines: Iterable[list[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
