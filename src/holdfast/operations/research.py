"""Research: opinions that are formed from the evidence, and the sessions in which questions are
answered."""

from __future__ import annotations

from typing import Annotated, Any

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.language import truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.opinions import Reflection
from holdfast.operations.operation import OWNER, Arg, Call, Work, operation
from holdfast.operations.output.answer import print_step
from holdfast.operations.paging import paginate
from holdfast.operations.parameters import MAX_RESEARCH_ID, Cursor, Limit, OneBank, Question
from holdfast.operations.screen import Screen, day, minute, number
from holdfast.principal import Level
from holdfast.research.session_journal import SessionState, SessionSummary

ResearchId = Annotated[
    str,
    Arg(
        "the id of a session (mem-…), or the start of it",
        place="ID",
        most=MAX_RESEARCH_ID,
        example="mem-0190f3a2b4c1a2b3c4d",
    ),
]
STATES = {
    SessionState.RUNNING: "at work",
    SessionState.CRASHED: "its process died before the end",
    SessionState.CANCELLED: "cancelled",
    SessionState.FAILED: "failed",
    SessionState.DONE: "done",
}
# A session is recognised by the start of its first question: at most two lines.
_MAX_QUESTION_CHARACTERS = 160


def _print_reflection(screen: Screen, reflection: Reflection, **_: object) -> None:
    for line in reflection.answer.split("\n"):
        screen.wrap(line, "", "  " if line.startswith("- ") else "")
    if reflection.citations:
        screen.line()
    for one in reflection.citations:
        head = f"[{one.number}] {screen.paint(one.uri, 'cyan')} {day(one.time)}: {one.excerpt}"
        screen.wrap(head, "", "    ")
    for caveat in reflection.caveats:
        screen.wrap(f"Note: {caveat}")
    if reflection.author:
        screen.line(f"Confidence: {reflection.confidence:.2f}")
    for name in reflection.stored:
        screen.line(f"Kept as an opinion: {screen.paint(name, 'cyan')}")


_REFLECT_EXAMPLES = """\
  holdfast reflect "Is the importer reliable?"
  holdfast reflect "What do we think of the build?" --no-store --json"""


@operation(
    "reflect",
    Level.WRITE,
    work=Work.RUN_WITH_MODEL,
    text=_print_reflection,
    examples=_REFLECT_EXAMPLES,
    options=("model",),
)
def reflect(
    memory: Holdfast,
    query: Question,
    store: Annotated[bool, Arg("store the opinions that are formed")] = True,
    bank: OneBank = "",
    call: Call = OWNER,
) -> Reflection:
    """Form an opinion about a question from the evidence

    Searches, and has a model weigh the evidence by the disposition of the bank, with a
    confidence and citations; what the records do not support is dropped. Without a model
    service (`[models]` in the settings) the evidence is listed by layer, and nothing is
    inferred from it.

    What a model believes is stored as opinions, which later reflections strengthen or
    weaken, unless `store` is false."""
    call.progress("Weighing the evidence")
    return memory.opinions.reflect(query, bank or None, store)


class ResearchList(NamedTuple):
    """Research sessions, the latest first."""

    sessions: tuple[SessionSummary, ...]
    cursor: str | None


def _print_research_list(screen: Screen, found: ResearchList, **_: object) -> None:
    for one in found.sessions:
        state = STATES[one.state] if one.state is not SessionState.DONE else one.confidence
        screen.line(f"{screen.paint(one.id, 'cyan')}  {minute(one.last)}  {state}")
        question = truncate(one.questions[0], _MAX_QUESTION_CHARACTERS) if one.questions else ""
        more = len(one.questions) - 1
        screen.wrap(question + (f" (+{number(more, 'more')})" if more > 0 else ""), "  ")
    if not found.sessions:
        screen.line("Nothing was asked yet.")


_RESEARCH_EXAMPLES = """\
  holdfast research                          the latest sessions
  holdfast research show mem-019a            one, with its questions and answers
  holdfast research attach mem-019a          follow it until it ends
  holdfast research cancel mem-019a
  holdfast research useful mem-019a          its answer was useful
  holdfast research remove mem-019a"""


