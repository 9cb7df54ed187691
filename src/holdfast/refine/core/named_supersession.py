"""Recognises a statement that says in so many words which earlier one it replaces: "This supersedes
the decision of 11 September", "ersetzt, was wir am 3. Mai vereinbart haben".

Covers the eleven languages of `facts.directives`. The day that is named tells what is replaced, or
else the words of both do; `facts.statement_pool` looks for the earlier statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache

from holdfast.language import plain, sentences
from holdfast.regex import regex
from holdfast.word_forms import is_piece, search_words

# Between what replaces and what is replaced there are no more characters than this: farther apart,
# they belong to different statements.
_BETWEEN = r"[^.!?\n]{0,60}?"
# By language: what replaces, and what was settled before.
_REPLACES_BY_LANGUAGE = {
    "en": (
        r"\b(?:supersed(?:es?|ed|ing)|replac(?:es?|ed|ing)|overrul(?:es?|ed|ing)|"
        r"overrid(?:es?|ing)|revok(?:es?|ed|ing)|instead of|in place of|takes? the place of)\b",
        r"\b(?:decisions?|rules?|agreements?|polic(?:y|ies)|conventions?|choices?|"
        r"what (?:was|we|i|you)(?:['’]d| had| have|['’]ve)? (?:said|agreed|decided|settled|"
        r"chose))\b",
    ),
    "de": (
        r"\b(?:ersetzt|ersetzen|hebt|heben|löst|lösen|statt(?:dessen)?|anstatt|anstelle|"
        r"an stelle)\b",
        r"\b(?:entscheidung|beschluss(?:es)?|beschlüsse|regel|vereinbarung|absprache|abmachung|"
        r"(?:was|dessen)\b[^.!?\n]{0,40}\b(?:beschlossen|vereinbart|entschieden|gesagt|"
        r"abgemacht|ausgemacht))\b",
    ),
    "fr": (
        r"\b(?:remplace(?:nt)?|annule(?:nt)?|abroge(?:nt)?|au lieu d[e']|à la place d[e'])",
        r"\b(?:décision|règle|accord|convention|ce qu(?:e|['’])\s?[^.!?\n]{0,30}(?:décidé|convenu|"
        r"dit))\b",
    ),
    "es": (
        r"\b(?:sustituyen?|reemplazan?|anulan?|derogan?|en lugar de|en vez de)\b",
        r"\b(?:decisión|regla|acuerdo|convención|lo que (?:[^.!?\n]{0,20})?(?:decidimos|acordamos|"
        r"dijimos|decidido|acordado|dicho))\b",
    ),
    "it": (
        r"\b(?:sostituisc(?:e|ono)|annullan?[oa]?|rimpiazzan?[oa]?|invece d(?:i|ella|i quello)|"
        r"al posto d(?:i|ella))\b",
        r"\b(?:decisione|regola|accordo|convenzione|(?:quello|ciò) che [^.!?\n]{0,30}(?:deciso|"
        r"detto|concordato|stabilito))\b",
    ),
    "pt": (
        r"\b(?:substitu(?:i|em)|revogam?|anulam?|em vez d(?:e|a|o)|no lugar d(?:e|a|o))\b",
        r"\b(?:decisão|regra|acordo|convenção|(?:o|do|ao) que [^.!?\n]{0,20}(?:decidimos|"
        r"combinamos|dissemos|decidido|combinado))\b",
    ),
    "nl": (
        r"\b(?:vervang(?:t|en)|herroept|in plaats van)\b",
        r"\b(?:beslissing|besluit|regel|afspraak|wat we\b[^.!?\n]{0,40}\b(?:afgesproken|besloten|"
        r"gezegd|afspraken|besloten))\b",
    ),
    "ru": (
        r"\b(?:замен(?:яет|яют|ит)|отмен(?:яет|яют|ит)|вместо)\b",
        r"\b(?:решени[еяюй]|правил[оау]|договор[её]нност[ьи]|(?:то|того), (?:что|о ч[её]м) мы "
        r"[^.!?\n]{0,30}(?:решили|договорились|сказали))\b",
    ),
    "zh": (
        r"(?:取代|替代|代替|推翻|废止|覆盖|撤销)",
        r"(?:决定|规则|约定|方案|规定|決定|規則|約定)",
    ),
}
# Here what was settled comes before what replaces it.
_REPLACED_BY_LANGUAGE = {
    "en": r"\b(?:decision|rule|agreement|policy|convention)\b[^.!?\n]{0,40}\b(?:is|are|was) "
    r"(?:hereby )?(?:superseded|replaced|overruled|revoked)\b",
    "de": r"\b(?:entscheidung|beschluss|regel|vereinbarung|absprache)\b[^.!?\n]{0,60}\b(?:ersetzt|"
    r"aufgehoben|abgelöst|überholt)\b",
    "ja": r"(?:決定|決めた(?:こと|内容)|方針|ルール|合意|取り決め|約束)(?:を|に|は)"
    r"[^。!?！？\n]{0,12}(?:置き換え|取って代わ|撤回|代わ|上書き|改め|取り消|廃止|無効)",
    "zh": r"(?:决定|规则|约定|方案|规定)[^。!?！？\n]{0,12}(?:作废|不再有效|被取代|失效)",
    "ko": r"(?:결정|규칙|합의|방침|약속|정한 (?:것|내용))(?:을|를|은|는)[^.!?\n]{0,12}"
    r"(?:대체|대신|철회|무효|바꾸|바꿉|변경|폐기)",
}
_NAMES_SUPERSEDED = regex(
    "|".join(
        (
            *(f"(?:{does}){_BETWEEN}{what}" for does, what in _REPLACES_BY_LANGUAGE.values()),
            *_REPLACED_BY_LANGUAGE.values(),
        )
    ),
    re.IGNORECASE,
)
# Points at the sentence before, which says what holds from then on.
_POINTS_BACK = regex(
    r"(?:this|that|it|which|dies|das|damit|ceci|cela|ça|esto|eso|ello|questo|ciò|isto|isso|dit|dat|"
    r"это)\b|これ|それ|这|這|此|이것|이는|이건|그것",
    re.IGNORECASE,
)
_ENDS_IN_DAY = regex(r"\b\d{1,2}\.$")
_MAX_CHARS = 400
# How the names of the months begin, in the languages with names for them.
_MONTHS = (
    "jan|gen|ene|янв",
    "feb|fév|fev|фев",
    "mar|mär|maer|maa|mrt|мар",
    "apr|abr|avr|апр",
    "may|mai|mei|mag|мая|май",
    "jun|juin|giu|июн",
    "jul|juil|lug|июл",
    "aug|aoû|aou|ago|авг",
    "sep|set|сен",
    "oct|okt|ott|out|окт",
    "nov|ноя",
    "dec|dez|dic|déc|дек",
)
_ANY_DAY = regex(
    rf"\d{{1,2}}(?:st|nd|rd|th|\.|er|º|ª)?(?: of| de| d['’])?\s+(?:{'|'.join(_MONTHS)})|"
    rf"\b(?:{'|'.join(_MONTHS)})\w*\.?\s+(?:the )?\d{{1,2}}(?!\d)|\d{{4}}-\d\d?-\d\d?|"
    r"\d{1,2}\.\s?\d{1,2}\.|\d{1,2}/\d{1,2}|\d{1,2}\s?[月월]\s?\d{1,2}\s?[日号號일]",
    re.IGNORECASE,
)
# Somewhere on earth a moment is up to so many hours later or earlier than in UTC.
_ZONES_H = (-12, 0, 14)


def supersession_sentences(text: str) -> list[str]:
    """The sentences of a text that name an earlier statement which they replace, each with the one
    before it if it only points at that."""
    written = sentences(text)
    found: list[str] = []
    for n, sentence in enumerate(written):
        words = plain(sentence)
        if words.rstrip().endswith(("?", "？")) or not _NAMES_SUPERSEDED.search(words):
            continue
        parts = [written[n - 1], sentence] if n and _POINTS_BACK.match(words) else [sentence]
        if _ENDS_IN_DAY.search(words):  # "vom 3." and "Mai." are one sentence
            parts += written[n + 1 : n + 2]
        whole = "".join(p if p.endswith(("。", "！")) else f"{p} " for p in parts).rstrip()
        if len(whole) <= _MAX_CHARS:
            found.append(whole)
    return found


def names_superseded(text: str) -> bool:
    """Whether a statement says that it replaces an earlier one."""
    return bool(supersession_sentences(text))


def names_day(text: str, time: str, zones_h: Sequence[int] = _ZONES_H) -> bool:
    """Whether a text names the day of a time in one of some time zones, given by their distance
    from UTC."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return False
    days = {(moment + timedelta(hours=hours)).date() for hours in zones_h}
    return any(_day_pattern(day).search(text) for day in days)


