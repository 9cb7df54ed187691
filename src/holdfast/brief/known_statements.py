"""Which statements of earlier sessions can be told to another: what people laid down or chose in a
few words, what agents found out and delivered, how things work, and what was left open.

Here those are left out that nobody could use without their context: cut texts, questions, requests,
narration, what was pasted rather than typed, and sessions of agents that work for another. What
such agents report to a session of a person counts. Which of the others a brief has room for is
decided in `statement_ranking`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from holdfast.language import content_stems, sentences, without_bold, without_links
from holdfast.model.knowledge import Kind, Memory
from holdfast.model.records import Role, Turn
from holdfast.model.trust import ENDED_STATUSES, Trust
from holdfast.model.uris import uri
from holdfast.recall.core.ended_words import EndedWords
from holdfast.recall.core.statements import is_request, states
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.problem_states import describes_problem
from holdfast.refine.core.signals import is_go_ahead
from holdfast.refine.core.statement_similarity import (
    StatementFeatures,
    own_words,
    says_the_same,
    statement_features,
)
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.facts.typed_text import is_history
from holdfast.regex import regex
from holdfast.store.protocol import Reader


class StatementLimits(NamedTuple):
    """Which statements are told. Chosen on the briefs of seven projects with 267 real sessions, and
    read on those of four others."""

    # Statements that are looked at, the latest first: it bounds the time. Some forty sessions have
    # as many.
    read: int = 600
    # A shorter one means nothing without its context; a longer one is an explanation.
    min_characters: int = 40
    max_characters: int = 400
    # With so many content words a statement is understood without the subject of its session, which
    # is a request about something else as often as not.
    says_enough: int = 5
    # A title with fewer content words names no work, unless it is this long.
    min_stems: int = 2
    min_title: int = 45
    # The recap of a conversation is told whole.
    recap_characters: int = 720
    # A person's longer message is a task, a plan or a report: it is done and over. What is laid
    # down in one counts up to the second limit, above which it is a specification.
    typed_characters: int = 300
    laid_down_characters: int = 1500
    # Statements with a lower score are left out, unless they tell a cause or a person lays
    # something down; a person's words that do not say that they last, and tasks that are not said
    # to be open, need this much.
    min_worth: float = -1.0
    high_worth: float = 1.0
    # What a person settles in a long message needs this much, unless it is said to last.
    firm_worth: float = 3.0
    # Open tasks of one session, so that it does not crowd out the others.
    per_session: int = 2
    # What was left open longer ago than in the latest sessions is done by now, or given up.
    open_in_sessions: int = 12


_LIMITS = StatementLimits()
# What a person says in these settles something; the rest of a person's words is told, not decided.
SETTLING_KINDS = (Kind.DECISION, Kind.RULE, Kind.PREFERENCE)
_LASTS = regex(
    r"\b(?:always|never|must(?:n['’]t)?|do not|don['’]t|no longer|instead of|rather than|every|"
    r"each|deliberat\w*|intentional\w*|by (?:default|design)|from now on|prefer|allowed|we use|"
    r"decided)\b",
    re.IGNORECASE,
)
_WISHES = regex(r"\b(?:i (?:want|need|would like|think)|can we|could we|maybe)\b", re.IGNORECASE)
# Tells the agent to go on with what it proposed.
_GOES_ON = regex(r"\W*(?:go ahead|go for|go with|next|now|then)\b", re.IGNORECASE)
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
    r"undefined|timed? ?out|never|can(?:no|['’])t|(?:did|does|do|is|are)(?:n['’]t| not)|dangling|"
    r"hardcoded|silently)",
    re.IGNORECASE,
)
_DOES_NOT = regex(r"\b(?:is|are)(?:n['’]t| not) \w+ing\b", re.IGNORECASE)
# Of a run at hand, which is over.
_OF_THE_RUN = regex(
    r"\b\d+ (?:failures?|tests?|errors?|warnings?)\b|"
    r"\b(?:not (?:caused by|from)|unrelated to) (?:the|our|these|this) (?:changes?|work)\b|"
    r"\b(?:currently|investigating)\b|^\W*(?:typescript|type|lint|syntax|compile) errors?\b|"
    r"(?<![\w-])(?:my|mine|i (?:did|made|added))(?![\w-])|^\W*because\b",
    re.IGNORECASE,
)
# A command that failed, and passed later: told when the error comes back (`triggers`).
_FAILED_RUN = regex(r"^`[^`]+` failed with “")
# How a command is given that is to be run: it says how something is done.
_GIVES_COMMAND = regex(r"\W*\w+(?: with)? `")
# What is said on the way, or of how far the work is.
_PASSES = regex(
    r"\b(?:want me to|would you|shall i|all tests pass|working tree|pre-commit hooks?|committed as|"
    r"pushed to|(?:is|are)(?: now| both)? complete|pre-existing|verifications? pass|blocked by|"
    r"task #\d+|\d+/\d+ (?:tasks|files|tests)|summary of (?:all |the )*changes|in progress)\b|"
    r"[✅✓✔🔄]|^\W*(?:lines?|files?) \d|\(committed\)|^Worked on “|"
    # How far agents and phases are, and the tasks of a plan, which end with a priority.
    r"\bagents? (?:dispatched|running|launched|spawned)\b|\brunning in parallel\b|"
    r"работают параллельно|\b\d+/\d+ done\b|\bstatus update\b|\bphase completion\b|"
    r"\bverification (?:results|passed)\b|\ball green\b|— (?:running|P[0-4])\W*$|"
    r"\b(?:am|is|are) now exiting\b|^\W*staging\b[^.]*\bnow\b|^\W*commits?\b[^.]{0,9}`[0-9a-f]{7}|"
    r"^\W*where you interrupted\b|^\W*question \d|^\W*\d+[.)] (?!\d)|"
    r"\bplus all previous\b|\bthe plan (?:is|should be)\b|\b\d+ agents\b",
    re.IGNORECASE,
)
# What an agent puts forward: whether it was taken is said elsewhere.
_PROPOSES = regex(
    r"\b(?:i['’]d|i (?:would|could|can|suggest|recommend|propose)|we (?:could|can|might)|you could|"
    r"would be|could be|(?:simplest|easiest|cleanest|usual|standard) (?:change|fix|cure|answer)|"
    r"(?:my )?recommend(?:ation|ed)?|proposal|suggest(?:ion|ed)|alternatively|either\b.*\bor)\b|"
    r"^\W*(?:option|otherwise)\b",
    re.IGNORECASE,
)
_BARE = regex(r"^[\s\W]{0,3}(?:https?://\S+|[\w./-]+)[\s.!?:]*$")
# What only says that something was committed.
_COMMIT = regex(
    r"\(committed\)|^\W*(?:then |now |and )?commit(?:ted)?\b(?: (?:this|it|all|that|and push))?\W*|"
    r"\b(?:and )?(?:update|updated) (?:the )?changelog\b.*",
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
# JSON, or an entry of a log or transcript ("[17] tool result: …"): pasted, and nobody's words.
_OF_A_PROGRAM = regex(r"^\s*(?:\{\s*\"|\[\s*[\"{]|\[\d+\]\s)")

# What a program or an editor composed: headings, fences, tags, diffs, dialogues.
_COMPOSED = regex(r"^(?:#{1,6} |```|<\w|\+\+\+ |@@ |\*\*|\[\d+\] )", re.MULTILINE)


class KnownStatement(NamedTuple):
    """A statement of a session, and the turn that states it."""

    memory: Memory
    turn: Turn

    @property
    def text(self) -> str:
        """What it says, in as few characters as it takes: without the targets of links, and without
        the subject of its session where that was cut, or where it says enough by itself. Brackets
        that are in its turn are its own."""
        what = without_links(without_bold(self.memory.what))
        own = own_words(what)
        in_brackets = what.removeprefix(own).strip()
        if in_brackets and in_brackets in without_links(without_bold(self.turn.text)):
            return what
        says_enough = len(content_stems(own)) >= _LIMITS.says_enough
        return own if what.endswith("…)") or says_enough else what


def tellable(reader: Reader, bank: str, useful: Collection[str] = ()) -> list[Memory]:
    """The statements of all kinds that can be understood alone, the latest first; with those of
    the ids that somebody called `useful`, however old they are."""
    found = reader.memories.retained(bank, limit=_LIMITS.read, only_open=True)
    missing = sorted({*useful} - {one.id for one in found})
    named = (find_by_uri(reader, bank, uri("memory", id)) for id in missing)
    older = [one for one in named if isinstance(one, Memory) and one.kind is not None]
    found += sorted(older, key=lambda one: (one.when, one.id), reverse=True)
    return tellable_of(reader, bank, found, useful)


def tellable_of(
    reader: Reader, bank: str, found: Iterable[Memory], useful: Collection[str] = ()
) -> list[Memory]:
    """Those of some statements that can be understood alone or were called useful, in their
    order."""
    recaps = {one.memory.id for one in reader.memories.recaps(bank, _LIMITS.read)}
    return [
        one
        for one in found
        if one.status not in ENDED_STATUSES
        and (one.id in useful or _is_tellable(one, one.id in recaps))
    ]


def _is_tellable(memory: Memory, is_recap: bool) -> bool:
    """Whether a statement is worth telling by itself, whatever became of it. What a person says is
    to be done is a request; what a person lays down is meant to last."""
    if memory.kind is None or memory.trust is Trust.EXTERNAL:
        return False
    is_poor = memory.worth is not None and memory.worth < _LIMITS.min_worth
    if is_poor and not is_laid_down(memory) and not _names_cause(own_words(memory.what)):
        return False
    if is_recap:
        return len(memory.what) <= _LIMITS.recap_characters
    if not _stands_alone(memory):
        return False
    if not memory.by_agent:
        return memory.kind is not Kind.TODO and _is_meant_to_last(memory)
    text = own_words(memory.what)
    if memory.kind is Kind.TODO:
        return not _CLOSED.search(text)
    if memory.kind in (Kind.FACT, Kind.OUTCOME) and is_task(text):
        return False
    return not any(one.search(text) for one in (_FAILED_RUN, _OF_THE_RUN, _PASSES, _PROPOSES))


def is_task(text: str) -> bool:
    """Whether what an agent says is or was done is worded as an order: a line of its plan."""
    last = text.rpartition(": ")[2]
    return is_request(last) and not _GIVES_COMMAND.match(last)


def state(
    reader: Reader,
    memory: Memory,
    ended: EndedWords,
    by_person: dict[str, bool],
    *,
    is_useful: bool = False,
) -> KnownStatement | None:
    """A statement with its turn, if it holds and a person began its session, or somebody called it
    useful. `by_person` keeps what is known of sessions from one call to the next."""
    return next(_stated(reader, [memory], ended, by_person, is_useful), None)


def tells_cause(memory: Memory) -> bool:
    """Whether a statement tells the cause of something."""
    return _tells_cause(own_words(memory.what))


def tells_failure(memory: Memory) -> bool:
    """Whether an agent's statement tells what was broken, or why: it may be mended since."""
    is_finding = memory.by_agent and memory.kind in (Kind.LESSON, Kind.FACT)
    text = own_words(memory.what)
    return is_finding and (_tells_cause(text) or _FAILS.search(text) is not None)