@operation(
    "research list",
    Level.READ,
    rest="GET /research",
    text=_print_research_list,
    examples=_RESEARCH_EXAMPLES,
)
def research_list(memory: Holdfast, limit: Limit = 20, cursor: Cursor = "") -> ResearchList:
    """List research sessions, the latest first

    Every question has a session (mem-…) that records how it is answered. A session that
    still runs can be followed and stopped, and one that ended be read and continued.

    The latest 200 of the last 30 days are kept, redacted, readable by you alone. Records
    forgotten since are not shown. `forget` with purge and `scrub` delete all sessions."""
    sessions = sessions_of(memory.settings)
    page, more = paginate(sessions.ids(), lambda id: (id,), limit, cursor)
    return ResearchList(tuple(sessions.summary(id) for id in page), more)


class ResearchDetails(NamedTuple):
    """A research session with the lines of its journal: the questions, steps and answers."""

    id: str
    state: SessionState
    questions: tuple[str, ...]
    began: str
    last: str
    confidence: str
    lines: tuple[dict[str, Any], ...]


def _print_research(screen: Screen, session: ResearchDetails, **_: object) -> None:
    screen.line(f"{session.id}  {minute(session.began)}  {STATES[session.state]}")
    for line in session.lines:
        print_step(screen, line)


@operation("research show", Level.READ, rest="GET /research/{id}", text=_print_research)
def research_show(memory: Holdfast, id: ResearchId) -> ResearchDetails:
    """Open a research session, with its questions, steps and answers

    Without the text of records that are hidden now."""
    session, lines = memory.answers.research_session(id)
    return ResearchDetails(*session, lines=tuple(lines))


class ResearchCancelled(NamedTuple):
    """Whether a process worked on a session, which it will stop."""

    session_id: str
    cancel: bool


def _print_cancelled(screen: Screen, done: ResearchCancelled, **_: object) -> None:
    text = f"{done.session_id} will stop."
    screen.line(text if done.cancel else f"No process works on {done.session_id}.")


# Not queued behind the search that it is to stop.
@operation(
    "research cancel",
    Level.READ,
    rest="POST /research/{id}/cancel",
    work=Work.READ,
    text=_print_cancelled,
)
def research_cancel(memory: Holdfast, id: ResearchId) -> ResearchCancelled:
    """Stop a question that is being answered

    The result says whether it was running. It stops after the step that it is at."""
    sessions = sessions_of(memory.settings)
    name = sessions.find(id)
    return ResearchCancelled(name, sessions.cancel(name))


class ResearchRemoved(NamedTuple):
    """The session that was deleted."""

    session_id: str
    remove: bool = True


def _print_removed(screen: Screen, done: ResearchRemoved, **_: object) -> None:
    screen.line(f"{done.session_id} is removed.")


@operation(
    "research remove",
    Level.READ,
    rest="DELETE /research/{id}",
    work=Work.READ,
    text=_print_removed,
)
def research_remove(memory: Holdfast, id: ResearchId) -> ResearchRemoved:
    """Delete a research session

    Its questions and steps are gone for good. One that is running must be cancelled first."""
    sessions = sessions_of(memory.settings)
    name = sessions.find(id)
    if sessions.state(name) is SessionState.RUNNING:
        raise InputError(f"{name} is running.", "Cancel it first.")
    sessions.remove(name)
    return ResearchRemoved(name)


class ResearchUseful(NamedTuple):
    """How many records were confirmed, because the last answer of a session cites them."""

    session_id: str
    records: int


def _print_useful(screen: Screen, done: ResearchUseful, **_: object) -> None:
    screen.line(f"Confirmed {number(done.records, 'record')} that the answer cites.")


@operation("research useful", Level.WRITE, rest="POST /research/{id}/useful", text=_print_useful)
def research_useful(memory: Holdfast, id: ResearchId, call: Call = OWNER) -> ResearchUseful:
    """Mark an answer as useful

    Confirms the records that the last answer of the session cites. Doing it twice counts once."""
    name = sessions_of(memory.settings).find(id)
    return ResearchUseful(name, memory.answers.mark_useful(name, call.who))
