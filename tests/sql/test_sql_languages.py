"""Accents, stop words, scripts without spaces, several languages in one collection: the keyword leg finds what is there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.proofs.keyword_recall import SETS, load, measure, read, sample
from tests.sql.helpers import call, create, ids, upsert

if TYPE_CHECKING:
    from tests.conftest import PgServer


def keyword(connection: psycopg.Connection[Any], query: str, **more: Any) -> list[str]:
    return ids(call(connection, "search_keyword", p_collection="c", p_query=query, **more))


def scores(connection: psycopg.Connection[Any], query: str) -> dict[str, float]:
    rows = call(connection, "search_keyword", p_collection="c", p_query=query)
    return {row["external_id"]: row["keyword_score"] for row in rows}


ACCENTS = [
    ("german", "straße", "strasse"),
    ("german", "STRASSE", "Straße"),
    ("german", "Müller", "Muller"),
    ("german", "Größenordnung", "grossenordnung"),
    ("english", "café", "cafe"),
    ("english", "naïve", "naive"),
    ("english", "résumé", "resume"),
    ("english", "Beyoncé", "Beyonce"),
    ("english", "smørrebrød", "smorrebrod"),
    ("english", "encyclopædia", "encyclopaedia"),
    ("english", "Þingvellir", "Thingvellir"),
    ("simple", "Łódź", "Lodz"),
    ("simple", "cafe\u0301", "café"),
    ("simple", "Việt Nam", "viet nam"),
    ("turkish", "Çelik", "celik"),
    ("turkish", "İstanbul", "istanbul"),
    ("turkish", "ISPARTA", "ısparta"),
    ("french", "déjà", "deja"),
    ("french", "arrivée", "arrivee"),
    ("spanish", "canción", "canciones"),
    ("hungarian", "köszönöm", "koszonom"),
    ("greek", "οδός", "ΟΔΟΣ"),
    ("greek", "προϊόντα", "προιοντα"),
    ("russian", "ёлка", "елка"),
    ("russian", "за\u0301мок", "замок"),
    ("arabic", "مُحَمَّد", "محمد"),
    ("simple", "שָׁלוֹם", "שלום"),
    ("english", "co\u00adop\u00aderate", "cooperate"),
    ("simple", "می\u200cخواهم", "میخواهم"),
]


@pytest.mark.parametrize(("language", "one", "other"), ACCENTS)
def test_what_is_typed_with_and_without_accents_is_the_same(
    conn: psycopg.Connection, language: str, one: str, other: str
) -> None:
    create(conn, dimensions=None)
    upsert(conn, "one", [f"zzz {one} yyy"], language=language)
    upsert(conn, "other", [f"zzz {other} yyy"], language=language)
    upsert(conn, "neither", ["zzz yyy"], language=language)
    for text in (one, other):
        assert sorted(keyword(conn, text)) == ["one", "other"]
        assert sorted(keyword(conn, f'"zzz {text} yyy"')) == ["one", "other"], "a phrase holds with either"
        assert keyword(conn, f"yyy -{text}") == ["neither"]


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("simple", "がき", "かき"),
        ("simple", "ハハ", "パパ"),
        ("simple", "май", "маи"),
        ("simple", "її", "іі"),
        ("simple", "मिल", "मल"),
        ("simple", "รถไฟ", "รดไฟ"),
        ("simple", "좋다", "종다"),
    ],
)
def test_marks_that_make_another_letter_stay(
    conn: psycopg.Connection, language: str, one: str, other: str
) -> None:
    create(conn, dimensions=None)
    upsert(conn, "one", [one], language=language)
    upsert(conn, "other", [other], language=language)
    assert keyword(conn, f'"{one}"') == ["one"]
    assert keyword(conn, f'"{other}"') == ["other"]


def test_stemming_still_joins_the_forms_of_an_accented_word(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "fr", ["Les invités sont arrivés"], language="french")
    assert keyword(conn, "arrivée") == ["fr"]
    upsert(conn, "de", ["Die Häuser der Bäcker"], language="german")
    assert keyword(conn, "Haus") == ["de"]


def test_accents_do_not_lengthen_a_chunk_but_for_a_second_stem(conn: psycopg.Connection) -> None:
    def length(language: str, text: str) -> int:
        row = conn.execute(
            "select ragpg._lexeme_count(ragpg._analyze(%s::regconfig, %s))", (language, text)
        ).fetchone()
        assert row is not None
        return row[0]

    assert length("german", "Müller wohnt in der Königstraße") == 3
    assert length("german", "Muller wohnt in der Konigstrasse") == 3
    assert length("english", "a résumé") == 2, (
        "resume and resum: its stem, and the stem of what is typed without accents"
    )


@pytest.fixture
def people(conn: psycopg.Connection) -> psycopg.Connection:
    create(conn, dimensions=None)
    upsert(conn, "band", ["The Who are a rock band from London. The Who played at Woodstock."])
    upsert(conn, "hamlet", ["To be, or not to be, that is the question."])
    upsert(conn, "mail", ["The person who wrote it was not here, and the others will be or have been."])
    upsert(conn, "words", ["Pumps, valves, seals."])
    return conn


def test_a_query_of_stop_words_only_finds_them_first_as_a_phrase(people: psycopg.Connection) -> None:
    assert keyword(people, "The Who") == ["band"]
    assert keyword(people, "to be or not to be") == ["hamlet"]
    assert keyword(people, "it") == ["mail"]
    assert set(keyword(people, "who was the")) == {"band", "hamlet", "mail"}, "no phrase: any of the words"
    assert keyword(people, '"the who"') == ["band"]
    assert keyword(people, "will have -been") == []
    hybrid = call(people, "search_hybrid", p_collection="c", p_query="the who")
    assert ids(hybrid) == ["band"]
    assert "keyword_empty" not in hybrid[0]["degraded"]


def test_stop_words_change_nothing_beside_a_word_that_counts(people: psycopg.Connection) -> None:
    assert scores(people, "the band of the who") == pytest.approx(scores(people, "band"))
    row = people.execute(
        "select lexeme_count from ragpg.chunk where content like 'Pumps%' or content like 'To be%' order by 1"
    ).fetchall()
    assert row == [(1,), (3,)], "question; pump, valv, seal"


def test_a_phrase_means_its_stop_words_too(people: psycopg.Connection) -> None:
    upsert(people, "to", ["the flight to London"])
    upsert(people, "from", ["the flight from London"])
    assert keyword(people, '"flight to London"') == ["to"]
    assert keyword(people, "flight -the") == []


def test_an_article_of_one_language_is_not_a_word_of_another(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "en", ["Old habits die hard"])
    upsert(conn, "de", ["Die Katze und die Maus"], language="german")
    assert keyword(conn, "die") == ["en"]
    assert keyword(conn, "Katze -die") == ["de"], "the excluded word is the English one"
    assert keyword(conn, '"die hard"') == ["en"]
    assert keyword(conn, "und der die") == ["de"], "a German question"
    assert keyword(conn, "und der") == ["de"], "nothing else of the query occurs"


def test_a_document_in_simple_hides_no_stop_word_of_another_language(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "en", ["The Who played"])
    upsert(conn, "zh", ["it is the who 乐队"], language="simple")
    upsert(conn, "neither", ["it was a band who played the song"])
    assert keyword(conn, "the who") == ["en"], "an English query, by two stop words"
    assert set(keyword(conn, "it")) == {"zh", "neither"}
    assert keyword(conn, "band -the") == []


def test_german_stop_words_alone(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "de", ["Das ist das Buch, die der Mann für sie hat"], language="german")
    upsert(conn, "other", ["Bücher lesen"], language="german")
    assert keyword(conn, "die der") == ["de"]
    assert keyword(conn, "FÜR") == ["de"]


def test_one_character_of_a_script_without_spaces(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "zh", ["他们在城里养猫和狗"], language="simple")
    upsert(conn, "ja", ["公園で犬を見た。"], language="simple")
    upsert(conn, "ko", ["서울에서 김치를 먹었다"], language="simple")
    for character, wanted in (
        ("猫", "zh"),
        ("狗", "zh"),
        ("犬", "ja"),
        ("公", "ja"),
        ("を", "ja"),
        ("김", "ko"),
        ("다", "ko"),
    ):
        assert keyword(conn, character) == [wanted], character
    assert keyword(conn, '"犬"') == ["ja"]
    assert keyword(conn, "公園 -犬") == []


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        (
            "新しいiPhone15を買うことにした",
            ["iPhone15", "iPhone15を買う", "ＩＰＨＯＮＥ１５", "買う", '"15を買う"'],
        ),
        ("ﾊﾝｶｸのﾃﾞｰﾀ", ["ハンカク", "データ", "ﾃﾞｰﾀ", '"データ"']),
        ("東京スカイツリーの高さは634メートル", ["スカイツリー", "634メートル", "東京", "高さ"]),
        ("학교에서 학생들이 도서관을 지었다", ["학교", "학교는", "도서관이", "학생"]),
        ("นักวิทยาศาสตร์ทำงานที่มหาวิทยาลัย", ["มหาวิทยาลัย", "วิทยาศาสตร์", '"มหาวิทยาลัย"']),
        ("ＥＲＲ－１０４２ が発生", ["ERR-1042", "発生"]),
        ("北京大学位于海淀区", ["北京大学", '"海淀区"']),
        ("हिन्दी में प्रश्न", ["हिन्दी", "प्रश्न"]),
    ],
)
def test_scripts_and_widths(conn: psycopg.Connection, text: str, queries: list[str]) -> None:
    create(conn, dimensions=None)
    upsert(conn, "found", [text], language="simple")
    upsert(conn, "other", ["別の文書 another document 다른 문서 เอกสาร"], language="simple")
    for query in queries:
        assert keyword(conn, query)[:1] == ["found"], query


def test_phrases_and_exclusions_hold_in_the_vector_leg_as_well(conn: psycopg.Connection) -> None:
    create(conn)
    texts = {
        "cafe": "das Café der Stadt",
        "the": "die Stadt der Cafés",
        "zh": "城市里的猫",
        "other": "ein Buch",
    }
    for key, text in texts.items():
        upsert(conn, key, [text], [[1.0, 0.1, 0.0]], language="simple" if key == "zh" else "german")
    for query, wanted in (
        ('"cafe der stadt"', {"cafe"}),
        ('"die Stadt der"', {"the"}),
        ("stadt -cafe", {"zh", "other"}),
        ('stadt "猫"', {"zh"}),
        ("stadt -猫 -der", {"other"}),
    ):
        for function in ("search_vector", "search_hybrid"):
            rows = call(conn, function, p_collection="c", p_query=query, p_embedding="[1,0,0]")
            assert set(ids(rows)) == wanted, (function, query)


def test_contrib_unaccent_agrees_but_for_phonetic_and_obsolete_letters(
    pg_server: PgServer, database: str
) -> None:
    letters = [chr(code) for code in (*range(0xC0, 0x250), *range(0x386, 0x500), *range(0x1E00, 0x1F00))]
    letters = [letter for letter in letters if letter.isalpha()]
    name = database.split("@/")[1].split("?")[0]
    with psycopg.connect(pg_server.url(name, "postgres")) as superuser:
        if not superuser.execute("select from pg_available_extensions where name = 'unaccent'").fetchall():
            pytest.skip("this server comes without contrib's unaccent")
        superuser.execute("create extension unaccent")
        different = superuser.execute(
            "select letter from unnest(%s::text[]) as letter"
            " where lower(ragpg._fold(ragpg._normalise(letter))) <> lower(public.unaccent(letter))",
            (letters,),
        ).fetchall()
    assert len(different) / len(letters) < 0.1
    living = set("àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿāăąćčďđēėęěğģħīįıķĺļľłńņňőœŕřśşšţťūůűųŵŷźżžșțơưßάέήίόύώёьй")
    assert not living & {row[0] for row in different}


def test_an_emoji_is_a_word(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "launch", ["Shipped 🚀🎉"])
    upsert(conn, "other", ["Shipped late"])
    assert keyword(conn, "🚀") == ["launch"]
    assert keyword(conn, "shipped -🎉") == ["other"]
    assert keyword(conn, "🦖") == []


def test_a_query_meets_documents_of_several_languages(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    for language, text in (
        ("english", "running shoes"),
        ("german", "Laufschuhe und Läufer"),
        ("simple", "ランニングシューズ"),
    ):
        upsert(conn, language, [text], language=language)
    assert set(keyword(conn, "run Läufern シューズ")) == {"english", "german", "simple"}


FULL = bool(os.environ.get("RAGPG_TEST_FULL"))


@pytest.mark.parametrize("folder", SETS)
def test_recall_and_questions_without_a_hit(conn: psycopg.Connection, data_dir: Path, folder: str) -> None:
    language, wanted = SETS[folder]
    data = read(data_dir / folder)
    if not FULL:
        data = sample(data, 30, 120)
    load(conn, folder, language, data.documents)
    outcome = measure(conn, folder, language, data)
    assert outcome.empty == []
    assert outcome.recall >= wanted