def tells_fault(memory: Memory) -> bool:
    """Whether an agent's statement says what is or was broken, or names the cause of it."""
    text = own_words(memory.what)
    is_finding = memory.by_agent and memory.kind in (Kind.LESSON, Kind.FACT)
    fails = describes_problem(text) or _DOES_NOT.search(text) is not None
    return is_finding and (_tells_cause(text) or fails)


def _tells_cause(text: str) -> bool:
    is_reason = _REASON.search(text) and _FAILS.search(text) and not _OF_THE_RUN.search(text)
    return bool(is_reason) or _names_cause(text)


def _names_cause(text: str) -> bool:
    """Whether a text calls something the cause; a mere reason is often one of the moment."""
    return bool(_CAUSE.search(text)) and not _OF_THE_RUN.search(text)


def open_tasks(reader: Reader, bank: str, ended: EndedWords) -> list[KnownStatement]:
    """What agents left open in the latest sessions, the latest first. What a person says is to be
    done is a request: it is listed with the work."""
    latest = latest_sessions(reader, bank)
    found = reader.memories.retained(bank, limit=_LIMITS.read, kind=Kind.TODO, only_open=True)
    left = [m for m in found if m.by_agent and m.status not in ENDED_STATUSES and _stands_alone(m)]
    return _distinct(one for one in _stated(reader, left, ended, {}) if is_open(one, latest))


