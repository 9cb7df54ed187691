"""A query, read: its terms with their weights in the bank, and the time range that it names, which
may start or end at a landmark: a version, the last release, session or commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from enum import StrEnum

from holdfast.function_words import language_of
from holdfast.language import STOPWORDS, stem, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.team import Commit
from holdfast.recall.core.relevance import TermWeights, Wanted, weigh_terms
from holdfast.recall.core.tuning import AbstentionThresholds
from holdfast.recall.query.expansion import Expansion, alternatives, exact_names, identifiers
from holdfast.recall.query.recent_work import asks_for_recent_work
from holdfast.recall.query.terms import MAX_TERMS, Terms, proper_names, read_terms
from holdfast.recall.query.time_ranges import TimeRange, read_time_range
from holdfast.regex import regex
from holdfast.store.protocol import Reader
from holdfast.word_forms import (
    START,
    fold_marks,
    is_start,
    language_markers,
    starts_word,
    word_start,
)

# The kinds that show whether there is anything of a time.
_KINDS_WITH_TIME = ("turn", "digest", "commit")
# The language of so few words without a small one among them cannot be told.
_FEW_WORDS = 3
# A longer query is no question, and which of its words follow each other says little.
_MAX_SPOKEN = 400
# How many commits that name a version are looked at to find the one that released it.
_MAX_RELEASE_COMMITS = 100


class Query(NamedTuple):
    """A query, read. The weights of its terms are given by stem and by word, as counted in so many
    `passages`; `time_stems` are the stems of the words that name its time range, `name_stems` those
    of the words that name a thing or a person."""

    text: str
    terms: Terms
    stem_weights: dict[str, float]
    word_weights: dict[str, float]
    time_range: TimeRange | None
    asks_for_recent_work: bool
    time_stems: frozenset[str] = frozenset()
    name_stems: frozenset[str] = frozenset()
    passages: int = 0
    identifiers: tuple[str, ...] = ()

    @property
    def names_only(self) -> bool:
        """Whether it asks for nothing but identifiers: "What is `GradientLast()`?"."""
        named = frozenset(read_terms(" ".join(self.identifiers)).words)
        return bool(self.identifiers) and named.issuperset(self.terms.words)

    def wanted(
        self, thresholds: AbstentionThresholds, expansion: Expansion = Expansion.NONE
    ) -> Wanted:
        """What an answer is measured by. An expansion lets it say the words by other terms."""
        other = alternatives(self.spoken, expansion)
        # A query of nothing but small words asks for its name alone: "Where do we use --with?".
        small = all(word in STOPWORDS for word in self.terms.words)
        named = {
            name: frozenset(self.stem_weights)
            if small
            else _name_stems(read_terms(name).words, self.stem_weights)
            for name in self.identifiers
        }
        return Wanted(self.stem_weights, thresholds, self.name_stems, other, named)

    @property
    def spoken(self) -> Sequence[str]:
        """The words that other terms may stand for: with the small ones between them, because of
        "end to end" and "sign in"; of a long query only those that are looked for."""
        said = words(self.text[:_MAX_SPOKEN])
        is_short = len(self.text) <= _MAX_SPOKEN and len(said) <= MAX_TERMS
        return said if is_short and not any(map(is_start, self.terms.words)) else self.terms.words

    @property
    def only_time(self) -> bool:
        """Whether it asks for nothing but what happened at a time."""
        return self.time_range is not None and self.time_range.only_time

    def time_stems_at(self, time: str) -> frozenset[str]:
        """The stems that a record of this time need not contain: those of the query's time phrase
        if it lies in that range. Nobody writes "before the release" before the release."""
        in_time = self.time_range is not None and self.time_range.contains(time)
        return self.time_stems if in_time else frozenset()


def read_query(store: Reader, bank: str | None, text: str, now: Callable[[], str]) -> Query:
    """Read a query: its terms, their weights in the bank, and its time range."""
    text = text.encode("utf-8", "ignore").decode("utf-8")
    when = find_time_range(store, bank, text, now())
    # Passages can be found by the words of their date, so the words of a time stay in the query,
    # unless it has no others.
    bare = when.rest if when is not None and when.only_time and when.rest.strip() else text
    terms = read_terms(bare)
    phrases = tuple(dict.fromkeys((*terms.phrases, *exact_names(text))))
    terms = terms._replace(phrases=phrases)
    terms, weight = _weigh(store, bank, terms, bare)
    spelled = {word.rstrip(START): weight.by_word[word] for word in terms.words}
    of_time = _time_stems(when, weight.by_stem) if when is not None else frozenset[str]()
    named = _name_stems(proper_names(bare), weight.by_stem)
    return Query(
        text,
        terms,
        weight.by_stem,
        spelled,
        when,
        asks_for_recent_work(text),
        of_time,
        named - of_time,
        weight.passages,
        identifiers(text),
    )


def _weigh(store: Reader, bank: str | None, terms: Terms, text: str) -> tuple[Terms, TermWeights]:
    """The terms with their weights. Words that no passage has, and those of a query of few words
    that tell no language, may be of another language that some passages are in: they are then
    looked for by their stems."""
    weight = weigh_terms(store, bank, terms.words)
    few = len(terms.words) <= _FEW_WORDS and not any(word in STOPWORDS for word in words(text))
    unsure = [word for word in terms.words if (few or word in weight.unknown) and word.isascii()]
    if not unsure:
        return terms, weight
    markers = tuple(language_markers())
    counts = store.passages.term_frequencies(bank, [word for _, word in markers], 1)
    languages = [name for (name, _), count in zip(markers, counts, strict=True) if count]
    starts = {word: start for word in unsure if (start := word_start(word, languages))}
    if not starts:
        return terms, weight
    terms = terms._replace(words=tuple(starts.get(word, word) for word in terms.words))
    return terms, weigh_terms(store, bank, terms.words)


def _name_stems(names: Sequence[str], stems: Collection[str]) -> frozenset[str]:
    """Those of a query's stems that are of a name, also where they are only the start of it."""
    begun = {key: fold_marks(key.rstrip(START)) for key in stems if is_start(key)}
    found = {
        key
        for name in names
        for key, start in begun.items()
        if starts_word(start, fold_marks(name))
    }
    return frozenset(found | (set(map(stem, names)) & set(stems)))


