"""Which distilled statements the brief at the start of a session tells, beyond what people laid
down: choices, causes, how things work and what came of the work.

Sessions are distilled into more statements than a brief has room for, and nothing about a single
one says surely whether the next session needs it. So breadth is chosen: every session that had
something to say is heard before any is heard again, the latest first, and of each its choices and
causes before what was delivered. A session that only committed something has nothing to say, so it
takes no room from earlier work.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from holdfast.brief.known_statements import own_words
from holdfast.language import code_names, content_stems, sentences
from holdfast.model.knowledge import Kind, Memory
from holdfast.model.records import Role, Turn
from holdfast.model.trust import ENDED_STATUSES, Trust
from holdfast.model.uris import uri
from holdfast.recall.core.ended_words import EndedWords
from holdfast.recall.core.statements import is_request, reports_progress
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.signals import is_go_ahead
from holdfast.regex import regex
from holdfast.store.protocol import Reader


class DistilledLimits(NamedTuple):
    """What is looked at and told. Chosen on the labelled sessions that `bench.start_brief` reads,
    and read on the briefs of three real banks."""

    # Statements that are looked at, the latest first: it bounds the time.
    read: int = 240
    told: int = 40
    # Characters of a statement.
    min_characters: int = 45
    max_characters: int = 330
    # From so many characters on a statement says enough without the subject of its session.
    stands_alone: int = 90
    # A person's longer message is a plan or pasted: what it says is so is to be changed by it.
    typed_characters: int = 1000
    # Of one session.
    per_session: int = 5
    # Two statements that share so much of the shorter one's words say the same.
    same_words: float = 0.6
    # The sessions that were worked in last.
    sessions: int = 40


LIMITS = DistilledLimits()
# How much the kinds are worth among the statements of one session.
_WORTH = {
    Kind.RULE: 1.0,
    Kind.DECISION: 0.95,
    Kind.LESSON: 0.95,
    Kind.PREFERENCE: 0.8,
    Kind.FACT: 0.7,
    Kind.TODO: 0.6,
    Kind.OUTCOME: 0.65,
}
_CAUSE = regex(r"\broot cause\b|\bcaused by\b|\bturn(?:s|ed) out\b|\bbecause\b", re.IGNORECASE)
_BINDS = regex(
    r"\b(?:never|always|must|only|do not|don['’]t|instead of|rather than|no longer|without)\b",
    re.IGNORECASE,
)
# What is said on the way, of the run at hand, or to a person who waits.
_PASSING = regex(
    r"\b(?:let me|i['’]ll|i['’]m|now i|i need to|you are|want me to|would you|shall i|"
    r"\d+ (?:tests?|files?|commits?) (?:pass|changed|fail)\w*|all tests pass|working tree|"
    r"pre-commit hooks?|committed as|pushed to|(?:is|are)(?: now| both)? complete|pre-existing|"
    r"verifications? pass|already (?:defined|in progress)|blocked by|task #\d+|"
    r"\d+/\d+ (?:tasks|files|tests)|summary of (?:all |the )*changes|in progress)\b|[✅✓✔]|"
    r"^\W*(?:lines?|files?) \d|^\W*https?://",
    re.IGNORECASE,
)
_BARE = regex(r"^[\s\W]{0,3}(?:https?://\S+|[\w./-]+)[\s.!?:]*$")


# What only says that something was committed.
_COMMIT = regex(
    r"\(committed\)|^\W*(?:then |now |and )?commit(?:ted)?\b(?: (?:this|it|all|that|and push))?\W*|"
    r"\b(?:and )?(?:update|updated) (?:the )?changelog\b.*",
    re.IGNORECASE,
)
_MIN_STEMS = 2


class DistilledLine(NamedTuple):
    """A statement to tell: its memory, its words and the turn that states it."""

    memory: Memory
    text: str
    turn: str


def distilled_lines(
    reader: Reader, bank: str, ended: EndedWords, told: Sequence[str], passed_over: Collection[str]
) -> list[DistilledLine]:
    """The statements to tell, the first of every session before the second of any. What is `told`
    already is left out, and so are turns that were `passed_over` (URIs), because facts tell what
    they say or a later decision replaced it."""
    latest = [one for one in reader.sessions.latest(bank, LIMITS.sessions) if not one.parent]
    rank = {one.id: place for place, one in enumerate(latest)}
    said = [content_stems(text) for text in told]
    by_session: dict[str, list[tuple[float, DistilledLine]]] = {}
    for memory in reader.memories.retained(bank, limit=LIMITS.read, only_open=True):
        if not memory.by_agent:
            # Told with the decisions, where a later one replaces an earlier one.
            continue
        text = _text(memory)
        if not text or memory.status in ENDED_STATUSES:
            continue
        turn = _turn(reader, memory)
        if turn is None or turn.session not in rank or memory.trust is Trust.EXTERNAL:
            continue
        if passed_over and not {uri("turn", turn.id), *memory.evidence_for}.isdisjoint(passed_over):
            continue
        if turn.role is Role.USER and len(turn.text) > LIMITS.typed_characters:
            continue
        if ended.find(memory.what, memory.when, turn.session, turn.seq):
            continue
        line = DistilledLine(memory, text, turn.id)
        by_session.setdefault(turn.session, []).append((_worth(memory, text), line))
    return list(_in_turns(by_session, rank, said))


def _in_turns(
    by_session: dict[str, list[tuple[float, DistilledLine]]],
    rank: dict[str, int],
    said: list[frozenset[str]],
) -> Iterable[DistilledLine]:
    """The best of every session, the latest first, then the next best of every session, and so
    on."""
    waiting = [
        [line for _, line in sorted(found, key=lambda one: (-one[0], one[1].memory.id))]
        for _, found in sorted(by_session.items(), key=lambda item: rank[item[0]])
    ]
    left = LIMITS.told
    for _ in range(LIMITS.per_session):
        for lines in waiting:
            line = _next_new(lines, said)
            if line is None:
                continue
            yield line
            left -= 1
            if not left:
                return


def _next_new(lines: list[DistilledLine], said: list[frozenset[str]]) -> DistilledLine | None:
    while lines:
        line = lines.pop(0)
        own = content_stems(line.text)
        if not any(_is_same(own, other) for other in said):
            said.append(own)
            return line
    return None


def _is_same(own: frozenset[str], other: frozenset[str]) -> bool:
    fewer = min(len(own), len(other)) or 1
    return len(own & other) >= LIMITS.same_words * fewer


def _worth(memory: Memory, text: str) -> float:
    worth = _WORTH.get(memory.kind, 0.5) if memory.kind is not None else 0.0
    worth += 0.15 * (not memory.by_agent) + 0.1 * bool(_CAUSE.search(text))
    worth += 0.1 * bool(_BINDS.search(text)) + 0.03 * min(3, len(code_names(text, 3)))
    return worth + 0.1 * (memory.seen > 1)


def _text(memory: Memory) -> str:
    """The words of a statement that can be told by itself; else ""."""
    own = own_words(memory.what)
    text = own if len(own) >= LIMITS.stands_alone or memory.what.endswith("…)") else memory.what
    if memory.kind is None or not LIMITS.min_characters <= len(text) <= LIMITS.max_characters:
        return ""
    if own.endswith(("…", ":", "?")) or _BARE.match(own) or _PASSING.search(own):
        return ""
    first = next(iter(sentences(own)), "")
    if reports_progress(first) or (not memory.by_agent and is_request(own)):
        return ""
    return text


def _turn(reader: Reader, memory: Memory) -> Turn | None:
    found = (find_by_uri(reader, memory.bank, name) for name in memory.evidence_for)
    return next((record for record in found if isinstance(record, Turn)), None)


def is_trivial(title: str) -> bool:
    """Whether the title of some work names none: a yes, a commit, a bare address, a few words."""
    bare = _COMMIT.sub("", title)
    says_little = len(content_stems(bare)) < _MIN_STEMS and len(bare) < LIMITS.min_characters
    return is_go_ahead(title) or bool(_BARE.match(bare)) or says_little
