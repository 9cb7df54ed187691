"""Measures recall on a person's own history: requests whose answer is in earlier sessions.

No model decides which sessions those are. The first request of a session becomes a question if it
led to changes of files that few earlier sessions had changed: these sessions are its gold. Later
requests depend on their own session, so they are not used. The memory is only read.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.app.evaluation.asking import (
    Circumstances,
    Measures,
    Record,
    ask_all,
    circumstances,
    hit_at,
    mean,
    reciprocal_rank,
)
from holdfast.app.evaluation.sets import Progress, ignore
from holdfast.app.memory import Holdfast
from holdfast.language import STOPWORDS, collapse_spaces, stem, words
from holdfast.model.query import Hit
from holdfast.model.records import Exchange, Role
from holdfast.model.trust import Trust
from holdfast.recall.core.plan import RecallPlan
from holdfast.store.protocol import Reader

# When a request becomes a question; looser numbers give more questions with worse labels.
# Distinctive words of a request: a shorter one ("go on") asks for nothing that can be found.
_MIN_WORDS = 5
# A longer request was pasted, not typed.
_MAX_CHARACTERS = 1500
# Earlier sessions of the bank; among fewer, a random order often has the right one on top.
MIN_EARLIER_SESSIONS = 8
# Gold sessions of a question; more show a file that everybody changes, not an answer.
_MAX_GOLD_SESSIONS = 3
# A file that more than this share of the earlier sessions changed does not distinguish them.
_MAX_FILE_SHARE = 0.2
# Files that the request only led to read: so many shared ones count as one changed file.
_READS_PER_CHANGE = 2
# Hits that are newer than the request are removed from the ranking afterwards, so it must be longer
# than that of a set. A greater depth loses fewer old hits and takes longer.
DEPTH = 300
# No limit: every session of a bank.
_ALL_SESSIONS = 1 << 40


class OwnQuestion(NamedTuple):
    """A request as a person typed it, the earlier sessions that answer it, and how many earlier
    sessions there were. Sessions are named by the host's ids."""

    id: str
    bank: str
    session: str
    time: str
    text: str
    gold_sessions: frozenset[str]
    earlier: int


class History(NamedTuple):
    """How many sessions there are, how many of them start with a typed request, and the questions
    found in them, the oldest of each bank first."""

    sessions: int
    openings: int
    questions: list[OwnQuestion]


@dataclass(slots=True)
class _Past:
    """What happened in a bank so far; filled in the order of time. Sessions are the host's ids."""

    sessions: set[str] = field(default_factory=set[str])
    # For each file the sessions that changed it, with the time of the first change.
    changed: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    requests: set[str] = field(default_factory=set[str])

    def add(self, session: str, exchange: Exchange) -> None:
        self.sessions.add(session)
        for path in exchange.files_modified:
            self.changed.setdefault(path, {}).setdefault(session, exchange.ended)

    def gold(self, exchange: Exchange) -> frozenset[str]:
        """The sessions that had changed a rare file which this exchange changes, or several rare
        files which it reads; none if there are too many such sessions."""
        rare = math.floor(_MAX_FILE_SHARE * len(self.sessions))
        max_sessions = max(1, min(_MAX_GOLD_SESSIONS, rare))
        shared: defaultdict[str, float] = defaultdict(float)
        files = [(path, 1.0) for path in exchange.files_modified]
        files += [(path, 1 / _READS_PER_CHANGE) for path in exchange.files_read]
        for path, weight in files:
            changed = self.changed.get(path, {})
            earlier = [id for id, ended in changed.items() if ended < exchange.started]
            if len(earlier) <= max_sessions:
                for id in earlier:
                    shared[id] += weight
        found = frozenset(id for id, weight in shared.items() if weight >= 1)
        return found if len(found) <= _MAX_GOLD_SESSIONS else frozenset()


