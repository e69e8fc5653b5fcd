from __future__ import annotations

import io
import zipfile

import docx
import pytest

from ragpg.errors import ParseError
from ragpg.parsing import parse, parse_path
from tests.unit.parsing.support import archive, check, data_path, headings, kinds, texts

NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def made() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Onboarding"
    document.core_properties.author = "Ana"
    document.add_heading("First week", 1)
    document.add_paragraph("Welcome to the company.")
    document.add_heading("Accounts", 2)
    document.add_paragraph("Mail", style="List Bullet")
    document.add_paragraph("Chat", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["System", "Owner", "VPN", "IT | network"], strict=True):
        cell.text = text
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def test_headings_lists_and_tables() -> None:
    document = check(parse(made(), name="a.docx"))
    assert document.title == "Onboarding"
    assert document.metadata == {"author": "Ana"}
    assert [(b.kind, b.level, document.content[b.char_start : b.char_end]) for b in document.blocks] == [
        ("heading", 1, "First week"),
        ("paragraph", 0, "Welcome to the company."),
        ("heading", 2, "Accounts"),
        ("list", 0, "- Mail\n- Chat"),
        ("table", 0, "| System | Owner |\n| --- | --- |\n| VPN | IT \\| network |"),
    ]


@pytest.mark.parametrize("part", [0.1, 0.5, 0.98])
def test_a_truncated_file_is_refused(part: float) -> None:
    data = made()
    with pytest.raises(ParseError, match="broken DOCX"):
        parse(data[: int(len(data) * part)], name="a.docx")


def test_damaged_bytes_are_refused() -> None:
    data = bytearray(made())
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        start = package.getinfo("word/document.xml").header_offset + 200
    data[start : start + 50] = b"x" * 50
    with pytest.raises(ParseError, match="broken DOCX"):
        parse(bytes(data), name="a.docx")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "is encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "legacy Office file"),
        (b"just text", "broken DOCX"),
        (archive({"ppt/presentation.xml": "<a/>"}), "is not a DOCX file"),
        (archive({"word/document.xml": "<a"}), "broken DOCX"),
        (archive({"word/document.xml": f"<w:document {NAMESPACE}/>"}), "broken DOCX"),
        (archive({"word/document.xml": f"<w:document {NAMESPACE}><w:body/></w:document>"}), "holds no text"),
    ],
)
def test_what_is_no_document_is_refused_by_name(data: bytes, message: str) -> None:
    with pytest.raises(ParseError, match=rf"^a\.docx .*{message}"):
        parse(data, name="a.docx")


def test_bombs_are_refused() -> None:
    body = b"<a>" + b" " * 40_000_000
    with pytest.raises(ParseError, match="more than 16 MB of XML"):
        parse(archive({"word/document.xml": body}), name="a.docx")
    with pytest.raises(ParseError, match="more than 200 MB"):
        parse(archive({"word/document.xml": b"<a/>", "word/media/a.png": bytes(210 << 20)}), name="a.docx")
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "x" * 50}">' for i in range(9))
    bomb = f"<!DOCTYPE d [{entities}]><w:document {NAMESPACE}><w:body><w:p>&e8;</w:p></w:body></w:document>"
    with pytest.raises(ParseError, match="broken DOCX"):
        parse(archive({"word/document.xml": bomb}), name="a.docx")


def test_a_size_that_lies_is_not_believed() -> None:
    data = bytearray(archive({"word/document.xml": b"<a>" + b" " * 40_000_000}))
    directory = data.rfind(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = (100).to_bytes(4, "little")
    with pytest.raises(ParseError, match="broken DOCX"):
        parse(bytes(data), name="a.docx")


def test_deep_nesting_is_refused() -> None:
    depth = 5000
    body = "<w:sdt><w:sdtContent>" * depth + "<w:p/>" + "</w:sdtContent></w:sdt>" * depth
    with pytest.raises(ParseError, match="nested too deeply"):
        parse(
            archive({"word/document.xml": f"<w:document {NAMESPACE}><w:body>{body}</w:body></w:document>"}),
            name="a.docx",
        )


def test_equations_keep_their_characters() -> None:
    document = check(parse_path(data_path("files", "docx", "equations.docx")))
    assert "this is an inline equation: A=πr2 ." in document.content
    assert document.warnings == ("equations are kept as their characters, without their layout",)


def test_real_files() -> None:
    document = check(parse_path(data_path("files", "docx", "word_sample.docx")))
    assert headings(document) == [(1, "Swimming in the lake"), (1, "Let’s swim!"), (2, "Let’s eat")]
    assert document.title == "Swimming in the lake"
    assert (
        texts(document, "list")[1] == "1. Wear sunglasses\n2. Don’t forget to drink water\n3. Use sun cream"
    )
    assert texts(document, "table")[0].startswith(
        "|  | Food | Calories per portion |\n| --- | --- | --- |\n| Leaves |"
    )

    document = check(parse_path(data_path("files", "docx", "docx_lists.docx")))
    assert kinds(document).count("list") == 11
    assert (
        texts(document, "list")[4] == "- List item 1\n  - List item 1.1\n    - List item 1.1.1\n- List item 3"
    )

    document = check(parse_path(data_path("files", "docx", "docx_code_blocks.docx")))
    assert texts(document, "code") == ["import sys\nprint(sys.argv)"]
