"""Words that show the kind of a statement in other languages than English: German, French, Spanish
and Russian. The words of English are in `refine.distil`, those that lay something down in eleven
languages in `refine.facts.directives`.

A cue stands for what is said in so many words: that something is the cause, was done, must be so,
is liked or was decided.
"""

from __future__ import annotations

import re

from holdfast.regex import regex

_CAUSE = {
    "de": r"\bdie ursache (?:ist|war|liegt|lag)|\bdas problem (?:ist|war|liegt|lag)\b|"
    r"\bder fehler (?:ist|war|liegt|lag|entsteht|entstand)\b|\bweil\b|\bverursacht\b|"
    r"\bl(?:ie|a)gt? daran\b|\bstellt(?:e)? sich heraus\b|\baufgrund\b",
    "fr": r"\ble problème (?:est|était|vient|venait)\b|\bla cause (?:est|était)\b|\bparce qu|"
    r"\bà cause d|\bcausée?s? par\b|\bdue?s? à\b|\bil s['’]avère\b",
    "es": r"\bel problema (?:es|era|está|estaba)\b|\bla causa (?:es|era|raíz)\b|\bporque\b|"
    r"\bdebido a\b|\bcausad[oa]s? por\b|\bresult[aó] que\b",
    "ru": r"\bпроблема (?:была |заключа\w+ )?в том\b|\bпричина(?: \w+){0,2} (?:в том|в|[—–-])|"
    r"\bиз-за\b|\bпотому,? что\b|\bпоскольку\b|\bоказалось\b|\bвызван\w*\b",
}
_DONE = {
    "de": r"^\W*(?:ich habe|wir haben|es wurden?)\b[^.]*\b\w+(?:t|en|iert)\W*$|"
    r"^\W*(?:hinzugefügt|behoben|entfernt|ersetzt|umbenannt|angepasst|aktualisiert|erledigt)\b",
    "fr": r"^\W*(?:j['’]ai|nous avons|on a) (?:\w+ )?(?:ajouté|corrigé|supprimé|remplacé|renommé|"
    r"créé|mis|déplacé|modifié|implémenté)|\ba été (?:ajouté|corrigé|supprimé|remplacé|créé)e?\b",
    "es": r"^\W*(?:he|hemos|se han?) (?:\w+ )?(?:añadido|agregado|corregido|eliminado|reemplazado|"
    r"renombrado|creado|movido|actualizado|implementado|cambiado)\b|"
    r"^\W*(?:agregué|añadí|corregí|eliminé|reemplacé|creé|actualicé|implementé|cambié)\b",
    "ru": r"^\W*(?:(?:теперь|также|успешно|я|мы|был[аои]?)\W+)*(?:добавил|исправил|обновил|удалил|"
    r"заменил|создал|перен[её]с|реализовал|изменил|настроил|переименовал|убрал|вн[её]с|"
    r"добавлен|исправлен|обновл[её]н|удал[её]н|замен[её]н|создан|реализован|измен[её]н|настроен)"
    r"[аоиы]?\b",
}
# What is forbidden, or how several named things must be. Other words for "must" as often tell the
# next step ("il faut corriger") or a guess ("es muss ein Fehler sein").
_BINDS = {
    "de": r"\b(?:dürfen nicht|dürfen kein\w*|darf nicht|darf kein\w*|verboten)\b|"
    r"(?<=\w )(?<!\bes )(?<!\bwir )müssen\b[^.]{0,80}\b(?:sein|bleiben)\b",
    "fr": r"\b(?:il ne faut|ne (?:doit|doivent)|interdite?s?)\b|(?<=\w )doivent (?:être|rester)\b",
    "es": r"\b(?:no (?:se )?debe[ns]?|no se puede|prohibid[oa]s?)\b|"
    r"(?<=\w )deben (?:ser|estar)\b",
    "ru": r"\b(?:нельзя|запрещ[её]н[оаы]?|ни в коем случае)\b|"
    r"(?<=\w )(?<!\bмы )должны (?:быть|оставаться)\b",
}
_MUST = (
    r"\b(?:muss|müssen|darf|dürfen|doit|doivent|faut|debe[ns]?|debemos|hay que|долж(?:ен|на|но|ны)|"
    r"надо|нужно)\b"
)
_ALWAYS = (
    r"\b(?:(?:immer|nie)(?! (?:noch|wieder|mehr|wenn))|niemals|toujours(?! pas)|jamais|siempre|"
    r"nunca|всегда|никогда)\b"
)
# An order begins with "always", or has it behind its first word. "Siempre falla" and "тест
# всегда падает" tell what happens.
_ALWAYS_ORDERS = (
    r"(?:^|[.!:;]\s)\W*(?:(?:bitte|s['’]il (?:te|vous) plaît|por favor|пожалуйста)[,\s]+)?"
    r"(?:(?:ne |n['’])?(?!(?:noch|wie|fast|presque|comme|casi|como|почти|как)\b)"
    r"\w+(?<!t) (?:bitte )?|ne )?" + _ALWAYS + r" "
    r"(?!(?:le|la|el|un|une|error|fall\w+|hay|es|está|funciona|"
    r"(?:не )?\w+(?:[еёиуюая]т|л|л[аои])(?:ся)?)\b)\w"
)
_LIKES = {
    "de": r"\bich (?:bevorzuge|mag|hätte (?:gern|lieber))\b|"
    r"\bich (?:möchte|will) (?:nicht|kein\w*|lieber)\b|"
    r"\bmir (?:ist|wäre|gefällt)\b[^.]*\b(?:lieber|besser|nicht)\b|\bam liebsten\b",
    "fr": r"\bje (?:préfère|préférerais|n['’]aime pas|ne veux pas)\b|\bj['’]aime(?:rais)?\b",
    "es": r"\b(?:prefiero|preferimos|preferiría|me gusta(?:ría)?|no (?:me gusta|quiero))\b",
    "ru": r"\bя (?:бы )?(?:предпочитаю|предпоч[её]л|люблю|не люблю|не хочу)\b|"
    r"\bмне (?:больше )?(?:не )?(?:нравится|удобнее)\b|\bхотелось бы\b",
}
_DECIDES = {
    "de": r"\b(?:statt|anstatt|anstelle|entschieden|lass(?:t)? uns|"
    r"wir (?:nehmen|verwenden|nutzen|bleiben)|soll(?:en|te|ten)?)\b",
    "fr": r"\b(?:au lieu d\w*|plutôt que|décid\w+|on (?:utilise|garde|prend)|utilisons|gardons|"
    r"devrait|devraient)\b",
    "es": r"\b(?:en vez de|en lugar de|decid\w+|usemos|vamos a usar|debería|deberían)\b",
    "ru": r"\b(?:вместо|решили|решено|договорились|будем|давай(?:те)?|надо|нужно|необходимо|"
    r"чтобы|а не)\b",
}


