"""What the parser tests share: the invariants, the block list in short, the real files, files made on the spot."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ragpg.types import ParsedDocument

ROOT = Path(__file__).parents[3]


def data_path(*parts: str) -> Path:
    """A path in the test data, or skip the test where there is none."""
    root = Path(os.environ.get("RAGPG_TEST_DATA", ROOT.parent / "shared" / "data"))
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is absent: set RAGPG_TEST_DATA to the test data's folder")
    return path


def check(document: ParsedDocument) -> ParsedDocument:
    """Assert what holds for every parsed document."""
    content = document.content
    assert content.strip()
    assert not re.search("[\0\r\ud800-\udfff]", content)
    assert not content.startswith("\ufeff")
    position = 0
    for block in document.blocks:
        assert position <= block.char_start <= block.char_end <= len(content), block
        assert not content[position : block.char_start].strip(), (block, content[position : block.char_start])
        text = content[block.char_start : block.char_end]
        if block.kind == "page_break":
            assert text == ""
        else:
            assert text.strip()
            assert text == text.rstrip()
        assert (1 <= block.level <= 6) if block.kind == "heading" else block.level == 0
        position = block.char_end
    assert not content[position:].strip()
    return document


def texts(document: ParsedDocument, *kinds: str) -> list[str]:
    return [document.content[b.char_start : b.char_end] for b in document.blocks if b.kind in kinds]


def kinds(document: ParsedDocument) -> list[str]:
    return [block.kind for block in document.blocks]


def headings(document: ParsedDocument) -> list[tuple[int, str]]:
    return [
        (b.level, document.content[b.char_start : b.char_end]) for b in document.blocks if b.kind == "heading"
    ]


def archive(parts: Mapping[str, bytes | str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in parts.items():
            target.writestr(name, content)
    return file.getvalue()


def pdf(pages: list[list[Any]], *, encrypt: str | None = None, title: str | None = None) -> bytes:
    """A PDF whose pages hold reportlab flowables, each with a running head and its number."""
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import PageBreak, SimpleDocTemplate

    def decorate(canvas: Any, template: Any) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(72, A4[1] - 40, "Example Corporation, internal")
        canvas.drawString(A4[0] / 2, 30, f"Page {template.page}")

    file = io.BytesIO()
    template = SimpleDocTemplate(file, pagesize=A4, title=title, encrypt=encrypt)
    flow = [part for page in pages for part in [*page, PageBreak()]]
    template.build(flow, onFirstPage=decorate, onLaterPages=decorate)
    return file.getvalue()
