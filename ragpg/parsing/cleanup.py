"""Bytes to clean text: encoding, BOM, NUL, lone surrogates, line ends. Every parser's text goes through here."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

from ragpg.errors import ParseError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SIGNATURES = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP archive (or a file of Office, OpenDocument or EPUB)"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a legacy or encrypted Office file"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
# The encodings that files without a mark are really found in. The single-byte ones accept almost any bytes,
# so a longer list only brings more ways to guess wrong.
_LEGACY_ENCODINGS = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "mac_roman",
    "cp932", "euc_jp", "gb18030", "big5", "cp949",
]  # fmt: skip
_DETECTION_SAMPLE = 64 * 1024
_POOR_CHAOS = 0.2
# Western European text reads as well in a neighbouring code page, but for a letter or two; it is by far the likelier.
_COMMONEST_LEGACY = "cp1252"
_TIE = 0.01

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b\b"))
_SURROGATES = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIRS = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def decode(data: bytes, *, name: str, declared: str | None = None) -> tuple[str, list[str]]:
    """Decode a text file and clean it.

    A byte order mark wins, then UTF-8, then the encoding that the file declares, then detection.

    Parameters
    ----------
    data
        The file.
    name
        Its name, for the messages.
    declared
        The encoding that the file or its sender names, if any.

    Returns
    -------
    tuple[str, list[str]]
        The text as `clean` leaves it, and warnings that name what was guessed or lost.

    Raises
    ------
    ParseError
        When the file is empty, binary, or in an encoding that can't be told.
    """
    if not data:
        raise ParseError(f"{name} is empty")
    refuse_binary(data, name=name)
    text, warnings = _decode(data, name=name, declared=declared)
    text, cleaned = clean(text)
    require_text(text, name=name)
    return text, warnings + cleaned


def clean(text: str) -> tuple[str, list[str]]:
    """Make text fit to be stored: no BOM, no NUL, no lone surrogates, ``\\n`` as the only line end.

    Returns
    -------
    tuple[str, list[str]]
        The text, and a warning for each kind of character that was removed.
    """
    warnings: list[str] = []
    text = text.lstrip("\ufeff")
    if nuls := text.count("\0"):
        text = text.replace("\0", "")
        warnings.append(f"removed {nuls} NUL character{'s' if nuls > 1 else ''}")
    if not text.isascii() and _SURROGATES.search(text):
        text = _SURROGATE_PAIRS.sub(_join_pair, text)
        text, lone = _SURROGATES.subn("", text)
        if lone:
            warnings.append(f"removed {lone} lone surrogate{'s' if lone > 1 else ''}")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, warnings


def require_text(text: str, *, name: str) -> None:
    """Raise `ParseError` when the text is nothing but white space."""
    if not text or text.isspace():
        raise ParseError(f"{name} is empty: it holds no text")


def refuse_binary(data: bytes, *, name: str) -> None:
    """Raise `ParseError` when the bytes begin as a known binary format does."""
    for signature, what in _SIGNATURES:
        if data.startswith(signature):
            raise ParseError(f"{name} is not text: it looks like {what}")


def _decode(data: bytes, *, name: str, declared: str | None) -> tuple[str, list[str]]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _with_replacements(data[len(bom) :], encoding)
    if encoding := _utf16_without_bom(data):
        return data.decode(encoding), [f"decoded as {encoding}, which the file does not declare"]
    if (controls := len(data) - len(data.translate(None, _CONTROLS))) > 2 and controls > len(data) * 0.05:
        raise ParseError(f"{name} is not text: it looks binary ({controls} control bytes of {len(data)})")
    try:
        return data.decode("utf-8", "surrogatepass"), []
    except UnicodeDecodeError:
        pass
    if declared and (text := _try(data, declared)) is not None:
        return text, []
    if _mostly_utf8(data):
        return _with_replacements(data, "utf-8")
    return _detect(data, name=name)


def _utf16_without_bom(data: bytes) -> str | None:
    """UTF-16 of mostly Latin text has its NULs in every other byte, and nowhere else."""
    head = data[:4096]
    if len(data) % 2 or len(head) < 4:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    encoding = "utf-16-le" if odd > len(head) * 0.35 and not even else None
    encoding = "utf-16-be" if even > len(head) * 0.35 and not odd else encoding
    return encoding if encoding and _try(data, encoding) is not None else None


def _mostly_utf8(data: bytes) -> bool:
    """Whether a few damaged bytes stand among many well-formed multi-byte characters."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(1 for character in text if character > "\x7f") - bad
    return good >= 10 * bad


def _with_replacements(data: bytes, encoding: str) -> tuple[str, list[str]]:
    try:
        return data.decode(encoding, "surrogatepass"), []
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        bad = text.count("\ufffd")
        return text, [f"{bad} invalid {encoding} sequence{'s' if bad > 1 else ''} marked with U+FFFD"]


def _detect(data: bytes, *, name: str) -> tuple[str, list[str]]:
    matches = from_bytes(_sample(data), cp_isolation=_LEGACY_ENCODINGS)
    best = matches.best()
    if best is None or best.chaos > _POOR_CHAOS:
        guess = f" (it may be {best.encoding})" if best else ""
        raise ParseError(f"{name} is not UTF-8, and its encoding can't be told{guess}: convert it to UTF-8")
    encoding = best.encoding
    if any(
        _COMMONEST_LEGACY in match.could_be_from_charset and match.chaos <= best.chaos + _TIE
        for match in matches
    ):
        encoding = _COMMONEST_LEGACY
    if (text := _try(data, encoding)) is None:
        raise ParseError(f"{name} is neither UTF-8 nor {encoding}, which it looks like: convert it to UTF-8")
    return text, [f"decoded as {encoding}, by detection: the file is not UTF-8"]


def _sample(data: bytes) -> bytes:
    """Enough of a long file to tell its encoding by: whole lines around its first bytes that are not ASCII."""
    if len(data) <= _DETECTION_SAMPLE:
        return data
    first = re.search(rb"[\x80-\xff]", data)
    middle = first.start() if first else 0
    start = data.rfind(b"\n", max(0, middle - _DETECTION_SAMPLE // 2), middle) + 1
    end = data.rfind(b"\n", middle, start + _DETECTION_SAMPLE)
    return data[start : end if end > middle else start + _DETECTION_SAMPLE]


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _join_pair(match: re.Match[str]) -> str:
    return match[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
