"""A guess at the language of a short text: enough to split sentences, to skip function words and to say "I don't know" in it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+")

_FUNCTION_WORDS: Final[dict[str, str]] = {
    "en": "a an the and or but if of to in on at by for from with about into over is are was were be been being am do"
    " does did doing have has had can could may might must shall should will would what which who whom whose when"
    " where why how that this these those it its he she they them their his her you your we our us i my me there here"
    " than then as not no so much many any some long often also just please tell",
    "de": "der die das den dem des ein eine einen einem einer eines und oder aber wenn von zu zum zur im in an am auf bei"
    " für aus mit über ist sind war waren sein wird werden wurde wurden hat haben hatte kann können darf dürfen muss"
    " müssen soll sollen was welche welcher welches wer wen wem wessen wann wo wohin warum wieso wie dass dies diese"
    " dieser dieses es er sie ihr ihre sein seine wir uns unser ich mein mich mir man nicht kein keine so viel viele"
    " lange oft auch noch nach als bitte gibt",
    "fr": "le la les un une des du de et ou mais si à au aux en dans sur par pour avec est sont était étaient être a ont"
    " avait avoir peut peuvent doit doivent que quoi quel quelle quels quelles qui quand où pourquoi comment combien ce"
    " cette ces cet il elle ils elles on nous vous je mon ma mes son sa ses leur leurs ne pas plus se y dont",
    "es": "el la los las un una unos unas de del y o pero si a al en por para con sobre es son era eran ser está están"
    " fue fueron ha han había puede pueden debe deben que qué cual cuál cuáles quien quién cuando cuándo donde dónde"
    " cómo como cuánto cuántos cuánta cuántas este esta estos estas esto lo su sus se no más nos mi mis hay",
    "it": "il lo la i gli le un uno una di del della dei delle e o ma se a al alla in nel nella da dal per con su è sono"
    " era erano essere ha hanno può possono deve devono che cosa quale quali chi quando dove perché come quanto quanti"
    " quanta quante questo questa questi queste si non più ci mio mia suo sua",
    "pt": "o a os as um uma uns umas de do da dos das e ou mas se em no na nos nas por para com sobre é são era eram ser"
    " está estão foi foram tem têm tinha pode podem deve devem que qual quais quem quando onde porque como quanto"
    " quantos quanta quantas este esta estes estas isso seu sua não mais há ao à",
    "nl": "de het een en of maar als van naar in op aan bij voor uit met over is zijn was waren worden wordt werd heeft"
    " hebben had kan kunnen mag moet moeten zal wat welke wie wanneer waar waarom hoe dat dit deze die er hij zij ze"
    " wij we ik mijn je u niet geen zo veel lang vaak ook nog te",
}
FUNCTION_WORDS: Final[dict[str, frozenset[str]]] = {
    language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()
}

_SCRIPT_LANGUAGE: Final[dict[str, str]] = {
    "HANGUL": "ko",
    "THAI": "th",
    "ARABIC": "ar",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "CYRILLIC": "ru",
    "GREEK": "el",
}

# Each begins with a stem that ends at the first colon: a model that leaves the rest out is still understood.
UNKNOWN_ANSWERS: Final[dict[str, str]] = {
    "en": "I don't know: the sources do not answer this question.",
    "de": "Das weiß ich nicht: Die Quellen beantworten diese Frage nicht.",
    "fr": "Je ne sais pas : les sources ne répondent pas à cette question.",
    "es": "No lo sé: las fuentes no responden a esta pregunta.",
    "it": "Non lo so: le fonti non rispondono a questa domanda.",
    "pt": "Não sei: as fontes não respondem a esta pergunta.",
    "nl": "Dat weet ik niet: de bronnen geven geen antwoord op deze vraag.",
    "ja": "わかりません：資料にはこの質問の答えがありません。",
    "zh": "我不知道：资料中没有这个问题的答案。",
    "ko": "모르겠습니다: 자료에 이 질문의 답이 없습니다.",
    "ru": "Я не знаю: в источниках нет ответа на этот вопрос.",
    "ar": "لا أعرف: لا تجيب المصادر عن هذا السؤال.",
    "he": "אינני יודע: אין במקורות תשובה לשאלה זו.",
    "hi": "मुझे नहीं पता: स्रोतों में इस प्रश्न का उत्तर नहीं है।",
    "th": "ฉันไม่ทราบ: แหล่งข้อมูลไม่มีคำตอบสำหรับคำถามนี้",
    "el": "Δεν γνωρίζω: οι πηγές δεν απαντούν σε αυτή την ερώτηση.",
}


def guess_language(text: str) -> str:
    """Guess the language of a text from its script and, in Latin script, from its function words.

    Parameters
    ----------
    text
        Any text; the first 2,000 characters decide.

    Returns
    -------
    str
        An ISO 639-1 code that is a key of `UNKNOWN_ANSWERS`; ``"en"`` where nothing tells.
    """
    head = text[:2000]
    scripts = Counter(_script(char) for char in head if char.isalpha())
    if not scripts:
        return "en"
    east_asian = scripts["CJK"] + scripts["HIRAGANA"] + scripts["KATAKANA"]
    script, count = scripts.most_common(1)[0]
    if east_asian >= count:
        return "ja" if scripts["HIRAGANA"] + scripts["KATAKANA"] else "zh"
    if script in _SCRIPT_LANGUAGE:
        return _SCRIPT_LANGUAGE[script]
    words = [word.casefold() for word in _WORD.findall(head)]
    counts = {language: sum(word in known for word in words) for language, known in FUNCTION_WORDS.items()}
    return max(counts, key=lambda language: counts[language])


def _script(char: str) -> str:
    """Return the first word of the character's Unicode name, which names its script."""
    return unicodedata.name(char, "").partition(" ")[0]


def unknown_answer(question: str) -> str:
    """Return the fixed phrase that says "I don't know" in the language of the question."""
    return UNKNOWN_ANSWERS[guess_language(question)]


def _plain(text: str) -> str:
    return text.strip().lstrip("*_\"'“„«").replace("’", "'").casefold()


_UNKNOWN_STEMS: Final = tuple(
    _plain(re.split(r"\s*[:：]", phrase)[0]) for phrase in (*UNKNOWN_ANSWERS.values(), "I do not know")
)


def is_unknown_answer(text: str) -> bool:
    """Tell whether an answer begins with the fixed phrase of any language, its explanation included or not."""
    return _plain(text).startswith(_UNKNOWN_STEMS)
