"""Finds the statement that a later one amends, by the words that both use.

People say only what changes ("70 will do"), so what was said around it counts as well: the summary
of the exchange, and of the one before. A word counts the less, the more statements of the bank have
it. A word that is qualified differently in both ("exchange rates", "shipping rates") names two
things, and does not count.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from holdfast.language import STOPWORDS, plain, stem, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.refine.core.statement_similarity import (
    GENERIC_STEMS,
    NUMBER_WORDS,
    is_value,
    statement_features,
)
from holdfast.refine.facts.plain_statements import refers_back
from holdfast.regex import regex


class AmendmentLimits(NamedTuple):
    """How much two statements must share. Tuned by hand on the tuning half of
    `bench/data/amendments`: lower values link statements about different things."""

    # The weight of the shared words: one that only these two statements have counts 1.
    strong: float = 2.4
    # Enough if the later statement itself, without what is said around it, has these words, and
    # one of them is among the first words of the earlier one or it refers back.
    weak: float = 1.6
    # The same for the sentence that makes an exception or adds something.
    in_part: float = 1.4
    # The same where it names the whole subject of the earlier one: two words that stand together.
    in_part_of_subject: float = 1.2
    # The first words of a statement, which are mostly its subject.
    subject_words: int = 3
    # The share of the shorter statement's weight that both have.
    share: float = 0.28
    # What another value of the same unit adds: units are no content words.
    other_value: float = 1.0
    # Enough for what is said to be moved or switched to something else: two words that stand
    # together.
    moved: float = 1.2
    # Enough of a short statement, if the later one says that something changes: share of its
    # weight, and the weight itself.
    most_of_it: float = 0.55
    most_weight: float = 1.4
    short_words: int = 6
    # The second word of a pair that both have, such as "pull request", counts this much.
    second_of_pair: float = 0.5
    # Statements with more content words are texts, not statements.
    max_words: int = 60
    # Two words are forms of one if the shorter has so many letters, and the longer so many more.
    form_letters: int = 5
    ending_letters: int = 2


_LIMITS = AmendmentLimits()
_SPLIT = str.maketrans("-_/", "   ")
# Words of talk about rules and of work, which say nothing about what is talked about.
_NOISE = frozenset(
    stem(word)
    for word in "always never remember decide decided agree agreed settle rule policy convention "
    "decision must should shall will may can could would change changed changing replace replaced "
    "instead longer scrap forget update updated correction keep kept note anymore future actually "
    "back again still stay stays too also well both done ok okay yes yeah no nope fine perfect "
    "great good thanks use uses used using want wants put puts give gives take takes set sets "
    "come comes came say says said do does did don doesn isn aren won let lets need needs needed "
    "everything everywhere everybody anybody nobody nothing something thing things stuff people "
    "folks guys team time way ways lot bit new old now today week month year day please want "
    "enough really just only much many more less most least first last next same other another "
    "entirely completely truth second minute hour ms percent kb mb gb px "
    "own every each any all some whatever wherever whenever until since because got gets get goes "
    "going gone look looks see seen show shows shown tell told ask asked know known think like "
    "work works working start starts started stop stopped without within beside between through "
    "after before than then existing exist real issue there here this that these those they them "
    "their our ours your yours "
    "ab sofort wir haben und der die das dem den nicht mehr mit auf für ist sind werden wird auch "
    "ein eine einer einem einen im am zum zur von vom bei nach über unter beschlossen vereinbart "
    "dürfen darf soll sollen muss müssen jetzt künftig immer gilt statt dass sie es wie nur noch "
    "on le la les de des du au aux un une et est sont que qui ne pas plus par pour sur dans avec "
    "chaque son sa ses ce cette aussi décidé désormais finalement doit faut besoin "
    "el los las del al para ya no en una se por que mejor lo con su sus son es está ahora hemos "
    "decidido debe cada".split()
)
# Words before a noun that do not tell one thing from another.
_NO_QUALIFIER = frozenset(
    stem(word)
    for word in "minimum maximum default current support add bump drop raise lower remove keep run "
    "move switch swap write read cache store send call called name named mandatory required legacy "
    "supported existing daily real plain whole entire single separate shared common nouveau "
    "nouveaux nouvelle nouvelles seul seule propre commun commune neue neuen gemeinsame "
    "gemeinsamen eigene eigenen einzige einzigen nuevo nueva nuevos nuevas "
    "único única propio propia común".split()
)


# General words for things of which there are several, told apart by the word before.
_THINGS = frozenset(map(stem, "service module app application team level version".split()))
# These and others that say nothing by themselves, but with the word before ("login codes").
_GENERAL = _THINGS | frozenset(map(stem, "project repo repository code file branch".split()))
# A German adjective of a number: "sechsstellig" is "sechs Stellen".
_COUNTED = regex(
    r"\b(zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf)([a-zäöü]{3,})ig(?:e[mnrs]?)?\b",
    re.IGNORECASE,
)
# How often something happens, by the word for the period.
_PERIODS: dict[str, str] = {
    word: period
    for names in (
        "minute minuto",
        "hour hourly stunde stündlich heure hora",
        "day daily tag täglich jour día",
        "night nightly nacht nuit noche",
        "week weekly woche wöchentlich semaine semana",
        "month monthly monat monatlich mois mes",
        "quarter quarterly quartal trimestre",
        "year yearly annually jahr jährlich année año",
    )
    for period in (names.split()[0],)
    for word in names.split()
}
_ADVERBS = "|".join(word for word in _PERIODS if word.endswith(("ly", "lich")))
_FREQUENCY = regex(
    r"\b(?:every|each|(?:once|twice|times) (?:a|per)|chaque|tou(?:te)?s les|fois par|jede[nrs]?|"
    r"mal (?:pro|am|im)|cada|tod[ao]s l[ao]s|(?:vez|veces) (?:al|a la|por)) "
    rf"({'|'.join(_PERIODS)})(?:s|n|en)?\b|\b({_ADVERBS})(?:e[mnrs]?)?\b",
    re.IGNORECASE,
)
_FREQUENCY_UNIT = "frequency"
# Other words for a limit, by which people refer to it later ("the upload limit").
_LIMIT = regex(r"\b(?:at most|no more than|up to(?= \d)|capped at|höchstens)\b", re.IGNORECASE)
_NO_WORDS = frozenset[str]()
_FORMAT = regex(r"d{1,2}|m{1,2}|(?:yy){1,2}|h{1,2}")
# Places of which a statement about one says nothing about another.
_PLACES = (
    frozenset("staging production prod dev development local preview qa".split()),
    frozenset("windows macos mac linux".split()),
    frozenset("ios android".split()),
    frozenset("frontend backend".split()),
)


class StatementWords(NamedTuple):
    """The content words of a statement, in order; which stand side by side; and the words that
    place it (`_PLACES`). The rest is made of these once, because a statement is compared with many
    others."""

    stems: tuple[str, ...]
    before: frozenset[tuple[str, str]]
    places: tuple[frozenset[str], ...]
    # The words without their order, and each once in order.
    set: frozenset[str]
    distinct: tuple[str, ...]
    # The words that tell something if another statement has them: no digit alone, and no part of a
    # date's format, which are in many statements.
    telling: frozenset[str]
    # By word: the words that stand before it, and those that stand after it.
    qualifiers: dict[str, frozenset[str]]
    nouns: dict[str, frozenset[str]]


@lru_cache(maxsize=5000)
def statement_words(text: str) -> StatementWords:
    """The words of a statement. Cached, because a statement is compared with many others."""
    found = [(word, _stem(word)) for word in _split_words(_LIMIT.sub(" limit ", plain(text)))]
    content = [s for word, s in found if _is_content(word, s)]
    pairs = {
        (one, other)
        for (word, one), (next_word, other) in pairwise(found)
        if _is_content(word, one) and (_is_content(next_word, other) or other in _GENERAL)
        if not is_value(word) and not is_value(next_word)
    }
    low = {word for word, _ in found}
    places = tuple(group & low for group in _PLACES)
    return StatementWords(
        tuple(content),
        frozenset(pairs),
        places,
        frozenset(content),
        tuple(dict.fromkeys(content)),
        frozenset(w for w in content if not (w.isdigit() and len(w) == 1) and not _is_format(w)),
        _grouped((other, one) for one, other in pairs),
        _grouped(pairs),
    )


def _split_words(text: str) -> list[str]:
    """The words of a text, compounds in parts and numbers in digits."""
    split = words(_COUNTED.sub(r"\1 \2", text).translate(_SPLIT))
    return [NUMBER_WORDS.get(word, word) for word in split]


def _is_format(word: str) -> bool:
    return bool(_FORMAT.fullmatch(word))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """The second words of pairs, by the first."""
    found: dict[str, set[str]] = {}
    for one, other in pairs:
        found.setdefault(one, set()).add(other)
    return {word: frozenset(others) for word, others in found.items()}


def _stem(word: str) -> str:
    return word if is_value(word) else stem(word)


def _is_content(word: str, stemmed: str) -> bool:
    if is_value(word):
        return True
    return len(word) > 1 and not (
        word in STOPWORDS or stemmed in _NOISE or stemmed in GENERIC_STEMS
    )


class Statement(NamedTuple):
    """A statement that may amend another or be amended. `around` is what was said around it."""

    text: str
    around: str = ""
    refers_back: bool = False
    # Whether it says that something changes, whatever that is.
    says_change: bool = False
    # Whether it makes an exception or adds something.
    is_in_part: bool = False


class WordWeights:
    """How much each word tells in a bank: the less, the more statements have it."""

    def __init__(self, texts: Iterable[str]) -> None:
        seen = [statement_words(text).set for text in texts]
        self._count = Counter(word for stems in seen for word in stems)
        self._total = len(seen)
        # Both of two statements have the words they share.
        self._highest = self._rarity(2)
        self._known = {word: self._weight(word) for word in self._count}
        self._totals: dict[frozenset[str], float] = {}

    def _rarity(self, count: int) -> float:
        return math.log(1 + (self._total + 1) / (count + 1))

    def _weight(self, word: str) -> float:
        return min(1.0, self._rarity(max(2, self._count[word])) / self._highest)

    def of(self, word: str) -> float:
        """The weight of a word, from 0 to 1."""
        return self._known.get(word, 1.0)

    def total(self, found: frozenset[str]) -> float:
        """The weight of some words."""
        if found not in self._totals:
            self._totals[found] = sum(map(self.of, found))
        return self._totals[found]


def amendment_strength(later: Statement, earlier: str, weights: WordWeights) -> float:
    """How surely the later statement is about the earlier: the weight of the words that both have,
    or 0 if that is too little."""
    own, older = statement_words(later.text), statement_words(earlier)
    around = statement_words(later.around)
    all_words = _all_words(later.text, later.around)
    if len(older.stems) > _LIMITS.max_words or _is_about_another(own, older):
        return 0.0
    shared = _shared(all_words, own if own.before else around, older)
    strength = _weight(shared, older, weights)
    whole = weights.total(older.set)
    names_subject = _names_subject(shared, older)
    if names_subject and moves(later.text, earlier, weights):
        return strength
    if names_subject and sets_other_measure(f"{later.text} {later.around}", earlier):
        strength += _LIMITS.other_value
    is_short = names_subject and later.says_change and len(older.set) <= _LIMITS.short_words
    if is_short and strength >= max(_LIMITS.most_weight, _LIMITS.most_of_it * whole):
        return strength
    shorter = min(whole, weights.total(all_words))
    if not shorter or strength < _LIMITS.share * shorter:
        return 0.0
    if strength >= _LIMITS.strong:
        return strength
    subject = older.stems[: _LIMITS.subject_words]
    if any(word in all_words and word not in shared for word in subject if word in older.telling):
        return 0.0
    is_about = later.refers_back or bool(shared & {*subject})
    by_itself = shared & _in_other_forms(own.set, older)
    least = _least_in_part(by_itself, older) if later.is_in_part else _LIMITS.weak
    return strength if is_about and _weight(by_itself, older, weights) >= least else 0.0


@lru_cache(maxsize=100)
def _all_words(text: str, around: str) -> frozenset[str]:
    """The words of a statement and of what was said around it. Cached, because one statement after
    the other is compared with many."""
    return statement_words(text).set | statement_words(around).set


def _least_in_part(shared: frozenset[str], older: StatementWords) -> float:
    """The weight of shared words that suffices for what makes an exception or adds something."""
    first, second, *_ = *(word for word in older.stems if not is_value(word)), "", ""
    is_whole = (first, second) in older.before and {first, second} <= shared
    return _LIMITS.in_part_of_subject if is_whole else _LIMITS.in_part


def _names_subject(shared: frozenset[str], older: StatementWords) -> bool:
    """Whether the first word of a statement is shared, or the second if both name one thing."""
    first, second, *_ = *(word for word in older.stems if not is_value(word)), "", ""
    return first in shared or ((first, second) in older.before and second in shared)


def moves(later: str, earlier: str, weights: WordWeights) -> bool:
    """Whether a statement gives what an earlier one is about, and nothing else, a new place or
    value: "switch the product images over to webp"."""
    older = statement_words(earlier)
    for moved in _moved(later):
        if moved <= older.set and _weight(moved, older, weights) >= _LIMITS.moved:
            return True
    return False


@lru_cache(maxsize=500)
def _moved(text: str) -> tuple[frozenset[str], ...]:
    """The words of each thing that a statement moves."""
    return tuple(statement_words(match.group(1)).set for match in _MOVED.finditer(plain(text)))


def _is_about_another(one: StatementWords, other: StatementWords) -> bool:
    """Whether both name different places, or a thing by the same general word with another word
    before it: "the search service", "the tax service"."""
    places = zip(one.places, other.places, strict=True)
    if any(ours and theirs and not ours & theirs for ours, theirs in places):
        return True
    return any(
        _differ(one.qualifiers[noun], other.qualifiers[noun], one, other)
        for noun in _THINGS & one.qualifiers.keys() & other.qualifiers.keys()
    )


def _shared(found: frozenset[str], near: StatementWords, older: StatementWords) -> frozenset[str]:
    """Which of some words an earlier statement has and means the same thing by; `near` tells how
    they are qualified."""
    said = _in_other_forms(found, older) & older.telling
    return frozenset(word for word in said if not _differs(word, near, older))


def _in_other_forms(found: frozenset[str], older: StatementWords) -> frozenset[str]:
    """Some words, and those of an earlier statement of which one is another form: the stems are
    those of English ("sauvegarde", "sauvegardée")."""
    cut = _without_endings(found)
    more = [
        word
        for word in older.set - found
        if word in cut or (len(word) > _LIMITS.form_letters and not found.isdisjoint(_cut(word)))
    ]
    return found.union(more) if more else found


@lru_cache(maxsize=500)
def _without_endings(found: frozenset[str]) -> frozenset[str]:
    return frozenset(short for word in found for short in _cut(word))


def _cut(word: str) -> list[str]:
    """A word without its last letters, as far as enough are left; numbers have no endings."""
    if is_value(word):
        return []
    most = min(_LIMITS.ending_letters, len(word) - _LIMITS.form_letters)
    return [word[:-n] for n in range(1, most + 1)]


def _differs(word: str, one: StatementWords, other: StatementWords) -> bool:
    """Whether a word has another qualifier in each of two statements, or another noun after it and
    no qualifier in common."""
    before = one.qualifiers.get(word, _NO_WORDS), other.qualifiers.get(word, _NO_WORDS)
    if before[0] & before[1]:
        return False
    after = one.nouns.get(word, _NO_WORDS), other.nouns.get(word, _NO_WORDS)
    return _differ(*before, one, other) or _differ(*after, one, other)


def _differ(
    ours: frozenset[str], theirs: frozenset[str], one: StatementWords, other: StatementWords
) -> bool:
    """Whether two sets of neighbours exclude each other: both are there, and neither statement has
    a neighbour of the other."""
    ours, theirs = ours - _NO_QUALIFIER, theirs - _NO_QUALIFIER
    in_both = ours & theirs or ours & other.set or theirs & one.set
    return bool(ours and theirs) and not in_both


def _weight(shared: frozenset[str], older: StatementWords, weights: WordWeights) -> float:
    """The weight of shared words; the second of two that stand together counts less."""
    total = 0.0
    last = ""
    for word in older.distinct:
        if word in shared:
            is_second = (last, word) in older.before
            total += weights.of(word) * (_LIMITS.second_of_pair if is_second else 1.0)
            last = "" if is_second else word
        else:
            last = ""
    return total


def amends(later: str, earlier: str) -> bool:
    """Whether a later statement changes an earlier one, by their words alone. For statements of
    which both are decisions."""
    statement = Statement(later, refers_back=refers_back(later))
    if not amendment_strength(statement, earlier, _NO_WEIGHTS):
        return False
    return names_the_change(later, earlier) or statement.refers_back


def own_strength(text: str, earlier: str, weights: WordWeights) -> float:
    """The weight of the words that two statements share, whatever was said around them."""
    own, older = statement_words(text), statement_words(earlier)
    return _weight(_shared(own.set, own, older), older, weights)


def says_enough(strength: float) -> bool:
    """Whether words of this weight tell what a statement is about."""
    return strength >= _LIMITS.weak


def says_surely_what(strength: float) -> bool:
    """Whether words of this weight suffice whatever else is known."""
    return strength >= _LIMITS.strong


def says_enough_in_part(text: str, earlier: str, weights: WordWeights) -> bool:
    """Whether a sentence that makes an exception or adds something tells what it is about."""
    own, older = statement_words(text), statement_words(earlier)
    shared = _shared(own.set, own, older)
    return _weight(shared, older, weights) >= _least_in_part(shared, older)


def names_the_change(later: str, earlier: str) -> bool:
    """Whether a statement names what it changes of another: it gives up words of it, accepts what
    it rejects or the other way round, or sets another value."""
    if gives_up(later, earlier):
        return True
    return bool(_flipped(later, earlier)) or _sets_other_value(later, earlier)


def _flipped(later: str, earlier: str) -> frozenset[str]:
    """What one of two statements accepts and the other rejects; without a word that qualifies
    another in one of them only ("never call", "call recordings")."""
    one, other = statement_features(later), statement_features(earlier)
    found = (one.rejected & other.accepted) | (other.rejected & one.accepted)
    nouns = statement_words(later).nouns, statement_words(earlier).nouns
    return frozenset(w for w in found if (w in nouns[0]) == (w in nouns[1]))


def gives_up(later: str, earlier: str) -> bool:
    """Whether a statement names as old what another says. What that one rules out itself is said
    again, not given up."""
    accepted = statement_words(earlier).set - statement_features(earlier).rejected
    return bool(_given_up(later) & accepted)


@lru_cache(maxsize=500)
def _given_up(text: str) -> frozenset[str]:
    """The words of what a statement says is over."""
    text = plain(text)
    clauses = [match.group(1) for match in _OVER_AFTER.finditer(text)]
    clauses += [match.group(1) for match in _OVER_BEFORE.finditer(text)]
    return frozenset(word for clause in clauses for word in statement_words(clause).stems)


def _sets_other_value(later: str, earlier: str) -> bool:
    """Whether both statements have a value of the same unit, or of the same form where one has no
    unit, and these differ."""
    ours, theirs = _measures(later), _measures(earlier)
    return any(
        value != other
        and (unit == other_unit or not (unit and other_unit))
        and _form(value) == _form(other)
        for value, unit in ours - theirs
        for other, other_unit in theirs - ours
    )


def covers(later: str, earlier: str) -> bool:
    """Whether a statement has most words of a short one, and not all: something else is said."""
    older, own = statement_words(earlier), statement_words(later)
    shared = _shared(own.set, own, older)
    is_most = len(shared) >= _LIMITS.most_of_it * len(older.set)
    return len(older.set) <= _LIMITS.short_words and is_most and not older.set <= own.set


def new_values(later: str, earlier: str) -> frozenset[str]:
    """The values of a statement that another does not have."""
    return frozenset(value for value, _ in _measures(later) - _measures(earlier))


def sets_other_measure(later: str, earlier: str) -> bool:
    """Whether both statements have a value of the same unit, and not the same."""
    ours, theirs = _measures(later), _measures(earlier)
    units = {unit for _, unit in ours - theirs if unit}
    return any(unit in units for _, unit in theirs)


def _form(value: str) -> str:
    return re.sub(r"\d+", "0", value) if any(c.isdigit() for c in value) else "word"


@lru_cache(maxsize=5000)
def _measures(text: str) -> frozenset[tuple[str, str]]:
    """The values of a statement, each with the word after it, such as `minutes`; "" if none is. How
    often something happens is a value, too."""
    text = plain(text)
    often = (found.group(1) or found.group(2) for found in _FREQUENCY.finditer(text))
    values = {
        (word, stem(unit) if unit and unit not in STOPWORDS and not is_value(unit) else "")
        for word, unit in pairwise([*_split_words(text), ""])
        if is_value(word)
    }
    return frozenset(values | {(_PERIODS[word.lower()], _FREQUENCY_UNIT) for word in often})


# What is given a new place or value.
_MOVED = regex(
    r"\b(?:switch|move|migrate|convert|change|bump|raise|lower|port)s?\s+(?:over\s+)?"
    r"((?:[^\s,;:.()]+\s+){1,5}?)(?:over |up |down )?(?:to|from)\b",
    re.IGNORECASE,
)
_NO_WEIGHTS = WordWeights(())
# What follows is over; what stands before is over. Up to the end of the clause, six words. What is
# "deleted after 90 days" is not over.
_OVER_AFTER = regex(
    r"\b(?:instead of|rather than|no longer|no more|not any ?more|not|scrap(?:ped)?|forget (?:the|"
    r"that|about|what)|drop(?:ped|s)?|kill(?:ed)?|stop(?:ped)?|ditch(?:ed)?|g[ai]ve up(?: on)?|"
    r"replac(?:ed|es|ing|e)|swap(?:ped)?|off|from|exceptions? to|statt|nicht mehr|ya no|au lieu "
    r"de)\s+((?:[^\s,;:.()]+\s*){1,6})",
    re.IGNORECASE,
)
_OVER_BEFORE = regex(
    r"((?:[^\s,;:.()]+\s+){1,6})(?:(?:is|are|was|were|can be) (?:obsolete|outdated|gone|dead|out|"
    r"over|off limits|a mistake|dropped|history|overkill|removed|replaced|retired|deleted|shut "
    r"down|switched off|too \w+)(?! (?:after|every|if|once|unless|when|within)\b)|"
    r"(?:does|do)(?:n['’]?t| not) apply|no longer|any ?more|nicht mehr|ya no|war (?:Quatsch|Unsinn|"
    r"falsch|ein Fehler)|était une erreur|fue un error)\b",
    re.IGNORECASE,
)