def _time_stems(when: TimeRange, stems: Collection[str]) -> frozenset[str]:
    """The stems of the words that name a time, among those of the whole query."""
    if language_of(f"{when.phrase} {when.rest}").is_english:
        return _stems(when.phrase) - _stems(when.rest)
    # The terms of other languages are starts and pieces of words.
    return frozenset(stems) - frozenset(map(stem, read_terms(when.rest).words))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))


def find_time_range(store: Reader, bank: str | None, text: str, now: str) -> TimeRange | None:
    """The time range that a query names. If the bank has nothing of that time, it is read again
    relative to the bank's last session (for "recently" in a bank that was quiet for long); if there
    is still nothing, a query that asks for more than a time is searched without it."""
    for moment in dict.fromkeys((now, store.sessions.last_end(bank))):
        if not moment:
            continue
        said = datetime.fromisoformat(moment)
        when = read_time_range(text, said, lambda name: _landmark_time(store, bank, name))
        if when is None or when.only_time:
            return when
        if any(
            store.passages.recent(bank, kind, 1, when.start, when.end) for kind in _KINDS_WITH_TIME
        ):
            return when
    return None


def _landmark_time(store: Reader, bank: str | None, name: str) -> datetime | None:
    """The time of the session, commit or release that a name means; None if it means none."""
    mark = read_landmark(name)
    if mark is None:
        return None
    if mark.kind is LandmarkKind.SESSION:
        times = [passage.time for passage in store.passages.recent(bank, "digest", 1)]
    elif mark.kind is LandmarkKind.RELEASE:
        said = [mark.name, f"v{mark.name}"] if mark.name else ["release", "released"]
        matches = store.passages.search(bank, said, ["team"], _MAX_RELEASE_COMMITS)
        times = [m.passage.time for m in matches if _announces_release(m.passage.body, mark.name)]
    elif mark.name:
        found = store.records.find(bank, "commit", mark.name, 1)
        times = [record.time for record in found if isinstance(record, Commit)]
    else:
        times = [passage.time for passage in store.passages.recent(bank, "commit", 1)]
    latest = max(times, default="")
    return datetime.fromisoformat(latest) if latest else None