@lru_cache(maxsize=1000)
def _day_pattern(day: date) -> re.Pattern[str]:
    n, month = f"0?{day.day}", day.month
    name = rf"(?:{_MONTHS[month - 1]})\w*\.?"
    ending = r"(?:st|nd|rd|th|\.|er|º|ª)?"
    return regex(
        rf"(?<!\d){n}{ending}(?: of| de| d['’])?\s+{name}|\b{name}\s+(?:the )?{n}(?!\d)|"
        rf"{day.year}-0?{month}-{n}(?!\d)|(?<![\d.]){n}\.\s?0?{month}\.|"
        rf"(?<![\d/])(?:{n}/0?{month}|0?{month}/{n})(?![\d])|"
        rf"(?<!\d)0?{month}\s?[月월]\s?{n}\s?[日号號일]",
        re.IGNORECASE,
    )


def names_any_day(text: str) -> bool:
    """Whether a text names a day of a month, whichever."""
    return _ANY_DAY.search(text) is not None


def shared_pieces(one: str, other: str) -> int:
    """How many pieces of words in a script without spaces two texts share."""
    return len(_pieces(one) & _pieces(other))


def _pieces(text: str) -> frozenset[str]:
    return frozenset(piece for piece in search_words(plain(text)) if is_piece(piece))
