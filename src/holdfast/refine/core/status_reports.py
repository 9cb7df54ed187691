"""Recognises a person's report on who does what and how far it got: "ada. taking over the double
alerts", "he ruled out the gateway; always 60 min apart". It tells the state of some work, so it is
no rule and no decision, whatever words of rules are in it.

Covers the eleven languages of `facts.directives`.
"""

from __future__ import annotations

import re

from holdfast.language import plain
from holdfast.regex import regex

# Who speaks, before what they report: "ada.", "ben here on ada's machine:", "hi, it's ben".
_WHO = (
    r"(?:(?:hi|hey|hello|ok(?:ay)?|so|hallo|bonjour|hola|ciao|olá|привет)[,.! ]+)*"
    r"(?:(?:it['’]s |this is |ich bin |hier )?[^\W\d_]{2,12}(?: here| hier| aquí| ici)?"
    r"(?: (?:on|at) [^.,:]{2,30})?[.,:]\s+)?"
)
# What somebody is about to do with the work at hand.
_DOES_BY_LANGUAGE = {
    "en": r"(?:i(?:['’]m| am) )?(?:now |just )?(?:taking (?:over|this)|picking (?:up|this)|"
    r"continuing|carrying on|resuming|handing (?:over|this|it)|stepping in|filling in|"
    r"covering for|working on|looking (?:at|into)|back (?:on|at|to|with))\b",
    "de": r"(?:ich )?(?:übernehme|mache (?:hier |da )?weiter|bin (?:jetzt )?dran|springe ein)\b",
    "fr": r"je (?:reprends|prends (?:la suite|le relais)|continue)\b",
    "es": r"(?:yo )?(?:me encargo|retomo|tomo el relevo|sigo con)\b",
    "it": r"(?:io )?(?:subentro|riprendo|prendo in carico|continuo (?:io|con))\b",
    "pt": r"(?:eu )?(?:assumo|retomo|estou assumindo|continuo com)\b",
    "nl": r"(?:ik )?(?:neem\b[^.!?\n]{1,40}\bover|ga verder met)\b",
    "ru": r"(?:я )?(?:беру на себя|продолжаю|подхватываю|принимаю)\b",
    "ja": r"[^。\n]{0,30}(?:引き継ぎます|引き継ぐ|引き継いだ|担当します)",
    "zh": r"[^。\n]{0,12}(?:接手|接替)",
    "ko": r"[^.\n]{0,30}(?:이어받|넘겨받|인수받|맡겠습니다)",
}
# What somebody else did, found or saw so far.
_DID_BY_LANGUAGE = {
    "en": r"(?:he|she|they)(?:['’]s| has| have| had)? (?:already |just |also |only )?(?:ruled out|"
    r"tried|checked|looked|tested|found|saw|noticed|reported|started|worked|debugged|investigated|"
    r"suspect(?:s|ed)|thinks?|got (?:as far|stuck)|(?:is|are|was|were) (?:on|at|working|looking))"
    r"\b|"
    r"[^\W\d_]{2,12} (?:has |had |already )?(?:took over|takes over|is taking over|handed over|"
    r"is on (?:it|this|that)|(?:tried|checked|looked into|debugged|investigated) )",
    "de": r"(?:er|sie) (?:hat|haben)\b[^.!?\n]{1,60}\b(?:ausgeschlossen|versucht|probiert|geprüft|"
    r"gefunden|gesehen|untersucht)\b",
    "fr": r"(?:il|elle|ils|elles) (?:a|ont) (?:déjà )?(?:exclu|essayé|vérifié|trouvé|vu|testé)\b",
    "es": r"(?:él|ella|ellos|ya) (?:ya )?(?:descart|prob|revis|encontr|v[ií])\w*",
    "it": r"(?:lui|lei|loro) (?:ha|hanno) (?:già )?(?:escluso|provato|controllato|trovato|visto)\b",
    "pt": r"(?:ele|ela|eles) (?:já )?(?:descartou|tentou|verificou|encontrou|testou)\b",
    "nl": r"(?:hij|zij|ze) (?:heeft|hebben)\b[^.!?\n]{1,60}\b(?:uitgesloten|geprobeerd|"
    r"gecontroleerd|gevonden|gezien)\b",
    "ru": r"(?:он|она|они) (?:уже )?(?:исключил|попробовал|пробовал|проверил|наш[её]л|"
    r"видел)[аи]?\b",
    "ja": r"(?:彼|彼女)は",
    "zh": r"(?:他|她)(?:已经|已經)?(?:排除|试过|試過|检查|檢查|发现|發現)",
    "ko": r"(?:그는|그녀는|그가)\s",
}
_REPORTS = regex(
    f"^{_WHO}(?:{'|'.join((*_DOES_BY_LANGUAGE.values(), *_DID_BY_LANGUAGE.values()))})",
    re.IGNORECASE,
)
# Whoever says this lays something down, whatever else they report.
_LAYS_DOWN = regex(
    r"^\W*(?:rule|convention|policy|decision|regel|règle|regla|regola|regra|правило)\b[^.!?\n]{0,40}:|"
    r"\b(?:from (?:now|today|here) on(?:wards?)?|going forward|we(?:['’]ve| have)? (?:decided|"
    r"agreed|settled)|must(?:n['’]t| not)?|should|needs?|requires?|"
    r"ab (?:jetzt|sofort)|künftig|désormais|a partir de|"
    r"d['’]ora in|voortaan|отныне|впредь)\b|今後|今后|从现在|앞으로",
    re.IGNORECASE,
)


def reports_status(sentence: str) -> bool:
    """Whether a person's sentence only reports who does what, or what somebody did so far."""
    words = plain(sentence).strip()
    return _REPORTS.match(words) is not None and not _LAYS_DOWN.search(words)
