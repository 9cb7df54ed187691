"""Names for concepts: a phrase that recurs among the members, in the project's own spelling.

Phrases are runs of content words in requests, in commit subjects and in the names of changed files.
The best name is one that many members of a concept have and few other items of the bank. If no
phrase recurs, two words are combined; a single large exchange gets its own title.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from holdfast.language import STOPWORDS, split_identifier, stem, truncate
from holdfast.refine.concepts.items import (
    FeatureWeights,
    Item,
    file_topic,
    file_weight,
    is_process_stem,
)
from holdfast.refine.core.keywords import COMMON_WORK_WORDS
from holdfast.regex import regex


class NameWeights(NamedTuple):
    """What a phrase weighs by where it occurs, and how its score is computed."""

    title: float = 1.0
    commit_subject: float = 1.2  # the highest: people word it to name the work
    file_name: float = 0.6
    keyword: float = 0.5
    text: float = 0.3  # and the title of a memory, which is its text
    # The factor of a phrase of so many words. A single word says too little; longer phrases gain
    # little over two words.
    by_words: tuple[float, ...] = (0.42, 1.0, 1.05, 1.1)
    # Added for each further member that has the whole phrase, up to `max_recurrences` of them.
    per_recurrence: float = 0.25
    max_recurrences: int = 3
    # Below 1, so that one very rare word does not outweigh a phrase that recurs.
    rarity_exponent: float = 0.7
    # A longer phrase replaces a single word from this share of its score on.
    min_share_of_word: float = 0.4


class NameLimits(NamedTuple):
    """What is read for a name, and how long it may be."""

    max_chars: int = 60
    max_items: int = 60  # the latest members; more cost time and hardly change the name
    max_text_chars: int = 200
    max_files: int = 12
    max_phrases: int = 6  # that become names to choose from
    max_titles: int = 3
    max_token_chars: int = 40  # longer ones are hashes or encoded data
    min_non_ascii_chars: int = 4  # shorter words of other languages may be stop words


UNNAMED = "Unnamed"
_WEIGHTS = NameWeights()
_LIMITS = NameLimits()
_TOKEN = regex(r"[^\W_][\w'’./+#-]*[\w+#]|[^\W_]")
_BREAK = regex(r"[^\w\s'’./+#`\"*-]+|\s[-–—]+\s|[.:;,!?](?=\s|$)|\n")
_ADDRESS = regex(r"\b\w+://\S+|@?(?<![\w.-])(?:[\w.-]+/){1,}[\w.-]+|[A-Za-z]:\\\S+")
_SUBJECT_KIND = regex(r"^\w+(?:\([^)]*\))?!?:\s*")
_NUMBERED = regex(r"^(?:\W*\d[\d.,]*\w{0,2}|[A-Z]{1,4}-?\d+|\w)$")
# Verbs that requests start with. A name does not start with one, but may contain it: "daily limit".
_VERBS = frozenset(
    stem(word)
    for word in (
        "add adjust allow analyse analyze apply ask avoid bring build bump change check clarify "
        "clean clear close combine configure consider convert create debug deduplicate define "
        "delegate deploy detect disable display distinguish document drop enable enforce ensure "
        "expand explain explore expose extend extract fetch find finish fix flag fold follow force "
        "format generate give go group handle harden hide implement import improve include "
        "increase inspect install integrate introduce investigate keep launch limit list load look "
        "make mark mention migrate move name narrow normalise normalize open optimise optimize "
        "parse pass pick polish prepare prevent propagate propose provide pull push put read "
        "rebuild recheck reduce refactor refine reject remove rename render reorder replace reset "
        "resolve restore return reuse revert review rework rewrite rotate run save say see select "
        "send separate set share ship show simplify skip solve sort split start stop store strip "
        "support suppress switch sync take tell think tidy track translate trigger tweak unify "
        "update upgrade use validate verify want warm wire work wrap write draw back calibrate "
        "execute spawn spawned applied studied behind outside inside always never"
    ).split()
)
# Words that no name contains.
_FILLERS = frozenset(
    stem(word)
    for word in (
        "should does did done doing has have got getting based adding making using ahead anymore "
        "again around away both currently first last next second new old same such thing stuff way "
        "lot kind bit case cases time times user users people project page file files folder code "
        "text line lines part parts side rather really seems seem looks sure okay fine good better "
        "best right wrong correct correctly able possible needs need instead via per e.g i.e etc "
        "when then there here where which that this it's don't doesn't enter press presses paste "
        "pastes standing stand shut shutting lead cause idea plus zero since angle land feat amend "
        "amended yes no nope yeah existing initially quite least enough much many few according "
        "accordingly isn't aren't can't won't shouldn't couldn't i'm i've we've you're let's "
        "what's works worked gone more once must forever"
    ).split()
)


class _Phrase(NamedTuple):
    """A phrase with its score and the numbers of the members that have it."""

    stems: tuple[str, ...]
    score: float
    members: frozenset[int]


class _Names(NamedTuple):
    """The names of a group, the best first, and whether any phrase recurs in it."""

    names: list[str]
    has_theme: bool


class _PhraseCounts:
    """The phrases and stems of some items, each with its highest weight in each item, and the
    spellings of each phrase."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.phrases: defaultdict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
        self.stems: defaultdict[str, dict[int, float]] = defaultdict(dict)
        self.spellings: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for number, item in enumerate(items):
            for text, weight in _texts(item):
                for tokens in _runs(text):
                    for word in {stem(token.lower()) for token in tokens}:
                        own = self.stems[word]
                        own[number] = max(weight, own.get(number, 0.0))
                    for stems, spelling in _phrases_in(tokens):
                        known = self.phrases[stems].get(number, 0.0)
                        self.phrases[stems][number] = max(known, weight)
                        self.spellings[stems][spelling] += 2 if weight >= _WEIGHTS.title else 1

    def share(self, word: str, size: int) -> float:
        """The weighted share of `size` items that have a stem."""
        return sum(self.stems[word].values()) / size


