"""A name that a person would choose: a phrase that recurs, in the project's own spelling.

Phrases are runs of telling words in what people asked for, in subjects of commits, and in the
names of files that were changed. One that many members of a concept have, and few others in the
bank, names it. Where no phrase recurs, two words do; and where there is a single large exchange,
its own title.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from holdfast.language import STOPWORDS, cut, humps, stem
from holdfast.refine.concepts.feature_weights import FeatureWeights
from holdfast.refine.concepts.items import Item, file_topic, file_weight, is_process_stem
from holdfast.refine.core.keywords import COMMON_WORK_WORDS

LONGEST = 60
_WORDS = 4
_ASKED = 60
_SAID_SO_FAR = 200
_TITLE, _SUBJECT, _FILE, _KEYWORD, _SAID = 1.0, 1.2, 0.6, 0.5, 0.3
_BY_LENGTH = {1: 0.42, 2: 1.0, 3: 1.05, 4: 1.1}
_RECURS = 0.25
_QUALIFIES = 0.4
_TOKEN = re.compile(r"[^\W_][\w'’./+#-]*[\w+#]|[^\W_]")
_BREAK = re.compile(r"[^\w\s'’./+#`\"*-]+|\s[-–—]+\s|[.:;,!?](?=\s|$)|\n")
_ADDRESS = re.compile(r"\b\w+://\S+|@?(?<![\w.-])(?:[\w.-]+/){1,}[\w.-]+|[A-Za-z]:\\\S+")
_SUBJECT_KIND = re.compile(r"^\w+(?:\([^)]*\))?!?:\s*")
_NUMBERED = re.compile(r"^(?:\W*\d[\d.,]*\w{0,2}|[A-Z]{1,4}-?\d+|\w)$")
# What a request opens with; a name does not, though it may go on with one: "daily limit".
_VERBS = frozenset(
    stem(word)
    for word in (
        "add adjust allow analyse analyze apply ask avoid bring build bump change check "
        "clarify clean clear close combine configure consider convert create debug "
        "deduplicate define delegate deploy detect disable display distinguish document drop "
        "enable enforce ensure expand explain explore expose extend extract fetch find finish "
        "fix flag fold follow force format generate give go group handle harden hide "
        "implement import improve include increase inspect install integrate introduce "
        "investigate keep launch limit list load look make mark mention migrate move name "
        "narrow normalise normalize open optimise optimize parse pass pick polish prepare "
        "prevent propagate propose provide pull push put read rebuild recheck reduce refactor "
        "refine reject remove rename render reorder replace reset resolve restore return "
        "reuse revert review rework rewrite rotate run save say see select send separate set "
        "share ship show simplify skip solve sort split start stop store strip support "
        "suppress switch sync take tell think tidy track translate trigger tweak unify update "
        "upgrade use validate verify want warm wire work wrap write draw back calibrate "
        "execute spawn spawned applied studied behind outside inside always never"
    ).split()
)
# What no name is made of.
_FILLERS = frozenset(
    stem(word)
    for word in (
        "should does did done doing has have got getting based adding making using ahead "
        "anymore again around away both currently first last next second new old same such "
        "thing stuff way lot kind bit case cases time times user users people project page "
        "file files folder code text line lines part parts side rather really seems seem "
        "looks sure okay fine good better best right wrong correct correctly able possible "
        "needs need instead via per e.g i.e etc when then there here where which that this "
        "it's don't doesn't enter press presses paste pastes standing stand shut shutting "
        "lead cause idea plus zero since angle land feat amend amended yes no nope yeah "
        "existing initially quite least enough much many few according accordingly isn't "
        "aren't can't won't shouldn't couldn't i'm i've we've you're let's what's works "
        "worked gone more once must forever"
    ).split()
)


class _Phrase(NamedTuple):
    stems: tuple[str, ...]
    score: float
    members: frozenset[int]


class _Named(NamedTuple):
    names: list[str]
    themed: bool


class _Heard:
    """What the members of a concept say: each phrase with how loud each member says it."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.support: defaultdict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
        self.words: defaultdict[str, dict[int, float]] = defaultdict(dict)
        self.spelled: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for number, item in enumerate(items):
            for text, weight in _texts(item):
                for tokens in _runs(text):
                    for word in {stem(token.lower()) for token in tokens}:
                        own = self.words[word]
                        own[number] = max(weight, own.get(number, 0.0))
                    for stems, spelling in _grams(tokens):
                        known = self.support[stems].get(number, 0.0)
                        self.support[stems][number] = max(known, weight)
                        self.spelled[stems][spelling] += 2 if weight >= _TITLE else 1

    def share(self, word: str, size: int) -> float:
        """How much of the concept has a word."""
        return sum(self.words[word].values()) / size