def _of(cues: dict[str, str]) -> re.Pattern[str]:
    return regex("|".join(cues.values()), re.IGNORECASE)


_CAUSES, _DID, _BINDING, _LIKING, _DECIDING = map(_of, (_CAUSE, _DONE, _BINDS, _LIKES, _DECIDES))
_ALWAYS_SO = regex(
    rf"{_ALWAYS_ORDERS}|{_MUST}[^.]{{0,80}}{_ALWAYS}|{_ALWAYS}[^.]{{0,80}}{_MUST}", re.IGNORECASE
)


def names_foreign_cause(text: str) -> bool:
    """Whether a text says in another language why something is so."""
    return _CAUSES.search(text) is not None


def claims_foreign_done(text: str) -> bool:
    """Whether a text says in another language that something was done."""
    return _DID.search(text) is not None


def binds_in_foreign_words(text: str) -> bool:
    """Whether a text says in another language how something must be, or always is to be."""
    return _BINDING.search(text) is not None or _ALWAYS_SO.search(text) is not None


def likes_in_foreign_words(text: str) -> bool:
    """Whether somebody says in another language what they like."""
    return _LIKING.search(text) is not None


def decides_in_foreign_words(text: str) -> bool:
    """Whether a person decides something in another language."""
    return _DECIDING.search(text) is not None