class ConceptNamer:
    """Names the concepts of one bank. Each group is analysed once, though often asked for."""

    def __init__(self, weights: FeatureWeights) -> None:
        self._weights = weights
        self._cache: dict[tuple[str, ...], _Names] = {}

    def names(self, items: Sequence[Item]) -> list[str]:
        """Names for a group of items, the best first; at least one."""
        return self._analyse(items).names

    def have_common_theme(self, items: Sequence[Item]) -> bool:
        """Whether a phrase or a changed file recurs among these items, so they can be named."""
        if len(items) < 2 or self._analyse(items).has_theme:
            return True
        changed = Counter(
            file
            for item in items
            for file in dict.fromkeys(item.changed_files)
            if file_weight(file) >= 1
        )
        return any(count > 1 for count in changed.values())

    def _analyse(self, items: Sequence[Item]) -> _Names:
        items = items[-_LIMITS.max_items :]
        key = tuple(item.uri for item in items)
        known = self._cache.get(key)
        if known is None:
            known = self._cache[key] = self._find_names(items)
        return known

    def _find_names(self, items: Sequence[Item]) -> _Names:
        counts = _PhraseCounts(items)
        phrases = self._ranked_phrases(counts, len(items))
        best = phrases[: _LIMITS.max_phrases]
        found: list[str] = []
        for phrase in best:
            found += [] if len(phrase.stems) > 1 else _qualified(phrase, phrases, counts)
            found.append(_spelling(counts.spellings[phrase.stems]))
        found += [_without_lead(item.title) for item in _central_items(items, best)]
        capitalised = [name[:1].upper() + name[1:] for name in found if name]
        names = list(dict.fromkeys(truncate(name, _LIMITS.max_chars) for name in capitalised))
        return _Names(names or [UNNAMED], bool(phrases))

    def _ranked_phrases(self, counts: _PhraseCounts, size: int) -> list[_Phrase]:
        scored = [
            _Phrase(stems, self._score(stems, counts, size), frozenset(by))
            for stems, by in counts.phrases.items()
        ]
        return sorted((p for p in scored if p.score > 0), key=lambda p: (-p.score, p.stems))

    def _score(self, stems: Sequence[str], counts: _PhraseCounts, size: int) -> float:
        """The score of a phrase: how rare its stems are in the bank and how many members have
        them, times factors for its length, for members that have all of it, and for where it
        occurs. 0 if no stem of it recurs."""
        if size > 1 and not any(len(counts.stems[s]) > 1 for s in stems):
            return 0.0
        scores = [
            counts.share(s, size) * self._weights.rarity(s) ** _WEIGHTS.rarity_exponent
            for s in stems
        ]
        by = counts.phrases[tuple(stems)]
        recurrences = min(_WEIGHTS.max_recurrences, len(by) - 1)
        recurrence_factor = 1 + _WEIGHTS.per_recurrence * recurrences
        stem_score = sum(scores) / len(scores) + min(scores)
        length_factor = _WEIGHTS.by_words[len(stems) - 1]
        return round(stem_score * length_factor * recurrence_factor * max(by.values()), 6)