def latest_sessions(reader: Reader, bank: str) -> frozenset[str]:
    """The sessions of which open tasks may still be open."""
    return frozenset(one.id for one in reader.sessions.latest(bank, _LIMITS.open_in_sessions))


def is_open(one: KnownStatement, latest: Collection[str]) -> bool:
    """Whether a task of one of the latest sessions is said to be open."""
    return one.turn.session in latest and one.turn.role is not Role.USER and _is_left_open(one)


def _is_left_open(one: KnownStatement) -> bool:
    if one.turn.tool is not None and one.turn.tool.name in _TASK_TOOLS:
        return True
    text = own_words(one.memory.what)
    if _CLOSED.search(text) or _OF_THE_RUN.search(text):
        return False
    return bool(_OPEN.search(text)) or (one.memory.worth or 0.0) >= _LIMITS.high_worth


def _stated(
    reader: Reader,
    memories: Iterable[Memory],
    ended: EndedWords,
    by_person: dict[str, bool],
    are_useful: bool = False,
) -> Iterator[KnownStatement]:
    """The statements that hold, in their order, each with its turn. What was pasted, and sessions
    of agents that work for another, are left out, unless somebody called it useful."""
    for memory in memories:
        turn = _stating_turn(reader, memory)
        if turn is None or (_is_pasted(turn, _is_firm(memory)) and not are_useful):
            continue
        if ended.find(memory.what, memory.when, turn.session, turn.seq):
            continue
        if are_useful:
            yield KnownStatement(memory, turn)
            continue
        if turn.session not in by_person:
            by_person[turn.session] = _is_by_person(reader, memory.bank, turn.session)
        if by_person[turn.session]:
            yield KnownStatement(memory, turn)


