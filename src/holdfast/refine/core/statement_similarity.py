"""Whether two statements say the same, speak of different things, or the later amends the earlier.

By words alone. What a statement is about (`topic`) is held apart from its values (numbers, days,
versions), from where it holds (files, environments, "for the billing service"), and from what it
turns down ("not npm", "instead of Tuesdays"): two rules that differ in where they hold are about
different things, however alike they sound.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from holdfast.language import STOPWORDS, stem

_TOKEN = re.compile(r"[^\W_][\w.+#/@:-]*[\w+#/]|[^\W_]|[\w.-]+/")
_EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_CLAUSE = re.compile(r"[,;:.!?()—–。、，；：！？]|\s-\s|\bbut\b|\bbecause\b|\bsince\b|\bas that\b")
_TURNS_DOWN = re.compile(
    r"\b(?:instead of|rather than|in place of|no longer|not|never|don['’]t|do not|without|stop|"
    r"over|"
    r"statt|anstatt|anstelle|nicht(?: mehr)?|nie(?:mals)?|kein\w*|au lieu de|plus de|jamais|pas|"
    r"en lugar de|en vez de|ya no|no|nunca|invece di|non|mai|em vez de|não|nunca|in plaats van|"
    r"niet(?: meer)?|geen|nooit|вместо|не|никогда)\b|不要|不再|而不是|ではなく|代わりに|대신|"
    r"아니라",
    re.IGNORECASE,
)
_AMENDS = re.compile(
    r"\b(?:supersed\w+|replac(?:es|ing) (?:the|our|what|that|my|any|last)|(?:scrap|drop|forget|"
    r"ignore|"
    r"discard|disregard|revoke|cancel|undo|lift) (?:that|the|this|my|our|what|last|any)\b|"
    r"changed (?:our|my) minds?|instead of|no longer|not any ?more|any ?more\b|"
    r"on second thoughts?|correction|update\s*:|amend\w*|revis(?:ed|ing|ion)|overrul\w+|revert\w*|"
    r"(?:switch\w*|mov\w+|chang\w+|go\w*|migrat\w+) (?:back |over )?(?:from .{2,40} )?to\b|"
    r"statt|anstatt|nicht mehr|ersetzt|doch nicht|geändert|au lieu|ne .{1,30} plus|remplace|"
    r"en lugar de|en vez de|ya no|reemplaza|cambiamos|invece di|non .{1,30} più|sostituisce|"
    r"em vez de|não .{1,30} mais|substitui|in plaats van|niet meer|vervangt|вместо|больше не|"
    r"заменяет)\b|"
    r"ではなく|代わりに|やめ|不再|改为|改成|取代|而不是|대신|더 이상|변경",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:never|don['’]t|do not|must not|mustn['’]t|may not|should not|shouldn['’]t|no longer|"
    r"forbid\w*|"
    r"niemals|nie|nicht|kein\w*|jamais|ne|nunca|no|mai|non|não|nooit|niet|geen|никогда|не)\b|"
    r"不要|不得|禁止|ないで|るな|마세요|말 것|금지",
    re.IGNORECASE,
)
_ALLOWS = re.compile(
    r"\b(?:always|may|can|allow\w*|must|should|immer|darf|dürfen|toujours|siempre|sempre|altijd|"
    r"всегда)\b",
    re.IGNORECASE,
)
_PLACED = re.compile(
    r"\b(?:in|for|on|of|inside|under|within|für|im|auf|dans|pour|sur|para|en|per|nel|nella|voor|"
    r"для|в)\s+"
    r"(?:(?:the|our|all|every|each|a|an|das|die|den|der|dem|le|la|les|los|las|el|il|lo|gli|o|os|as|"
    r"de|"
    r"het)\s+)*((?:[\w./@-]+\s?){1,3})",
    re.IGNORECASE,
)
_PATH = re.compile(r"[\w.@~-]*/[\w./@*-]*|\b[\w-]+\.(?:[a-z]{1,4}|toml|yaml|json)\b")
_ENVIRONMENTS = frozenset(
    "staging production prod dev development test testing local ci preview qa sandbox windows "
    "macos mac "
    "linux ios android web mobile desktop frontend backend server client api cli docs nightly "
    "beta".split()
)
_VALUE_WORDS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
    "thursdays "
    "fridays saturdays sundays january february march april june july august september october "
    "november "
    "december one two three four five six seven eight nine ten twelve twenty thirty sixty hundred "
    "montag dienstag mittwoch donnerstag freitag montags dienstags mittwochs donnerstags freitags "
    "lundi mardi mercredi jeudi vendredi lunes martes miércoles jueves viernes".split()
)
_GENERIC_STEMS = frozenset(
    stem(word)
    for word in "project repo repository code file files module service app application team "
    "everything "
    "thing things rule rules convention policy way time times work here place version branch level "
    "new old now today month week last first next only also".split()
)
_RULE_PHRASE_STEMS = frozenset(
    stem(word)
    for word in "always never remember from now on going forward decided decide agreed agree "
    "settled rule "
    "please must should shall will may mind changed change our about that this was wurde "
    "superseding "
    "supersede supersedes replaces replace instead longer scrap forget update correction keep note "
    "we've i've forbid anymore any more future "
    "ab sofort jetzt von nun an wir uns haben beschlossen entschieden merk merke dir künftig immer "
    "nie "
    "niemals statt für das die der den dem und oder nicht mehr mit auf im in ist sind werden wird "
    "ein eine "
    "désormais dorénavant toujours jamais nous avons décidé on le la les de des du un une et ne "
    "pas à pour "
    "a partir ahora de adelante siempre nunca hemos decidido recuerda que los las el para ya no en "
    "lugar vez "
    "y un una se lo con por d'ora poi sempre mai abbiamo deciso ricorda che il gli di da per non "
    "invece "
    "agora diante lembre lembra-te decidimos o os as do da em não mais vanaf nu voortaan altijd "
    "nooit het "
    "een van niet meer onthoud besloten hebben отныне впредь всегда никогда не мы решили запомни и "
    "в на для "
    "больше вместо".split()
)


class StatementFeatures(NamedTuple):
    """What a statement is made of."""

    stems: tuple[str, ...]
    topic: frozenset[str]
    values: frozenset[str]
    scopes: frozenset[str]
    rejected: frozenset[str]
    accepted: frozenset[str]
    word_pairs: frozenset[tuple[str, str]]
    has_amending_phrase: bool
    is_prohibition: bool
    is_permission: bool

    @property
    def content(self) -> frozenset[str]:
        """All that it says."""
        return self.topic | self.values


def is_value(token: str) -> bool:
    """Whether a token is a number, a day, a version, a format: what a rule may set anew."""
    return (
        any(c.isdigit() for c in token)
        or token in _VALUE_WORDS
        or bool(re.fullmatch(r"[dmyh./:-]+", token))
    )


def tokens(text: str) -> list[str]:
    """The words of a statement in their order; a run of letters without blanks in pairs."""
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        token = token.strip(".:-")
        if _EASTERN.search(token):
            found += [token[n : n + 2] for n in range(len(token) - 1)]
        elif token:
            found.append(token)
    return found


def _stem(token: str) -> str:
    return token if "/" in token or is_value(token) else stem(token)


def _is_content_word(token: str) -> bool:
    root = _stem(token)
    return token not in STOPWORDS and root not in _RULE_PHRASE_STEMS


@lru_cache(maxsize=5000)
def statement_features(text: str) -> StatementFeatures:
    """The shape of a statement."""
    said = [token for token in tokens(text) if _is_content_word(token)]
    values = frozenset(token for token in said if is_value(token))
    topic = frozenset(_stem(token) for token in said) - values
    down = _rejected_stems(text)
    whole = tokens(text)
    pairs = {
        (_stem(one), _stem(other))
        for one, other in pairwise(whole)
        if _is_content_word(one) and _is_content_word(other) and not (is_value(one) or is_value(other))
    }
    return StatementFeatures(
        tuple(_stem(token) for token in said),
        topic,
        values,
        _scopes(text),
        down,
        (topic | values) - down,
        frozenset(pairs),
        bool(_AMENDS.search(text)),
        bool(_FORBIDS.search(text)),
        bool(_ALLOWS.search(text)),
    )


def _rejected_stems(text: str) -> frozenset[str]:
    """What stands between a word that turns down and the end of its clause."""
    found: set[str] = set()
    for match in _TURNS_DOWN.finditer(text):
        rest = text[match.end() :]
        end = _CLAUSE.search(rest)
        clause = rest[: end.start()] if end else rest
        found |= {_stem(token) for token in tokens(clause)[:6] if _is_content_word(token)}
    return frozenset(found)


def _scopes(text: str) -> frozenset[str]:
    """Where a statement says that it holds."""
    low = text.lower()
    found = {token.strip(".,") for token in _PATH.findall(low) if len(token) > 2}
    found |= {token for token in tokens(low) if token in _ENVIRONMENTS}
    for match in _PLACED.finditer(low):
        named = [t for t in tokens(match.group(1)) if _is_content_word(t) and not is_value(t)]
        found |= {_stem(token) for token in named if _stem(token) not in _GENERIC_STEMS}
    return frozenset(found)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of both is in both."""
    return len(one & other) / len(one | other) if one or other else 0.0


