from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ragpg.errors import MissingExtra, ParseError
from ragpg.parsing import parse, parse_path, supported_suffixes
from tests.unit.parsing.support import archive, check, data_path


def test_supported_suffixes() -> None:
    assert supported_suffixes() == {
        ".md", ".markdown", ".html", ".htm", ".txt", ".text", ".log", ".pdf", ".docx",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "media_type", "expected"),
    [
        ("a.MD", None, "text/markdown"),
        ("a.txt", "text/markdown", "text/markdown"),
        ("a.md", "application/octet-stream", "text/markdown"),
        ("a", "TEXT/HTML; charset=utf-8", "text/html"),
        ("dir.md/a", None, "text/plain"),
        ("a.conf", None, "text/plain"),
    ],
)
def test_media_type_then_suffix_then_content(name: str, media_type: str | None, expected: str) -> None:
    assert parse(b"some words", name=name, media_type=media_type).media_type == expected


@pytest.mark.parametrize("media_type", ["application/zip", "image/png; q=1", "text/csv"])
def test_a_media_type_that_is_not_read_is_refused(media_type: str) -> None:
    with pytest.raises(
        ParseError, match=r"a\.md is \S+, which is not read; .*text/markdown.*application/pdf"
    ):
        parse(b"some words", name="a.md", media_type=media_type)


def test_content_decides_where_nothing_else_does() -> None:
    assert parse(b"\n <!DOCTYPE html><p>words", name="-").media_type == "text/html"
    assert parse(b"words", name="-").media_type == "text/plain"
    with pytest.raises(ParseError, match="broken PDF"):
        parse(b"%PDF-1.7 and no more", name="-")
    with pytest.raises(ParseError, match="broken DOCX"):
        parse(archive({"word/document.xml": "<a/>"}), name="-")
    with pytest.raises(ParseError, match="ZIP"):
        parse(archive({"ppt/presentation.xml": "<a/>"}), name="-")


def test_parse_path(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"# One\n")
    assert parse_path(file).title == parse_path(str(file)).title == "One"
    with pytest.raises(ParseError, match=r"absent\.md can't be read: No such file"):
        parse_path(tmp_path / "absent.md")
    with pytest.raises(ParseError, match="can't be read"):
        parse_path(tmp_path)


@pytest.mark.parametrize(
    ("name", "data", "module"),
    [
        ("a.html", b"<p>words", "lxml.etree"),
        ("a.docx", archive({"word/document.xml": "<a/>"}), "mammoth"),
        ("a.pdf", b"%PDF-1.7\n%%EOF", "pypdfium2"),
    ],
)
def test_a_missing_library_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'ragpg\[parsers\]'"):
        parse(data, name=name)


def test_every_file_of_the_set_parses_or_says_why() -> None:
    refused: dict[str, str] = {}
    files = sorted(p for p in data_path("files").rglob("*") if p.suffix in supported_suffixes())
    # The longest takes seconds and has its own test.
    files = [file for file in files if file.name != "GeoTopo-komprimiert.pdf"]
    assert len(files) > 40
    for file in files:
        try:
            check(parse_path(file))
        except ParseError as error:
            refused[file.name] = str(error).removeprefix(f"{file} ")
    assert refused == {
        "libreoffice-writer-password.pdf": "is encrypted: remove its password",
        "ocr_test.pdf": "has no text layer on page 1: it must go through OCR first",
        "ocr_test_rotated_90.pdf": "has no text layer on page 1: it must go through OCR first",
    }