def find_questions(reader: Reader, bank: str | None) -> History:
    """The questions in the history of a bank, or of all banks if it is None."""
    count = openings = 0
    questions: list[OwnQuestion] = []
    for one in [one.id for one in reader.banks.all()] if bank is None else [bank]:
        sessions, past = reader.sessions.latest(one, _ALL_SESSIONS), _Past()
        count += len({session.host for session in sessions})
        pairs = [(s, x) for s in sessions for x in reader.sessions.exchanges(s.bank, s.id)]
        pairs = [(s, x) for s, x in pairs if x.started]
        for session, x in sorted(pairs, key=lambda pair: (pair[1].started, pair[1].id)):
            text = "" if session.parent else typed_request(reader, x)
            if text and session.host not in past.sessions:
                openings += 1
                # A request that was typed before would be found by its own copy.
                is_new = collapse_spaces(text).lower() not in past.requests
                gold, earlier = past.gold(x), len(past.sessions)
                if gold and is_new and earlier >= MIN_EARLIER_SESSIONS and _is_question(text):
                    where = (x.id, x.bank, session.host, x.started)
                    questions.append(OwnQuestion(*where, text, gold, earlier))
            past.requests.add(collapse_spaces(text).lower())
            past.add(session.host, x)
    return History(count, openings, questions)


def _is_question(text: str) -> bool:
    """Whether a request has enough words that distinguish it from others, and was typed."""
    stems = {stem(word) for word in words(text) if len(word) > 2 and word not in STOPWORDS}
    return len(text) <= _MAX_CHARACTERS and len(stems) >= _MIN_WORDS


def typed_request(reader: Reader, exchange: Exchange) -> str:
    """The text that a person typed to start an exchange; "" if it is a command or was not typed."""
    turns = reader.turns.of_session(
        exchange.bank, exchange.session, exchange.first_seq, exchange.first_seq
    )
    if not turns or turns[0].role is not Role.USER or turns[0].trust is not Trust.USER:
        return ""
    text = turns[0].text.strip()
    return "" if turns[0].speaker or text.startswith(("/", "!", "[")) else text


def chance_of_hit(count: int, gold: int, among: int) -> float:
    """The probability that a random order has a gold session among the first `count`."""
    return 1 - math.comb(among - gold, count) / math.comb(among, min(count, among))


def too_little_history(history: History) -> str:
    """The message for a history that gives no question: what it lacks."""
    return (
        f"The history is too short to measure: {history.sessions:,} sessions, {history.openings:,} "
        "of them opened by a typed request, give no question. A question needs a session that "
        "changes files which only a few of the earlier sessions changed, and more than "
        f"{MIN_EARLIER_SESSIONS} earlier sessions in its bank. `holdfast ingest` reads your "
        "sessions."
    )


class OwnReport(NamedTuple):
    """What was measured on a person's own history; `chance` is the result of a random order."""

    questions: int
    measures: Measures
    chance: Measures
    about: Circumstances


def replay(
    memory: Holdfast,
    questions: Sequence[OwnQuestion],
    plan: RecallPlan,
    progress: Progress = ignore,
    record: Record = lambda id, ranking: None,
) -> OwnReport:
    """Ask each request, and count only what other sessions had said before it."""
    rankings = ask_all(memory, questions, plan, progress, record, _was_known, DEPTH)
    ranked = [(r.sessions, q.gold_sessions) for r, q in zip(rankings, questions, strict=True)]
    return OwnReport(
        len(questions),
        {
            "session_hit@1": mean(hit_at(1, sessions, gold) for sessions, gold in ranked),
            "session_hit@5": mean(hit_at(5, sessions, gold) for sessions, gold in ranked),
            "session_mrr": mean(reciprocal_rank(sessions, gold) for sessions, gold in ranked),
        },
        {
            f"session_hit@{count}": mean(
                chance_of_hit(count, len(q.gold_sessions), q.earlier) for q in questions
            )
            for count in (1, 5)
        },
        circumstances(
            memory,
            rankings,
            plan.budget,
            "The labels are a proxy: a request counts as answered by the few earlier sessions that "
            "had changed the files it led to. Some of these requests need nothing from the past, "
            "and a session that helps without sharing a file counts as a miss.",
            "Compare these figures with chance beside them, and with themselves after a change.",
        ),
    )


def _was_known(question: OwnQuestion, hit: Hit) -> bool:
    """Whether a hit is of another session and older than the request."""
    return "" < hit.time < question.time and hit.session != question.session
