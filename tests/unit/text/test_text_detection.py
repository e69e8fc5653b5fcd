import importlib
import sys
from typing import Any

import pytest

from ragpg.db.languages import _CONFIGURATIONS, configuration_for, is_of_one_language
from ragpg.errors import MissingExtra
from ragpg.text import detection
from ragpg.text.detection import detect_language, detector_installed

PG18 = frozenset({"simple", "english", "german", "french", "russian", "norwegian", "pg_catalog.german"})


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The warranty covers every part of the machine for two years.", "en"),
        ("Die Versicherung zahlt, wenn der Schaden innerhalb von zwei Wochen gemeldet wird.", "de"),
        ("L'assurance rembourse les frais si le dommage est signalé dans les deux semaines.", "fr"),
        ("El seguro paga si el daño se comunica en un plazo de dos semanas.", "es"),
        ("Страховка выплачивается, если о повреждении сообщили в течение двух недель.", "ru"),
        ("损坏必须在两周内报告，否则保险公司不予赔偿。", "zh"),
        ("損害は二週間以内に報告しなければなりません。", "ja"),
        ("ต้องแจ้งความเสียหายภายในสองสัปดาห์ มิฉะนั้นประกันจะไม่จ่าย", "th"),
        ("يجب الإبلاغ عن الضرر خلال أسبوعين وإلا فلن يدفع التأمين.", "ar"),
        ("Forsikringa betaler dersom skaden vert meld innan to veker, og ikkje elles.", "no"),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Hola",
        "ERR-1042",
        "SKU 4711-AB",
        "1,2,3\n4,5,6\n7,8,9",
        "9f86d081884c7d659a2feaa0c55ad015 a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_nobody_can_tell(text: str) -> None:
    assert detect_language(text) is None


def test_a_text_half_in_each_of_two_languages_is_of_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ranks:
        def rank(self, text: str) -> list[tuple[str, float]]:
            return ranks[text]

    ranks = {"mixed": [("de", 0.5), ("en", 0.5)], "wu": [("wuu", 0.5), ("zh", 0.45), ("ja", 0.05)]}
    monkeypatch.setattr(detection, "_identifier", Ranks)
    assert detect_language("mixed") is None
    assert detect_language("wu") == "zh"


def test_of_a_long_text_three_pieces_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    class Ranks:
        def rank(self, text: str) -> list[tuple[str, float]]:
            read.append(text)
            return [("en", 1.0)]

    monkeypatch.setattr(detection, "_identifier", Ranks)
    detect_language("a" * 100_000 + "b" * 2000 + "c" * 100_000)
    (text,) = read
    assert len(text) < 6100
    assert {"a", "b", "c"} <= set(text)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    detection._identifier.cache_clear()
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    with pytest.raises(MissingExtra, match=r"ragpg\[languages\]"):
        detect_language("The warranty covers every part of the machine.")
    monkeypatch.setattr(detection, "find_spec", lambda name: None)
    assert not detector_installed()


def test_configurations() -> None:
    assert configuration_for("de", PG18) == "german"
    assert configuration_for("no", PG18) == "norwegian"
    # A configuration that this server is too old for, and languages that have none.
    assert configuration_for("pl", PG18) == "simple"
    assert configuration_for("zh", PG18) == "simple"
    assert is_of_one_language("german")
    assert not is_of_one_language("simple")
    assert not is_of_one_language("public.german")


def test_every_language_with_a_configuration_can_be_detected() -> None:
    library: Any = importlib.import_module("py3langid.langid")
    labels = library.LanguageIdentifier.from_model_file(library.MODEL_FILE).labels
    assert set(_CONFIGURATIONS) <= set(labels)
