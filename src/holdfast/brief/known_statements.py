"""Which statements of earlier sessions a session brief tells: what people laid down or chose in a
few words, what agents found out, and what was left open.

Sessions are distilled into more statements than a brief has room for. Here those are left out that
nobody could use without their context: cut texts, questions, requests, narration, what was pasted
rather than typed, and sessions of agents that work for another. What such agents report to a
session of a person counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from holdfast.language import sentences
from holdfast.model.knowledge import Kind, Memory
from holdfast.model.records import Role, Turn
from holdfast.model.trust import ENDED_STATUSES
from holdfast.recall.core.ended_words import EndedWords
from holdfast.recall.core.statements import is_request, states
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.statement_similarity import (
    StatementFeatures,
    says_the_same,
    statement_features,
)
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.regex import regex
from holdfast.store.protocol import Reader


class StatementLimits(NamedTuple):
    """Which statements are told. Chosen on the briefs of seven projects with 267 real sessions, and
    read on those of four others."""

    # Statements of each kind that are looked at, the latest first: it bounds the time.
    read: int = 80
    # A shorter one means nothing without its context; a longer one is an explanation.
    min_characters: int = 40
    max_characters: int = 400
    # A person's longer message is a task, a plan or a report: it is done and over.
    typed_characters: int = 300
    # Of one session, so that it does not crowd out the others; of lessons, of which one session
    # often tells the same cause several times.
    per_session: int = 2
    lessons_per_session: int = 1
    # What was left open longer ago than in the latest sessions is done by now, or given up.
    open_in_sessions: int = 12


_LIMITS = StatementLimits()
# What people say about how things are to be.
SAID_BY_PEOPLE = (Kind.RULE, Kind.PREFERENCE, Kind.DECISION)
_LASTS = regex(
    r"\b(?:always|never|must(?:n['’]t)?|do not|don['’]t|no longer|instead of|rather than|every|"
    r"each|deliberat\w*|intentional\w*|by (?:default|design)|from now on|prefer|allowed|we use|"
    r"decided)\b",
    re.IGNORECASE,
)
_WISHES = regex(r"\b(?:i (?:want|need|would like|think)|can we|could we|maybe)\b", re.IGNORECASE)
# Tells the agent to go on with what it proposed.
_GOES_ON = regex(r"\W*(?:go ahead|go for|go with|next|now|then)\b", re.IGNORECASE)
_ROOT_CAUSE = regex(r"\broot cause\b", re.IGNORECASE)
_CAUSE = regex(
    r"\broot cause\b|caused by|\bdue to\b|turn(?:s|ed) out|\bcausing\b|"
    r"the (?:real |actual |underlying )?(?:bug|issue|problem|culprit|cause) (?:is|was)\b"
    r"(?! (?:found|fixed|resolved|gone|closed|still|not)\b)",
    re.IGNORECASE,
)
# A reason is a lesson where it is that of a failure.
_REASON = regex(r"\bbecause\b", re.IGNORECASE)
_FAILS = regex(
    r"\b(?:fail|break|broke|crash|hang|reject|los[et]|miss|leak|stale|slow|wrong|empty|null|"
    r"undefined|timed? ?out|never|can(?:no|['’])t|(?:did|does|do)(?:n['’]t| not))",
    re.IGNORECASE,
)
# Of a run at hand, which is over.
_OF_THE_RUN = regex(
    r"\b\d+ (?:failures?|tests?|errors?|warnings?)\b|"
    r"\b(?:not (?:caused by|from)|unrelated to) (?:the|our|these|this) (?:changes?|work)\b|"
    r"\b(?:currently|investigating)\b|^\W*(?:typescript|type|lint|syntax|compile) errors?\b|"
    r"(?<![\w-])(?:my|mine|i (?:did|made|added))(?![\w-])|^\W*because\b",
    re.IGNORECASE,
)
_OPEN = regex(
    r"\bstill (?:needs?|open|missing|fails?|exposed|to be)\b|\bnot yet\b|\bfollow-?ups?\b|"
    r"\bdeferred\b|\bpending\b|\bopen questions?\b|\bknown gap\b|\bmust be configured\b|"
    r"\b(?:left|leaves) (?:for|open|untouched)\b|\bremains? (?:open|to be|unfixed)\b",
    re.IGNORECASE,
)
_CLOSED = regex(r"[✓✔✅]|\b(?:complete[ds]?|done|resolved|marked)\b", re.IGNORECASE)
# Tools that keep a list of tasks: what stands in it is open by itself.
_TASK_TOOLS = ("TodoWrite", "TaskCreate", "TaskUpdate")
# What a label is followed by says nothing without the sentence before it.
_REFERS_BACK = regex(r"[^:]{0,60}: (?:this|that|it|these|those)\b", re.IGNORECASE)
# Says what the speaker is about to do, or who is to do it.
_NARRATES = regex(
    r"\b(?:let me|i['’]ll|i (?:need|have) to|i['’]m \w+|i['’]ve handed|you are|now i)\b",
    re.IGNORECASE,
)


class KnownStatement(NamedTuple):
    """A statement of a session, and the turn that states it."""

    memory: Memory
    turn: Turn

    @property
    def text(self) -> str:
        """What it says, without a subject that was cut."""
        what = self.memory.what
        return own_words(what) if what.endswith("…)") else what


def said_by_people(reader: Reader, bank: str, ended: EndedWords) -> list[KnownStatement]:
    """What people laid down, prefer or chose, in words that they typed; the latest first."""
    said = [
        memory
        for kind in SAID_BY_PEOPLE
        for memory in _retained(reader, bank, kind)
        if _is_laid_down(memory)
    ]
    said.sort(key=lambda one: (one.when, one.id), reverse=True)
    return _distinct(one for one in _stated(reader, said, ended) if one.turn.role is Role.USER)


def lessons(reader: Reader, bank: str, ended: EndedWords) -> list[KnownStatement]:
    """Causes that agents found: those of most sessions first, then what is called a root cause,
    then those that name code, then the latest."""
    found = [
        memory
        for memory in _retained(reader, bank, Kind.LESSON)
        if memory.by_agent and _tells_cause(own_words(memory.what))
    ]
    found.sort(key=lambda one: (-one.seen, not _ROOT_CAUSE.search(one.what), "`" not in one.what))
    return _distinct(_stated(reader, found, ended), _LIMITS.lessons_per_session)


def _tells_cause(text: str) -> bool:
    if _OF_THE_RUN.search(text):
        return False
    is_reason = _REASON.search(text) and _FAILS.search(text)
    return bool(_CAUSE.search(text) or is_reason)


def open_tasks(reader: Reader, bank: str, ended: EndedWords) -> list[KnownStatement]:
    """What agents left open in the latest sessions, the latest first. What a person says is to be
    done is a request: it is listed with the work."""
    latest = {one.id for one in reader.sessions.latest(bank, _LIMITS.open_in_sessions)}
    left = [memory for memory in _retained(reader, bank, Kind.TODO) if memory.by_agent]
    return _distinct(
        one
        for one in _stated(reader, left, ended)
        if one.turn.session in latest and one.turn.role is not Role.USER and _is_open(one)
    )


def _is_open(one: KnownStatement) -> bool:
    if one.turn.tool is not None and one.turn.tool.name in _TASK_TOOLS:
        return True
    text = own_words(one.memory.what)
    return bool(_OPEN.search(text)) and not _CLOSED.search(text) and not _OF_THE_RUN.search(text)


def _retained(reader: Reader, bank: str, kind: Kind) -> list[Memory]:
    """The statements of a kind that can be understood alone, the latest first."""
    found = reader.memories.retained(bank, limit=_LIMITS.read, kind=kind, only_open=True)
    return [m for m in found if m.status not in ENDED_STATUSES and _stands_alone(m)]


def _stated(
    reader: Reader, memories: Iterable[Memory], ended: EndedWords
) -> Iterator[KnownStatement]:
    """The statements that hold, in their order, each with its turn. What was pasted, and sessions
    of agents that work for another, are left out."""
    by_person: dict[str, bool] = {}
    for memory in memories:
        turn = _stating_turn(reader, memory)
        if turn is None or _is_pasted(turn):
            continue
        if ended.find(memory.what, memory.when, turn.session, turn.seq):
            continue
        if turn.session not in by_person:
            by_person[turn.session] = _is_by_person(reader, memory.bank, turn.session)
        if by_person[turn.session]:
            yield KnownStatement(memory, turn)


def _is_by_person(reader: Reader, bank: str, session: str) -> bool:
    """Whether a person began a session, rather than another agent."""
    known = reader.sessions.get(bank, session)
    first = reader.turns.of_session(bank, session, 1, 1)
    return known is not None and not known.parent and not (first and first[0].speaker)


def own_words(text: str) -> str:
    """A statement without the subject of its session, which may stand behind it in brackets."""
    depth = 0
    for place in range(len(text) - 1, 0, -1) if text.endswith(")") else ():
        depth += {")": 1, "(": -1}.get(text[place], 0)
        if depth == 0:
            return text[:place].rstrip()
    return text


def _stands_alone(memory: Memory) -> bool:
    text = own_words(memory.what)
    if not _LIMITS.min_characters <= len(text) <= _LIMITS.max_characters:
        return False
    if text.endswith(("…", ":")) or text.startswith("http"):
        return False
    if _REFERS_BACK.match(text) or _NARRATES.search(text):
        return False
    first = next(iter(sentences(text)), "")
    by_person = not memory.by_agent
    return states(first, by_person) and not (by_person and is_request(text))


def _stating_turn(reader: Reader, memory: Memory) -> Turn | None:
    found = (find_by_uri(reader, memory.bank, name) for name in memory.evidence_for)
    return next((record for record in found if isinstance(record, Turn)), None)


def _is_pasted(turn: Turn) -> bool:
    is_typed = turn.role is Role.USER and not turn.speaker
    return is_typed and len(turn.text) > _LIMITS.typed_characters


def _is_laid_down(memory: Memory) -> bool:
    """Whether a person said it, and it is meant to last."""
    text = own_words(memory.what)
    if memory.by_agent or not _LASTS.search(text) or _WISHES.search(text):
        return False
    return not _GOES_ON.match(text) and not is_for_the_moment(text)


def _distinct(
    found: Iterable[KnownStatement], per_session: int = _LIMITS.per_session
) -> list[KnownStatement]:
    """Without those that say the same as one before, and with a few of each session."""
    kept: list[KnownStatement] = []
    said: list[StatementFeatures] = []
    by_session: Counter[str] = Counter()
    for one in found:
        own = statement_features(own_words(one.memory.what))
        is_full = by_session[one.turn.session] == per_session
        if not is_full and not any(says_the_same(own, other) for other in said):
            by_session[one.turn.session] += 1
            kept.append(one)
            said.append(own)
    return kept
