"""A question, read: its terms and what they weigh in this bank, and the time that it names."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from holdfast.language import stem, words
from holdfast.model.team import Commit
from holdfast.recall.core.relevance import weigh_terms
from holdfast.recall.query.expansion import exact_names
from holdfast.recall.query.landmarks import LandmarkKind, is_version, read_landmark
from holdfast.recall.query.terms import Terms, read_terms
from holdfast.recall.query.time_phrases import TimeRange, asks_for_recent_work, read_time_range
from holdfast.store.protocol import Reader

_DATED = ("turn", "digest", "commit")
_RELEASES = 100


class Query(NamedTuple):
    """A question, read."""

    text: str
    terms: Terms
    stem_weights: dict[str, float]
    word_weights: dict[str, float]
    time_range: TimeRange | None
    asks_for_recent_work: bool
    time_stems: frozenset[str] = frozenset()

    @property
    def only_time(self) -> bool:
        """Whether it asks for nothing but what there is of a time."""
        return self.time_range is not None and self.time_range.only_time

    def time_stems_at(self, time: str) -> frozenset[str]:
        """The stems of the time that the question names, for what is of that time: nobody says
        "before the release" of what he says before it."""
        in_time = self.time_range is not None and self.time_range.contains(time)
        return self.time_stems if in_time else frozenset()


def read_query(store: Reader, bank: str | None, text: str, now: Callable[[], str]) -> Query:
    """What a question asks for, by which words, and of which time."""
    text = text.encode("utf-8", "ignore").decode("utf-8")
    when = find_time_range(store, bank, text, now())
    # Every passage can be found by the words of its date, so those of the question stay, unless
    # they are all it has.
    bare = when.rest if when is not None and when.only_time and when.rest.strip() else text
    terms = read_terms(bare)
    phrases = tuple(dict.fromkeys((*terms.phrases, *exact_names(text))))
    terms = terms._replace(phrases=phrases)
    weight = weigh_terms(store, bank, terms.words)
    spelled = {word: weight.by_word[word] for word in terms.words}
    of_time = _stems(when.phrase) - _stems(when.rest) if when is not None else frozenset[str]()
    return Query(text, terms, weight.by_stem, spelled, when, asks_for_recent_work(text), of_time)


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))


def find_time_range(store: Reader, bank: str | None, text: str, now: str) -> TimeRange | None:
    """The time that a question names. One that is about more than a time forgets it if there is
    nothing of that time; in a bank that has been quiet for long, its "in June" and "recently"
    are told from its last day."""
    for moment in dict.fromkeys((now, store.last_session_end(bank))):
        if not moment:
            continue
        said = datetime.fromisoformat(moment)
        when = read_time_range(text, said, lambda name: _landmark_time(store, bank, name))
        if when is None or when.only_time:
            return when
        if any(store.recent_passages(bank, kind, 1, when.start, when.end) for kind in _DATED):
            return when
    return None


def _landmark_time(store: Reader, bank: str | None, name: str) -> datetime | None:
    """When a session, a commit or a release was, as far as sessions and commits tell. What is
    no name of one is no time: a word of some commit's message dates nothing."""
    mark = read_landmark(name)
    if mark is None:
        return None
    if mark.kind is LandmarkKind.SESSION:
        times = [passage.time for passage in store.recent_passages(bank, "digest", 1)]
    elif mark.kind is LandmarkKind.RELEASE:
        said = [mark.name, f"v{mark.name}"] if mark.name else ["release", "released"]
        matches = store.search(bank, said, ["team"], _RELEASES)
        times = [m.passage.time for m in matches if _announces_release(m.passage.body, mark.name)]
    elif mark.name:
        found = store.find(bank, "commit", mark.name, 1)
        times = [record.time for record in found if isinstance(record, Commit)]
    else:
        times = [passage.time for passage in store.recent_passages(bank, "commit", 1)]
    latest = max(times, default="")
    return datetime.fromisoformat(latest) if latest else None


def _announces_release(message: str, version: str) -> bool:
    """Whether a commit's first line tells of a release, of this version if there is one."""
    subject = message.partition("\n")[0].lower()
    said = [word.strip(".,:;()[]") for word in subject.split()]
    if not version:
        return "release" in said or "released" in said
    return any(is_version(word, version) for word in said)
