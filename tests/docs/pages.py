"""Reads the documentation: its pages, their sections, links and code blocks."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])

_FENCE = re.compile(r"^(```+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_RUNNABLE = re.compile(r"<!-- runnable -->\n```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def sections(page: Path) -> dict[str, str]:
    """Return the text under each second-level heading of a page, by heading; what stands before the first is under ``""``."""
    parts = re.split(r"^## (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def relative_links(page: Path) -> list[str]:
    """Return the targets of a page's links to files."""
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [link.partition("#")[0] for link in _LINK.findall(prose) if not re.match(r"[a-z]+:|#", link)]


def runnable_blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a language that are marked as runnable."""
    found = _RUNNABLE.findall(page.read_text(encoding="utf-8"))
    return [code for marked, code in found if marked == language]