def _is_by_person(reader: Reader, bank: str, session: str) -> bool:
    """Whether a person began a session, rather than another agent."""
    known = reader.sessions.get(bank, session)
    first = reader.turns.of_session(bank, session, 1, 1)
    if known is None or known.parent:
        return False
    return not any(turn.speaker or is_history(turn.text) for turn in first)


def narrates(text: str) -> bool:
    """Whether a text says what the speaker is about to do."""
    return _NARRATES.search(text) is not None


def is_of_a_program(text: str) -> bool:
    """Whether a text is what a program wrote, such as JSON or an entry of a log."""
    return _OF_A_PROGRAM.match(text) is not None


def names_work(title: str) -> bool:
    """Whether the title of some work says what it was: not a yes, a commit, a bare address or name,
    or a few words."""
    bare = _COMMIT.sub("", title).strip()
    says_little = len(content_stems(bare)) < _LIMITS.min_stems and len(bare) < _LIMITS.min_title
    return not (is_go_ahead(title) or _BARE.match(bare) or says_little)


def _stands_alone(memory: Memory) -> bool:
    text = own_words(memory.what)
    if not _LIMITS.min_characters <= len(text) <= _LIMITS.max_characters:
        return False
    if text.endswith(("…", ":")) or text.startswith("http") or _BARE.match(text):
        return False
    if is_of_a_program(text):
        return False
    if _REFERS_BACK.match(text) or narrates(text):
        return False
    first = next(iter(sentences(text)), "")
    by_person = not memory.by_agent
    return states(first, by_person) and not (by_person and is_request(text))


def _stating_turn(reader: Reader, memory: Memory) -> Turn | None:
    found = (find_by_uri(reader, memory.bank, name) for name in memory.evidence_for)
    return next((record for record in found if isinstance(record, Turn)), None)


def _is_pasted(turn: Turn, lays_down: bool) -> bool:
    if turn.role is not Role.USER or turn.speaker:
        return False
    if lays_down and not _COMPOSED.search(turn.text):
        return len(turn.text) > _LIMITS.laid_down_characters
    return len(turn.text) > _LIMITS.typed_characters


def _is_meant_to_last(memory: Memory) -> bool:
    """Whether what a person said may be meant to last."""
    text = own_words(memory.what)
    if _WISHES.search(text) or _GOES_ON.match(text) or is_for_the_moment(text):
        return False
    return is_laid_down(memory) or (memory.worth or 0.0) >= _LIMITS.high_worth


def _is_firm(memory: Memory) -> bool:
    """Whether a person lays something down, or settles something that is surely wanted later."""
    is_wanted = (memory.worth or 0.0) >= _LIMITS.firm_worth
    return is_laid_down(memory) or (is_wanted and memory.kind in SETTLING_KINDS)


def is_laid_down(memory: Memory) -> bool:
    """Whether a person says that something is to last. "Every alert comes twice" is a remark."""
    settles = not memory.by_agent and memory.kind in SETTLING_KINDS
    return settles and bool(_LASTS.search(own_words(memory.what)))


def _distinct(found: Iterable[KnownStatement]) -> list[KnownStatement]:
    """Without those that say the same as one before, and with a few of each session."""
    kept: list[KnownStatement] = []
    said: list[StatementFeatures] = []
    by_session: Counter[str] = Counter()
    for one in found:
        own = statement_features(own_words(one.memory.what))
        is_full = by_session[one.turn.session] == _LIMITS.per_session
        if not is_full and not any(says_the_same(own, other) for other in said):
            by_session[one.turn.session] += 1
            kept.append(one)
            said.append(own)
    return kept