def _central_items(items: Sequence[Item], best: Sequence[_Phrase]) -> list[Item]:
    """The members with the most of the best phrases; titles that were cut or ask come last."""
    counted = Counter(n for phrase in best for n in phrase.members)
    order = sorted(
        range(len(items)),
        key=lambda n: (-counted[n], items[n].title[-1:] in "?…", items[n].order),
    )
    central = [items[n] for n in order if items[n].has_topic]
    return central[: _LIMITS.max_titles] or list(items[:1])


def _qualified(phrase: _Phrase, phrases: Sequence[_Phrase], counts: _PhraseCounts) -> list[str]:
    """A better name than a single word: the longer phrase that contains it, or the word together
    with another one that at least half of its members have. [] if there is none."""
    word = phrase.stems[0]
    longer = [p for p in phrases if len(p.stems) in (2, 3) and word in p.stems]
    if longer and longer[0].score >= _WEIGHTS.min_share_of_word * phrase.score:
        return [_spelling(counts.spellings[longer[0].stems])]
    for other in phrases:
        both = len(other.members & phrase.members)
        if len(other.stems) == 1 and other.stems[0] != word and both * 2 >= len(phrase.members) > 1:
            pair = (phrase.stems, other.stems)
            return [" and ".join(_spelling(counts.spellings[stems]) for stems in pair)]
    return []


def _texts(item: Item) -> Iterator[tuple[str, float]]:
    """The texts of an item in which names are looked for, with their weights."""
    # The last word of a title that was cut may be half a word.
    title = item.title.rpartition(" ")[0] if item.title.endswith("…") else item.title
    yield title, _WEIGHTS.title if item.kind == "exchange" else _WEIGHTS.text
    for subject in item.commit_subjects:
        yield _SUBJECT_KIND.sub("", subject), _WEIGHTS.commit_subject
    for file in item.changed_files[: _LIMITS.max_files]:
        if file_weight(file) >= 1:
            yield " ".join(split_identifier(file_topic(file))).lower(), _WEIGHTS.file_name
    yield item.text[: _LIMITS.max_text_chars], _WEIGHTS.text
    yield " | ".join(item.keywords), _WEIGHTS.keyword


def _runs(text: str) -> Iterator[list[str]]:
    for piece in _BREAK.split(_ADDRESS.sub(" | ", text)):
        run: list[str] = []
        for token in _TOKEN.findall(piece.replace("`", " ").replace("*", " ")):
            if _is_content_word(token):
                run.append(token)
            elif run:
                yield run
                run = []
        if run:
            yield run


@lru_cache(maxsize=50_000)
def _is_content_word(token: str) -> bool:
    low = token.lower().replace("’", "'")
    root = stem(low)
    if low in STOPWORDS or low in COMMON_WORK_WORDS or root in _FILLERS or is_process_stem(root):
        return False
    if len(low) < _LIMITS.min_non_ascii_chars and not low.isascii():
        return False
    return not _NUMBERED.match(token) and len(token) < _LIMITS.max_token_chars


def _may_start_name(token: str) -> bool:
    return stem(token.lower()) not in _VERBS or _is_identifier(token)


def _phrases_in(tokens: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The phrases in a run of words: their stems and their spelling. No stem occurs twice."""
    stems = [stem(token.lower()) for token in tokens]
    for start in range(len(tokens)):
        if not _may_start_name(tokens[start]):
            continue
        for end in range(start + 1, min(len(tokens), start + len(_WEIGHTS.by_words)) + 1):
            phrase = tuple(stems[start:end])
            if len(set(phrase)) == len(phrase):
                yield phrase, " ".join(tokens[start:end])


def _spelling(counts: Counter[str]) -> str:
    """The most frequent spelling, with all words but identifiers in lower case."""
    most = max(counts.values())
    best = min(s for s, n in counts.items() if n == most)
    return " ".join(word if _is_identifier(word) else word.lower() for word in best.split())


def _is_identifier(word: str) -> bool:
    """Whether a word has a spelling of its own, as `parentId`, `REST`, `a_b` or `v2`."""
    return any(c.isupper() or c.isdigit() for c in word[1:]) or "_" in word or "." in word


def _without_lead(title: str) -> str:
    """A title without its lead-in: a verb, a courtesy, the type of a conventional commit."""
    text = _SUBJECT_KIND.sub("", _ADDRESS.sub("", title)) if ":" in title[:30] else title
    tokens = text.split()
    while len(tokens) > 2:
        first = tokens[0].strip("`\"'(*,.@")
        if _is_content_word(first) and _may_start_name(first):
            break
        tokens = tokens[1:]
    return " ".join(tokens).strip(" .,:;`*\"'") or title