class ConceptNamer:
    """Names concepts of one bank."""

    def __init__(self, weights: FeatureWeights) -> None:
        self._weights = weights
        self._known: dict[tuple[str, ...], _Named] = {}

    def names(self, items: Sequence[Item]) -> list[str]:
        """Names for these, the best first; never none. Of very many the latest are asked."""
        return self._look(items[-_ASKED:]).names

    def is_themed(self, items: Sequence[Item]) -> bool:
        """Whether there is anything that these have in common and that could name them."""
        if len(items) < 2 or self._look(items[-_ASKED:]).themed:
            return True
        changed = Counter(f for i in items for f in dict.fromkeys(i.changed_files) if file_weight(f) >= 1)
        return any(count > 1 for count in changed.values())

    def _look(self, items: Sequence[Item]) -> _Named:
        """Each group is looked at once: most are asked about several times."""
        key = tuple(item.uri for item in items)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._name(items)
        return known

    def _name(self, items: Sequence[Item]) -> _Named:
        heard = _Heard(items)
        phrases = self._phrases(heard, len(items))
        best = phrases[:6]
        found: list[str] = []
        for phrase in best:
            name = _spelling(heard.spelled[phrase.stems])
            found += [] if len(phrase.stems) > 1 else _qualified(phrase, phrases, heard)
            found.append(name)
        found += [_bare(item.title) for item in self._central(items, best)]
        capital = [name[:1].upper() + name[1:] for name in found if name]
        names = list(dict.fromkeys(cut(name, LONGEST) for name in capital)) or ["Unnamed"]
        return _Named(names, bool(phrases))

    def _phrases(self, heard: _Heard, size: int) -> list[_Phrase]:
        made = [
            _Phrase(stems, self._score(stems, heard, size), frozenset(by))
            for stems, by in heard.support.items()
        ]
        return sorted((p for p in made if p.score > 0), key=lambda p: (-p.score, p.stems))

    def _score(self, stems: Sequence[str], heard: _Heard, size: int) -> float:
        """A phrase is as telling as its words, and its words as what they tell of the bank and
        how many members have them; one that recurs as a whole is more than its words."""
        if size > 1 and not any(len(heard.words[s]) > 1 for s in stems):
            return 0.0
        worth = [heard.share(s, size) * self._weights.rarity(s) ** 0.7 for s in stems]
        by = heard.support[tuple(stems)]
        recurs = 1 + _RECURS * min(3, len(by) - 1)
        loud = max(by.values())
        telling = sum(worth) / len(worth) + min(worth)
        return round(telling * _BY_LENGTH[len(stems)] * recurs * loud, 6)

    def _central(self, items: Sequence[Item], best: Sequence[_Phrase]) -> list[Item]:
        """The members that have the most of what recurs, those that say it shortly first."""
        numbers = [n for p in best for n in sorted(p.members)]
        counted = Counter(numbers)
        order = sorted(
            range(len(items)),
            key=lambda n: (-counted[n], items[n].title[-1:] in "?…", items[n].order),
        )
        return [items[n] for n in order if items[n].has_topic][:3] or list(items[:1])


def _qualified(phrase: _Phrase, phrases: Sequence[_Phrase], heard: _Heard) -> list[str]:
    """A single word says little: the longer phrase that it is a part of, or the word that stands
    beside it in most of its members."""
    word = phrase.stems[0]
    longer = [p for p in phrases if len(p.stems) in (2, 3) and word in p.stems]
    if longer and longer[0].score >= _QUALIFIES * phrase.score:
        return [_spelling(heard.spelled[longer[0].stems])]
    for other in phrases:
        both = len(other.members & phrase.members)
        if len(other.stems) == 1 and other.stems[0] != word and both * 2 >= len(phrase.members) > 1:
            pair = (phrase.stems, other.stems)
            return [" and ".join(_spelling(heard.spelled[stems]) for stems in pair)]
    return []


def _texts(item: Item) -> Iterator[tuple[str, float]]:
    # The last word of a title that was cut may be half a word.
    title = item.title.rpartition(" ")[0] if item.title.endswith("…") else item.title
    yield title, _TITLE if item.kind == "exchange" else _SAID
    for subject in item.commit_subjects:
        yield _SUBJECT_KIND.sub("", subject), _SUBJECT
    for file in item.changed_files[:12]:
        if file_weight(file) >= 1:
            yield " ".join(humps(file_topic(file))).lower(), _FILE
    yield item.text[:_SAID_SO_FAR], _SAID
    yield " | ".join(item.keywords), _KEYWORD


def _runs(text: str) -> Iterator[list[str]]:
    """Runs of words that may name something, as they are spelled."""
    for piece in _BREAK.split(_ADDRESS.sub(" | ", text)):
        run: list[str] = []
        for token in _TOKEN.findall(piece.replace("`", " ").replace("*", " ")):
            if _tells(token):
                run.append(token)
            elif run:
                yield run
                run = []
        if run:
            yield run


@lru_cache(maxsize=50_000)
def _tells(token: str) -> bool:
    low = token.lower().replace("’", "'")
    root = stem(low)
    dull = low in STOPWORDS or low in COMMON_WORK_WORDS or root in _FILLERS or is_process_stem(root)
    foreign = len(low) < 4 and not low.isascii()
    return not dull and not foreign and not _NUMBERED.match(token) and len(token) < 40


def _begins(token: str) -> bool:
    return _tells(token) and (stem(token.lower()) not in _VERBS or _is_name(token))


def _grams(tokens: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    stems = [stem(token.lower()) for token in tokens]
    for start in range(len(tokens)):
        if stems[start] in _VERBS and not _is_name(tokens[start]):
            continue
        for end in range(start + 1, min(len(tokens), start + _WORDS) + 1):
            some = tuple(stems[start:end])
            if len(set(some)) == len(some):
                yield some, " ".join(tokens[start:end])


def _spelling(counted: Counter[str]) -> str:
    """The most frequent spelling; of a word that is no name of its own, in lower case."""
    most = max(counted.values())
    best = min(s for s, n in counted.items() if n == most)
    return " ".join(word if _is_name(word) else word.lower() for word in best.split())


def _is_name(word: str) -> bool:
    return any(c.isupper() or c.isdigit() for c in word[1:]) or "_" in word or "." in word


def _bare(title: str) -> str:
    """A title without what it opens with: a verb, a courtesy, the kind of a commit."""
    text = _SUBJECT_KIND.sub("", _ADDRESS.sub("", title)) if ":" in title[:30] else title
    tokens = text.split()
    while len(tokens) > 2 and not _begins(tokens[0].strip("`\"'(*,.@")):
        tokens = tokens[1:]
    return " ".join(tokens).strip(" .,:;`*\"'") or title
