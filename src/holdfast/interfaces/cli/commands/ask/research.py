"""`holdfast research`."""

from __future__ import annotations

from typing import Any

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.memory import open_memory
from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.answer import print_answer, step_line
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, minute, number
from holdfast.language import truncate
from holdfast.model.to_json import to_jsonable
from holdfast.research.journal_lines import answer_from_json, mask_removed_records
from holdfast.research.session_journal import (
    ASKED,
    MAX_AGE_DAYS,
    MAX_SESSIONS,
    ResearchSessions,
    SessionState,
)
from holdfast.settings import load_settings

HELP = f"""\
Every question has a session (mem-…) that records how it is answered. List the sessions,
follow one that is still running, stop it, or read its result.
`holdfast ask --session mem-…` continues one.

The latest {MAX_SESSIONS} of the last {MAX_AGE_DAYS} days are kept, redacted, readable by you alone.
Records forgotten since are not shown. `forget --purge` and `scrub` delete all sessions.

--json prints one document; with `attach`, one line per step."""

EXAMPLES = """\
  holdfast research                          the latest sessions
  holdfast research show mem-019a            one, with its questions and answers
  holdfast research attach mem-019a          follow it until it ends
  holdfast research cancel mem-019a
  holdfast research remove mem-019a"""

ACTIONS = ("list", "show", "attach", "cancel", "remove")
# A session is recognised by the start of its first question: at most two lines.
_MAX_QUESTION_CHARACTERS = 160
_STATES = {
    SessionState.RUNNING: "at work",
    SessionState.CRASHED: "its process died before the end",
    SessionState.CANCELLED: "cancelled",
    SessionState.FAILED: "failed",
    SessionState.DONE: "done",
}


def configure(parser: Parser) -> None:
    options.add_action(parser, ACTIONS, "list")
    parser.add_argument("id", nargs="?", default="", metavar="mem-…", help="which session")
    options.add_limit(parser, 20)
    parser.option("--after", "N", "with attach: skip this many lines", 0, options.count)
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> int | None:
    sessions = sessions_of(load_settings())
    if arguments.action == "list":
        return _list(screen, sessions, arguments)
    if not arguments.id:
        raise InputError("Which session?", "`holdfast research list` lists them.")
    if arguments.action == "show":
        return _show(screen, arguments)
    if arguments.action == "attach":
        return _attach(screen, sessions, arguments)
    id, done = sessions.find(arguments.id), True
    if arguments.action == "remove":
        sessions.remove(id)
        result = f"{id} is removed."
    else:
        done = sessions.cancel(id)
        result = f"{id} will stop." if done else f"No process works on {id}."
    screen.report(arguments.json, {"session_id": id, arguments.action: done}, result)
    return 0


def _list(screen: Screen, sessions: ResearchSessions, arguments: Arguments) -> None:
    found = [sessions.summary(id) for id in sessions.ids()[: arguments.limit]]
    if arguments.json:
        return screen.json({"sessions": found})
    for one in found:
        state = _STATES[one.state] if one.state is not SessionState.DONE else one.confidence
        screen.line(f"{screen.paint(one.id, 'cyan')}  {minute(one.last)}  {state}")
        question = truncate(one.questions[0], _MAX_QUESTION_CHARACTERS) if one.questions else ""
        more = len(one.questions) - 1
        screen.wrap(question + (f" (+{number(more, 'more')})" if more > 0 else ""), "  ")
    if not found:
        screen.line("Nothing was asked yet.")


def _show(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        session, lines = memory.answers.research_session(arguments.id)
    if arguments.json:
        return screen.json({**to_jsonable(session), "lines": lines})
    screen.line(f"{session.id}  {minute(session.began)}  {_STATES[session.state]}")
    for line in lines:
        _print_step(screen, line)


def _print_step(screen: Screen, line: dict[str, Any]) -> None:
    if line.get("stage") == ASKED:
        screen.line()
        screen.wrap(screen.paint(f"? {line.get('question', '')}", "bold"))
        return
    text = f"{line.get('text', '')} {line.get('query', '')}".strip()
    step = step_line(str(line.get("stage", "")), int(line.get("round", 1)), text)
    screen.wrap(screen.paint(step, "dim"))
    if line.get("answer"):
        print_answer(screen, answer_from_json(line["answer"]))


def _attach(screen: Screen, sessions: ResearchSessions, arguments: Arguments) -> int:
    id = sessions.find(arguments.id)
    with open_memory(create=False) as memory:
        for line in sessions.tail(id, arguments.after):
            (masked,) = mask_removed_records(memory.reader, [line])
            if arguments.json:
                screen.json_line({"session_id": id, **masked})
            else:
                _print_step(screen, masked)
    state = sessions.state(id)
    if not arguments.json:
        screen.line(_STATES[state], "dim")
    return 0 if state is not SessionState.CRASHED else 1
