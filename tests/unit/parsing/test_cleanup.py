from __future__ import annotations

import pytest

from ragpg.errors import ParseError
from ragpg.parsing import parse
from tests.unit.parsing.support import check

LEGACY = {
    "cp1252": "Café déjà vu, naïve élève à Paris: ça va être très bien.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy, zażółć gęślą jaźń.",
    "cp1251": "Привет, мир: это русский текст для проверки.",
    "koi8_r": "Привет, мир: это русский текст для проверки.",
    "cp1253": "Καλημέρα κόσμε, τι κάνεις σήμερα",
    "cp932": "これは日本語のテキストです。文字コードの検出を試します。",
    "euc_jp": "これは日本語のテキストです。文字コードの検出を試します。",
    "gb18030": "这是一个中文文本,用于检测编码。请注意标点符号。",
    "big5": "這是一個中文文本用於檢測編碼",
    "cp949": "안녕하세요 한국어 텍스트 테스트입니다",
}


@pytest.mark.parametrize("name", ["a.md", "a.html", "a.txt", "a.pdf", "a.docx", "a"])
@pytest.mark.parametrize("data", [b"", b" \n\t\r\n ", b"\xef\xbb\xbf", b"\0\0"])
def test_a_file_without_text_is_refused(name: str, data: bytes) -> None:
    with pytest.raises(ParseError, match=rf"^{name} "):
        parse(data, name=name)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "PNG"),
        (b"PK\x03\x04" + bytes(200), "ZIP"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "PDF"),
        (b"\x7fELF\x02\x01\x01" + bytes(100), "program"),
        (bytes(range(256)) * 40, "binary"),
        (bytes(1000), "binary"),
    ],
)
@pytest.mark.parametrize("name", ["notes.md", "notes.txt", "notes.html"])
def test_binary_under_a_text_name_is_refused_and_named(name: str, data: bytes, what: str) -> None:
    with pytest.raises(ParseError, match=f"{name} is not text.*{what}"):
        parse(data, name=name)


def test_nul_bytes_are_removed_and_reported() -> None:
    document = check(parse(b"one\x00 two\n\nthree\x00\n", name="a.txt"))
    assert document.content == "one two\n\nthree\n"
    assert document.warnings == ("removed 2 NUL characters",)


def test_lone_surrogates_are_removed_and_pairs_joined() -> None:
    data = "a\ud800b \ud83d\ude00".encode("utf-8", "surrogatepass")
    document = check(parse(data, name="a.md"))
    assert document.content == "ab \U0001f600"
    assert document.warnings == ("removed 1 lone surrogate",)


def test_line_ends_and_byte_order_mark_are_normalised_in_silence() -> None:
    document = check(parse(b"\xef\xbb\xbfone\r\ntwo\rthree\n", name="a.txt"))
    assert document.content == "one\ntwo\nthree\n"
    assert document.warnings == ()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_decides(encoding: str) -> None:
    document = check(parse("# Überschrift\n\nHello 😀".encode(encoding), name="a.md"))
    assert document.content == "# Überschrift\n\nHello 😀"
    assert document.warnings == ()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_found(encoding: str) -> None:
    document = check(parse("Hello there, wörld".encode(encoding), name="a.txt"))
    assert document.content == "Hello there, wörld"
    assert document.warnings == (f"decoded as {encoding}, which the file does not declare",)


@pytest.mark.parametrize("encoding", LEGACY)
def test_legacy_encodings_are_detected_and_named(encoding: str) -> None:
    document = check(parse(LEGACY[encoding].encode(encoding), name="a.txt"))
    assert document.content == LEGACY[encoding]
    assert document.warnings == (f"decoded as {encoding}, by detection: the file is not UTF-8",)


def test_a_declared_encoding_wins_over_detection() -> None:
    data = LEGACY["cp1253"].encode("cp1253")
    document = parse(data, name="a", media_type="text/plain; charset=windows-1252")
    assert document.content == LEGACY["cp1253"].encode("cp1253").decode("cp1252")
    assert document.warnings == ()


def test_a_few_damaged_bytes_do_not_turn_utf_8_into_something_else() -> None:
    document = check(parse("grün ".encode() * 40 + b"\xff" + "größer".encode(), name="a.txt"))
    assert document.content == "grün " * 40 + "\ufffdgrößer"
    assert document.warnings == ("1 invalid utf-8 sequence marked with U+FFFD",)


def test_an_encoding_that_cannot_be_told_is_refused() -> None:
    data = bytes(byte for number in range(3000) if (byte := number * 7919 % 251 + 4) > 31)
    with pytest.raises(ParseError, match="encoding can't be told"):
        parse(data, name="noise.txt")


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_five_megabytes_in_one_line(name: str) -> None:
    data = b"lorem ipsum " * 440_000
    document = check(parse(data, name=name))
    assert document.content.strip() == data.decode().strip()
    assert len(document.blocks) == 1
