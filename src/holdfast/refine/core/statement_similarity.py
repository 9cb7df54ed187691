"""Compares two statements: do they say the same, does the later supersede the earlier, or neither.

Uses words alone, no model. The topic of a statement is kept apart from its values (numbers, days,
versions), from its scope (files, environments, "for the billing service") and from what it rejects
("not npm", "instead of Tuesdays"). Two rules with different scopes are about different things,
however similar their words are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from holdfast.language import STOPWORDS, plain, stem
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.regex import regex

_TOKEN = regex(r"[^\W_][\w.+#/@:-]*[\w+#/]|[^\W_]|[\w.-]+/")
# Japanese, Chinese and Korean: a run of characters is not one word.
_UNSPACED_SCRIPT = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_CLAUSE_END = regex(r"[,;:.!?()—–。、，；：！？]|\s-\s|\bbut\b|\bbecause\b|\bsince\b|\bas that\b")
# What follows one of these is what a statement decides against.
_REJECTING_PHRASE = regex(
    r"\b(?:instead of|rather than|in place of|no longer|not|never|don['’]t|do not|without|stop|"
    r"over|statt|anstatt|anstelle|nicht(?: mehr)?|nie(?:mals)?|kein\w*|au lieu de|plus de|jamais|"
    r"pas|en lugar de|en vez de|ya no|no|nunca|invece di|non|mai|em vez de|não|nunca|in plaats van|"
    r"niet(?: meer)?|geen|nooit|вместо|не|никогда)\b|不要|不再|而不是|ではなく|代わりに|대신|"
    r"아니라",
    re.IGNORECASE,
)
# Says that something changes or is replaced.
_AMENDING_PHRASE = regex(
    r"\b(?:supersed\w+|replac(?:es|ing) (?:the|our|what|that|my|any|last)|(?:scrap|drop|forget|"
    r"ignore|discard|disregard|revoke|cancel|undo|lift) (?:that|the|this|my|our|what|last|any)\b|"
    r"changed (?:our|my) minds?|instead of|no longer|not any ?more|any ?more\b|"
    r"on second thoughts?|correction|update\s*:|amend\w*|revis(?:ed|ing|ion)|overrul\w+|revert\w*|"
    r"(?:switch\w*|mov\w+|chang\w+|go\w*|migrat\w+) (?:back |over )?(?:from .{2,40} )?to\b|"
    r"statt|anstatt|nicht mehr|ersetzt|doch nicht|geändert|au lieu|ne .{1,30} plus|remplace|"
    r"en lugar de|en vez de|ya no|reemplaza|cambiamos|invece di|non .{1,30} più|sostituisce|"
    r"em vez de|não .{1,30} mais|substitui|in plaats van|niet meer|vervangt|вместо|больше не|"
    r"заменяет)\b|ではなく|代わりに|やめ|不再|改为|改成|取代|而不是|대신|더 이상|변경",
    re.IGNORECASE,
)
_PROHIBITION = regex(
    r"\b(?:never|don['’]t|do not|must not|mustn['’]t|may not|should not|shouldn['’]t|no longer|"
    r"forbid\w*|niemals|nie|nicht|kein\w*|jamais|ne|nunca|no|mai|non|não|nooit|niet|geen|никогда|"
    r"не)\b|不要|不得|禁止|ないで|るな|마세요|말 것|금지",
    re.IGNORECASE,
)
# A preposition and the one to three words that it limits the statement to.
_SCOPE_PHRASE = regex(
    r"\b(?:in|for|on|of|inside|under|within|für|im|auf|dans|pour|sur|para|en|per|nel|nella|voor|"
    r"для|в)\s+(?:(?:the|our|all|every|each|a|an|das|die|den|der|dem|le|la|les|los|las|el|il|lo|"
    r"gli|o|os|as|de|"
    r"het)\s+)*((?:[\w./@-]+\s?){1,3})",
    re.IGNORECASE,
)
_PATH = regex(r"[\w.@~-]*/[\w./@*-]*|\b[\w-]+\.(?:[a-z]{1,4}|toml|yaml|json)\b")
_ENVIRONMENTS = frozenset(
    "staging production prod dev development test testing local ci preview qa sandbox windows "
    "macos mac linux ios android web mobile desktop frontend backend server client api cli docs "
    "nightly beta".split()
)
# Days, months and numbers as words.
_VALUE_WORDS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
    "thursdays fridays saturdays sundays january february march april june july august september "
    "october november december one two three four five six seven eight nine ten twelve twenty "
    "thirty sixty hundred montag dienstag mittwoch donnerstag freitag montags dienstags mittwochs "
    "donnerstags freitags lundi mardi mercredi jeudi vendredi lunes martes miércoles jueves "
    "viernes".split()
)
# Nouns too general to be a scope or a subject by themselves.
GENERIC_STEMS = frozenset(
    stem(word)
    for word in "project repo repository code file files module service app application team "
    "everything thing things rule rules convention policy way time times work here place version "
    "branch level new old now today month week last first next only also".split()
)
# Words that people state rules with, in eight languages: they say nothing about the topic.
_RULE_PHRASE_STEMS = frozenset(
    stem(word)
    for word in "always never remember from now on going forward decided decide agreed agree "
    "settled rule please must should shall will may mind changed change our about that this was "
    "wurde superseding supersede supersedes replaces replace instead longer scrap forget update "
    "correction keep note we've i've forbid anymore any more future ab sofort jetzt von nun an "
    "wir uns haben beschlossen entschieden merk merke dir künftig immer nie niemals statt für "
    "das die der den dem und oder nicht mehr mit auf im in ist sind werden wird ein eine "
    "désormais dorénavant toujours jamais nous avons décidé on le la les de des du un une et ne "
    "pas à pour a partir ahora de adelante siempre nunca hemos decidido recuerda que los las el "
    "para ya no en lugar vez y un una se lo con por d'ora poi sempre mai abbiamo deciso ricorda "
    "che il gli di da per non invece agora diante lembre lembra-te decidimos o os as do da em "
    "não mais vanaf nu voortaan altijd nooit het een van niet meer onthoud besloten hebben "
    "отныне впредь всегда никогда не мы решили запомни и в на для больше вместо".split()
)


class StatementFeatures(NamedTuple):
    """The parts of a statement that are compared."""

    # The content words in order.
    stems: tuple[str, ...]
    # The content words that are no values.
    topic: frozenset[str]
    values: frozenset[str]
    # Files, environments and parts of the project that the statement is limited to.
    scopes: frozenset[str]
    # Content words that follow a word such as "not" or "instead of", and all others.
    rejected: frozenset[str]
    accepted: frozenset[str]
    # Content words that follow each other directly, values apart.
    word_pairs: frozenset[tuple[str, str]]
    # Whether it says that something changes ("no longer", "switch to").
    has_amending_phrase: bool
    is_prohibition: bool

    @property
    def content(self) -> frozenset[str]:
        """All content words."""
        return self.topic | self.values


class StatementThresholds(NamedTuple):
    """How similar statements have to be. Chosen by hand: higher values keep statements apart that
    people meant as one (duplicates stay, outdated rules stay in force); lower values merge or
    retire statements about different things, which is worse."""

    # Fewer content words than this must be equal as a set.
    min_words: int = 3
    # Share of all content words that both have.
    same_share: float = 0.7
    # Or: one contains the other and has at least this share of its length.
    contained_share: float = 0.65
    # With an amending phrase: share of the shorter topic, and words in common at least.
    amended_share: float = 0.4
    shared_words: int = 2
    # Without one: similarity of the topics when one forbids what the other does not, and when
    # only the values differ.
    prohibition_similarity: float = 0.6
    value_similarity: float = 0.7
    # Words after "not" or "instead of" that count as rejected.
    rejected_words: int = 6


_THRESHOLDS = StatementThresholds()


# Numbers in words. Not "neuf" and "un", which are other words, too.
NUMBER_WORDS: dict[str, str] = {
    word: number
    for names in (
        "1 one",
        "2 two zwei deux dos",
        "3 three drei trois tres",
        "4 four vier quatre cuatro",
        "5 five fünf cinq cinco",
        "6 six sechs seis",
        "7 seven sieben sept siete",
        "8 eight acht huit ocho",
        "9 nine neun nueve",
        "10 ten zehn dix diez",
        "12 twelve zwölf douze doce",
        "20 twenty zwanzig vingt veinte",
        "30 thirty dreißig trente treinta",
        "60 sixty sechzig soixante sesenta",
    )
    for number, *words_of_it in (names.split(),)
    for word in words_of_it
}


@lru_cache(maxsize=5000)
def is_value(token: str) -> bool:
    """Whether a token is a number, a day, a version or a format: what a rule may change."""
    return (
        any(c.isdigit() for c in token)
        or token in _VALUE_WORDS
        or bool(re.fullmatch(r"[dmyh./:-]+", token))
    )


def tokens(text: str) -> list[str]:
    """The words of a statement in order; text in scripts without spaces as pairs of characters."""
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        token = token.strip(".:-_")
        if _UNSPACED_SCRIPT.search(token):
            found += [token[n : n + 2] for n in range(len(token) - 1)]
        elif token:
            found.append(token)
    return found


@lru_cache(maxsize=5000)
def _stem(token: str) -> str:
    return token if "/" in token or is_value(token) else stem(token)


def _is_content_word(token: str) -> bool:
    return token not in STOPWORDS and _stem(token) not in _RULE_PHRASE_STEMS


@lru_cache(maxsize=5000)
def has_amending_phrase(text: str) -> bool:
    """Whether a statement says that something changes ("no longer", "from now on")."""
    return bool(_AMENDING_PHRASE.search(plain(text)))


@lru_cache(maxsize=5000)
def statement_features(text: str) -> StatementFeatures:
    """The parts of a statement. Cached, because a statement is compared with many others."""
    text = plain(text)
    found = tokens(text)
    content = [token for token in found if _is_content_word(token)]
    values = frozenset(token for token in content if is_value(token))
    topic = frozenset(_stem(token) for token in content) - values
    rejected = _rejected_stems(text)
    pairs = {
        (_stem(one), _stem(other))
        for one, other in pairwise(found)
        if all(_is_content_word(token) and not is_value(token) for token in (one, other))
    }
    return StatementFeatures(
        stems=tuple(_stem(token) for token in content),
        topic=topic,
        values=values,
        scopes=_scopes(text),
        rejected=rejected,
        accepted=(topic | values) - rejected,
        word_pairs=frozenset(pairs),
        has_amending_phrase=has_amending_phrase(text),
        is_prohibition=bool(_PROHIBITION.search(text)),
    )


def _rejected_stems(text: str) -> frozenset[str]:
    """The content words between a rejecting phrase and the end of its clause."""
    found: set[str] = set()
    limit = _THRESHOLDS.rejected_words
    for match in _REJECTING_PHRASE.finditer(text):
        rest = text[match.end() :]
        end = _CLAUSE_END.search(rest)
        clause = rest[: end.start()] if end else rest
        found |= {_stem(token) for token in tokens(clause)[:limit] if _is_content_word(token)}
    return frozenset(found)


def _scopes(text: str) -> frozenset[str]:
    """The files, environments and parts of the project that a statement names as its scope."""
    low = text.lower()
    found = {token.strip(".,") for token in _PATH.findall(low) if len(token) > 2}
    found |= {token for token in tokens(low) if token in _ENVIRONMENTS}
    for match in _SCOPE_PHRASE.finditer(low):
        named = [t for t in tokens(match.group(1)) if _is_content_word(t) and not is_value(t)]
        found |= {_stem(token) for token in named if _stem(token) not in GENERIC_STEMS}
    return frozenset(found)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all members that both sets have."""
    return len(one & other) / len(one | other) if one or other else 0.0