def says_the_same(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether two statements say the same in other words."""
    if one.stems == other.stems:
        return True
    if one.values != other.values or one.is_prohibition != other.is_prohibition or _has_other_scope(one, other):
        return False
    if (one.rejected & other.accepted) or (other.rejected & one.accepted):
        return False
    least, most = sorted((len(one.content), len(other.content)))
    shared = len(one.content & other.content)
    if least < 3:
        return one.content == other.content
    return shared >= 0.7 * len(one.content | other.content) or (shared == least and least >= 0.65 * most)


def supersedes(later: StatementFeatures, earlier: StatementFeatures) -> bool:
    """Whether the later of two statements retires the earlier."""
    if _has_other_scope(later, earlier) or says_the_same(later, earlier) or _has_other_subject(later, earlier):
        return False
    shared = later.topic & earlier.topic
    fewest = min(len(later.topic), len(earlier.topic))
    if not shared or not fewest:
        return False
    if later.has_amending_phrase and len(shared) >= max(2, 0.4 * fewest):
        return True
    crossed = (later.rejected & earlier.accepted) - (earlier.rejected)
    if crossed and later.has_amending_phrase and len(shared | crossed) >= 2:
        return True
    alike = jaccard(later.topic, earlier.topic)
    left = (later.topic - earlier.topic, earlier.topic - later.topic)
    flips = later.is_prohibition != earlier.is_prohibition and alike >= 0.6 and len(shared) >= 2
    sets_anew = bool(later.values and earlier.values) and later.values != earlier.values
    return flips or (sets_anew and alike >= 0.7 and not (left[0] and left[1]) and len(shared) >= 2)


def _has_other_scope(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether two statements hold in different places."""
    if not one.scopes or not other.scopes:
        return False
    own = {p for p in one.scopes if p not in other.topic}
    theirs = {p for p in other.scopes if p not in one.topic}
    return bool(own and theirs) and not one.scopes & other.scopes


def _has_other_subject(one: StatementFeatures, other: StatementFeatures) -> bool:
    """`billing webhook` and `shipping webhook`: the same noun, and another word before it. What is
    turned down in favour of the other is the same thing in two forms."""
    before = {head: first for first, head in one.word_pairs}
    for first, head in other.word_pairs:
        mine = before.get(head, first)
        apart = mine != first and mine not in other.topic and first not in one.topic
        turned = {mine, first} & (one.rejected | other.rejected)
        if apart and not turned and head not in _GENERIC_STEMS:
            return True
    return False
