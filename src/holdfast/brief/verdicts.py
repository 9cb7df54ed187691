"""Verdicts on what a brief may tell: what somebody who read it said of it.

`useful` is told first, `unneeded` (true, but not worth telling) and `outdated` (no longer true) are
not told at the start of a session, and `outdated` in no brief. A verdict stands above every
estimate of how useful a statement is, and below what is known: a record that was forgotten,
replaced or done is not told because somebody called it useful.

Verdicts come from people and from agents that a person asked to review; both are in the curation
log. After a review by an agent, older statements that it did not judge are not told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import (
    Action,
    Curation,
    Judgement,
    Verdict,
    in_effect,
    is_agent,
)
from holdfast.model.knowledge import Fact, Memory
from holdfast.model.trust import ENDED_STATUSES
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.curated_records import without_overruled
from holdfast.refine.core.statement_similarity import (
    StatementFeatures,
    own_words,
    says_the_same,
    statement_features,
)
from holdfast.store.protocol import Reader
from holdfast.times import add_seconds

_BANKS = "holdfast://bank/"
# They make one statement, so that another record that says the same is judged with them.
_STATEMENTS = ("holdfast://memory/", "holdfast://fact/")
# Who does this has looked at the record.
_DECIDING = (Action.CORRECT, Action.CONFIRM)
# So many verdicts of an agent within an hour are a review of what a brief tells.
_REVIEW, _REVIEW_S = 10, 3600.0
# What was said so short before a review was perhaps not read yet.
_UNREAD_S = 3 * 3600.0


class Review(NamedTuple):
    """The last review of all statements of a bank: up to when those were said that it had, ""
    without a review; the records that somebody corrected or confirmed since, and the older sessions
    that came since."""

    said_until: str = ""
    seen_since: frozenset[str] = frozenset()
    came_since: frozenset[str] = frozenset()


_NO_REVIEW = Review()


class Verdicts:
    """The verdicts on the records of one bank, by the URI of a record."""

    def __init__(
        self,
        judged: Mapping[str, Judgement],
        text_of: Callable[[str], str] = lambda name: "",
        reworded: Mapping[str, str] | None = None,
        review: Review = _NO_REVIEW,
    ) -> None:
        """`judged` are the verdicts; `text_of` reads what a memory or a fact says; `reworded` has
        other words for useful ones; `review` is the last one of all that was there."""
        self._judged = judged
        self._text_of = text_of
        self._reworded = reworded or {}
        self._review = review

    def of(self, name: str) -> Judgement | None:
        """The verdict on a record; None if nobody judged it."""
        return self._judged.get(name)

    def names(self) -> list[str]:
        """The records that somebody judged, the latest first."""
        return sorted(self._judged, key=lambda name: self._judged[name].time, reverse=True)

    def is_useful(self, name: str) -> bool:
        """Whether a record is told before others, whatever it is estimated to be worth."""
        return self._is(name, Verdict.USEFUL)

    def is_outdated(self, name: str) -> bool:
        """Whether a record must not be told as if it held."""
        return self._is(name, Verdict.OUTDATED)

    def is_dropped(self, name: str, said: str = "") -> bool:
        """Whether a record is not told at the start of a session. `said` is when it was last said:
        what is said again after a verdict holds again."""
        known = self.of(name)
        return known is not None and known.verdict is not Verdict.USEFUL and said <= known.time

    def is_passed_over(self, name: str, time: str, session: Callable[[], str]) -> bool:
        """Whether a statement of this time and session was there at the last review, and others
        came before it: what was called useful is told in its place."""
        review = self._review
        if time > review.said_until or self.of(name) is not None or name in review.seen_since:
            return False
        return not review.came_since or session() not in review.came_since

    def reworded(self, name: str) -> str:
        """A useful record in other words, if its own are not understood alone; else ""."""
        return self._reworded.get(name, "") if self.is_useful(name) else ""

    def useful(self, kind: str) -> list[str]:
        """The ids of the useful records of a kind."""
        start = f"holdfast://{kind}/"
        named = (name for name in self._judged if name.startswith(start))
        return [name.removeprefix(start) for name in named if self.is_useful(name)]

    def repeats_dropped(self, text: str, said: str = "") -> bool:
        """Whether a text says the same as a statement that is not told, and was `said` before that
        was judged: one sentence is told as a fact, as a memory and as the end of a session."""
        if not self._dropped_words:
            return False
        own = statement_features(text)
        return any(
            said <= time and says_the_same(own, other) for time, other in self._dropped_words
        )

    @cached_property
    def _dropped_words(self) -> list[tuple[str, StatementFeatures]]:
        found = [
            (one.time, self._text_of(name))
            for name, one in self._judged.items()
            if name.startswith(_STATEMENTS) and self.is_dropped(name)
        ]
        return [(time, statement_features(text)) for time, text in found if text]

    def _is(self, name: str, verdict: Verdict) -> bool:
        known = self.of(name)
        return known is not None and known.verdict is verdict


def read_outdated(reader: Reader, bank: str) -> Verdicts:
    """What people and agents called outdated. All other verdicts are about briefs and change no
    answer."""
    judged = _judgements(reader, bank, in_effect(reader.curation.log(bank)))
    outdated = {name: one for name, one in judged.items() if one.verdict is Verdict.OUTDATED}
    return Verdicts(outdated, partial(_text_of, reader, bank))


def _judgements(reader: Reader, bank: str, log: Sequence[Curation]) -> dict[str, Judgement]:
    """The verdicts of people and agents, without those of agents that a person overruled."""

    @cache
    def ended() -> set[str]:
        facts = reader.facts.all(bank)
        return {fact.content for fact in facts if fact.status in ENDED_STATUSES}

    judged = reader.curation.judgements(bank)
    return without_overruled(judged, log, partial(_text_of, reader, bank), ended)


def read_verdicts(reader: Reader, bank: str) -> Verdicts:
    """The verdicts of a bank; read once for a brief."""
    log = in_effect(reader.curation.log(bank))
    judged = _judgements(reader, bank, log)
    reworded = {name: one.words for name, one in judged.items() if one.words}
    review = _last_review(reader, bank, log)
    return Verdicts(judged, partial(_text_of, reader, bank), reworded, review)


def _last_review(reader: Reader, bank: str, log: Sequence[Curation]) -> Review:
    """The last review of a bank by an agent. Nobody reviewed here what another bank
    brought that was merged into it, and a review of that bank was none of this one."""
    merges = [entry for entry in log if _is_bank_merge(entry)]
    brought = reader.curation.merged_decisions(bank) if merges else frozenset[int]()
    own = (entry for entry in log if entry.seq not in brought)
    time = _last_review_by_agent(own)
    if not time:
        return _NO_REVIEW
    since = [entry for entry in log if entry.time > time]
    seen = frozenset(entry.target for entry in since if entry.action in _DECIDING)
    came = reader.sources.sessions_read_after(bank, time)
    for merge in filter(_is_bank_merge, since):
        came |= reader.curation.merged_sessions(bank, merge.seq)
    return Review(add_seconds(time, -_UNREAD_S), seen, came)


def _is_bank_merge(entry: Curation) -> bool:
    return entry.action is Action.MERGE and entry.target.startswith(_BANKS)


def _text_of(reader: Reader, bank: str, name: str) -> str:
    """What a memory or a fact says."""
    record = find_by_uri(reader, bank, name)
    if isinstance(record, Memory):
        return own_words(record.what)
    return record.content if isinstance(record, Fact) else ""


def _last_review_by_agent(log: Iterable[Curation]) -> str:
    """When an agent last judged so many records that it was a review, whatever people decided about
    them since; else "". A person who drops one line has not looked at all others."""
    judged = (e for e in log if e.action is Action.JUDGE and is_agent(e.who))
    times = sorted({entry.target: entry.time for entry in judged}.values())
    reviews = (
        last
        for first, last in zip(times, times[_REVIEW - 1 :], strict=False)
        if last <= add_seconds(first, _REVIEW_S)
    )
    return max(reviews, default="")