def _announces_release(message: str, version: str) -> bool:
    """Whether a commit's subject announces a release, of a version if one is given."""
    subject = message.partition("\n")[0].lower()
    said = [word.strip(".,:;()[]") for word in subject.split()]
    if not version:
        return "release" in said or "released" in said
    return any(is_version(word, version) for word in said)


_VERSION = regex(r"v?(\d+(?:\.\d+)*(?:-?(?:rc|alpha|beta|a|b)\.?\d*)?)", re.IGNORECASE)
_HASH = regex(r"(?=[a-f]*\d)[0-9a-f]{7,40}", re.IGNORECASE)
_LATEST = frozenset("last latest previous newest recent most".split())


class LandmarkKind(StrEnum):
    """What a landmark is."""

    RELEASE = "release"
    SESSION = "session"
    COMMIT = "commit"


_KIND = {
    word: kind
    for kind, said in {
        LandmarkKind.RELEASE: "release version tag deploy deployment",
        LandmarkKind.SESSION: "session conversation chat",
        LandmarkKind.COMMIT: "commit",
    }.items()
    for word in said.split()
}


class Landmark(NamedTuple):
    """A release by its version without "v", or a commit by the start of its hash; the latest of its
    kind if `name` is ""."""

    kind: LandmarkKind
    name: str = ""


def read_landmark(said: str) -> Landmark | None:
    """The landmark that words such as "last release", "v1.4.0", "release 2" or "commit 3f2a91c"
    name; None if they name none."""
    words = [word for word in said.lower().split() if word not in _LATEST]
    if not 1 <= len(words) <= 2:
        return None
    kinds = [_KIND[word] for word in words if word in _KIND]
    named = [word for word in words if word not in _KIND]
    if len(kinds) > 1 or len(named) > 1:
        return None
    if not named:
        return Landmark(kinds[0])
    version = _VERSION.fullmatch(named[0])
    if version and kinds in ([], [LandmarkKind.RELEASE]) and (kinds or not named[0].isdigit()):
        return Landmark(LandmarkKind.RELEASE, version[1])
    if _HASH.fullmatch(named[0]) and kinds in ([], [LandmarkKind.COMMIT]):
        return Landmark(LandmarkKind.COMMIT, named[0])
    return None


def is_version(tag: str, version: str) -> bool:
    """Whether a tag, with any prefix, names a version: `v2` is `v2.0.0`, but not `v2.1`."""
    start = next((at for at, sign in enumerate(tag) if sign.isdigit()), len(tag))
    return bool(version) and _core(tag[start:]) == _core(version)


def _core(version: str) -> str:
    core = version.lower()
    while core.endswith(".0"):
        core = core[:-2]
    return core


_ASKS_FOR_EFFECTS = regex(
    r"\b(?:what (?:did|does|do|has|have|will|would) .{2,80}?\b(?:lead to|led to|cause|caused|break|"
    r"broken|trigger|triggered|result(?:ed)? in|enable|enabled|prevent|prevented)\b|"
    r"what (?:happened|broke|changed|failed|came) (?:because of|due to|of|as a result of)|"
    r"(?:consequences?|effects?|results?) of)",
    re.IGNORECASE,
)
_ASKS_FOR_CAUSES = regex(
    r"\b(?:why|how come|reasons?|what (?:caused|causes|led to|made|broke|triggered)|"
    r"(?:root )?causes? (?:of|for)|because of what)\b",
    re.IGNORECASE,
)
# One of them is in every match of the patterns above.
_EFFECT_SIGNS = ("what ", "consequence", "effect", "result")
_CAUSE_SIGNS = ("why", "how come", "reason", "what ", "cause")
# Longer queries are pasted texts: what is asked about is said at the start.
_MAX_CAUSE_QUERY = 2000


class CauseDirection(StrEnum):
    """What a query asks for; the values are kinds of links."""

    TO_CAUSES = "caused_by"
    TO_EFFECTS = "causes"


def cause_direction(query: str) -> CauseDirection | None:
    """Whether a query asks for causes or for effects; None if for neither."""
    asked = query[:_MAX_CAUSE_QUERY].lower()
    if any(sign in asked for sign in _EFFECT_SIGNS) and _ASKS_FOR_EFFECTS.search(asked):
        return CauseDirection.TO_EFFECTS
    if any(sign in asked for sign in _CAUSE_SIGNS) and _ASKS_FOR_CAUSES.search(asked):
        return CauseDirection.TO_CAUSES
    return None