@lru_cache(maxsize=5000)
def own_words(text: str) -> str:
    """A statement without the subject of its session, which may stand behind it in brackets."""
    depth = 0
    for place in range(len(text) - 1, 0, -1) if text.endswith(")") else ():
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth == 0:
            return text[:place].rstrip()
    return text


def says_the_same(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether two statements say the same, in the same words or in others."""
    if one.values != other.values or one.is_prohibition != other.is_prohibition:
        return False
    if one.stems == other.stems:
        return True
    if _has_other_scope(one, other):
        return False
    if (one.rejected & other.accepted) or (other.rejected & one.accepted):
        return False
    least, most = sorted((len(one.content), len(other.content)))
    shared = len(one.content & other.content)
    if least < _THRESHOLDS.min_words:
        return one.content == other.content
    if shared >= _THRESHOLDS.same_share * len(one.content | other.content):
        return True
    return shared == least and least >= _THRESHOLDS.contained_share * most


def supersedes(later: StatementFeatures, earlier: StatementFeatures) -> bool:
    """Whether the later of two statements replaces the earlier: it says so, it forbids what the
    other does not (or the reverse), or it sets other values for the same topic."""
    if _has_other_scope(later, earlier) or _has_other_subject(later, earlier):
        return False
    if says_the_same(later, earlier):
        return False
    least = _THRESHOLDS.shared_words
    shared = later.topic & earlier.topic
    fewest = min(len(later.topic), len(earlier.topic))
    if not shared or not fewest:
        return False
    if later.has_amending_phrase:
        if len(shared) >= max(least, _THRESHOLDS.amended_share * fewest):
            return True
        newly_rejected = (later.rejected & earlier.accepted) - earlier.rejected
        if newly_rejected and len(shared | newly_rejected) >= least:
            return True
    if len(shared) < least:
        return False
    similarity = jaccard(later.topic, earlier.topic)
    reverses = later.is_prohibition != earlier.is_prohibition
    if reverses and similarity >= _THRESHOLDS.prohibition_similarity:
        return True
    changes_value = bool(later.values and earlier.values) and later.values != earlier.values
    contained = later.topic <= earlier.topic or earlier.topic <= later.topic
    return changes_value and contained and similarity >= _THRESHOLDS.value_similarity


def _has_other_scope(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether two statements hold in different places. A scope that the other is about is none."""
    if one.scopes & other.scopes:
        return False
    return bool(one.scopes - other.topic) and bool(other.scopes - one.topic)


def _has_other_subject(one: StatementFeatures, other: StatementFeatures) -> bool:
    """Whether both name the same noun with different words before it: `billing webhook` and
    `shipping webhook`. If one of the two words is rejected, the subject is the same: one is to
    replace the other."""
    qualifiers = {noun: qualifier for qualifier, noun in sorted(one.word_pairs)}
    for theirs, noun in other.word_pairs:
        ours = qualifiers.get(noun, theirs)
        differ = ours != theirs and ours not in other.topic and theirs not in one.topic
        replaced = {ours, theirs} & (one.rejected | other.rejected)
        if differ and not replaced and noun not in GENERIC_STEMS:
            return True
    return False
