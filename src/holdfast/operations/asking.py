"""Asking a question."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, cast

from holdfast.app.answers.ask import AskOptions
from holdfast.app.answers.research_sessions import Investigation
from holdfast.app.memory import Holdfast
from holdfast.errors import CancelledError, NotFoundError
from holdfast.model.query import Answer
from holdfast.model.research import ResearchEvent
from holdfast.operations.operation import OWNER, Arg, Call, Work, operation
from holdfast.operations.output.answer import print_answer, step_line
from holdfast.operations.parameters import (
    MAX_RESEARCH_ID,
    AsOf,
    Bank,
    Kinds,
    Layers,
    Local,
    Providers,
    Question,
)
from holdfast.operations.screen import Screen
from holdfast.principal import Level
from holdfast.recall.core.plan import Budget
from holdfast.research.journal_lines import event_line

if TYPE_CHECKING:
    from collections.abc import Generator

    from holdfast.operations.agents.calls import Lookups
    from holdfast.settings import Settings


def _print_ask(
    screen: Screen, answer: Answer, *, session: str = "", stream: bool = False, **_: object
) -> None:
    print_answer(screen, answer)
    if answer.session_id and (stream or session or screen.is_terminal):
        line = f"session: {answer.session_id} (continue with --session {answer.session_id})"
        screen.line(line, "dim")


_ASK_EXAMPLES = """\
  holdfast ask "Why did we drop the Redis cache?"
  holdfast ask what broke the nightly import --json
  holdfast ask "who decided on SQLite" --bank all
  holdfast ask "where does the mailer that Maria wrote run" --budget high
  holdfast ask "why did we drop Redis" --stream
  holdfast ask "and who reviewed it?" --session mem-019a…
  holdfast ask "which package manager do we use" --as-of 2026-03-01
  holdfast ask "what did we learn about the upload" --kind lesson"""


@operation(
    "ask",
    Level.READ,
    rest="POST /ask",
    work=Work.SEARCH_WITH_MODEL,
    text=_print_ask,
    examples=_ASK_EXAMPLES,
    options=("model", "plugin_dir"),
)
def ask(
    memory: Holdfast,
    question: Question,
    budget: Annotated[
        Budget,
        Arg(
            "low: one search by words; mid: up to 3 more rounds and 2 s; high: up to 4 rounds and "
            "5 s, until two records agree (default: mid)"
        ),
    ] = Budget.MID,
    by_rules: Annotated[bool, Arg("do not use the configured model")] = False,
    session: Annotated[
        str,
        Arg(
            "continue an earlier session: `it` and `that` refer to its subject",
            metavar="mem-…",
            most=MAX_RESEARCH_ID,
        ),
    ] = "",
    stream: Annotated[
        bool,
        Arg(
            "print each step as it happens; with --json, one line of JSON per step",
            on_screen=True,
        ),
    ] = False,
    layer: Layers = (),
    as_of: AsOf = "",
    kind: Kinds = (),
    providers: Providers = False,
    local: Local = False,
    bank: Bank = "",
    call: Call = OWNER,
) -> Answer:
    """Answer a question from memory, with citations

    The answer is made of sentences that were said or recorded, each with a citation that
    `show` opens.

    Confidence says how often such answers contain what was asked for, as measured on
    questions with known answers: high (9 of 10; at least two records say so), medium
    (2 of 3), low, or none: then Holdfast abstains.

    If no single record covers the question, Holdfast follows names and sessions of what it
    found, for a few rounds (`budget`). Linked records that together cover the question are
    an answer too; the answer says how they are linked.

    Every question has a session, which `research` lists and stops, and which a further
    question can continue."""
    given = {"budget": budget, "by_rules": by_rules, "layer": layer, "as_of": as_of, "kind": kind}
    given |= {"question": question, "providers": providers, "local": local, "bank": bank}
    return _answer(memory.answers.investigate(ask_options(given, call), session), call)


def ask_options(given: Mapping[str, Any], call: Call) -> AskOptions:
    """The arguments of `ask`, but for its session, as an investigation takes them."""
    return AskOptions(
        given["question"],
        given.get("bank", ""),
        given.get("layer", ()),
        quickly=call.quick,
        as_of=given.get("as_of", ""),
        budget=given.get("budget", Budget.MID),
        providers=given.get("providers", False),
        lookups=None if given.get("by_rules", False) else _open_lookups,
        remotes=call.remotes and not given.get("local", False),
        kinds=given.get("kind", ()),
    )


def _open_lookups(settings: Settings, bank: str) -> Lookups:
    from holdfast.operations.agents.calls import Lookups

    return Lookups(settings, bank)


def _answer(research: Investigation, call: Call) -> Answer:
    """The answer of an investigation, whose session and steps the caller is told of. Where the
    call is cancelled, so is the session; then `CancelledError` is raised."""
    cancelled = Event()

    def cancel() -> None:
        cancelled.set()
        # Before the first step it has no journal yet, and nowhere does if none can be written.
        with suppress(NotFoundError):
            research.sessions.cancel(research.id)

    call.on_cancel(cancel)
    call.progress(f"Session {research.id}")
    with closing(cast("Generator[ResearchEvent]", iter(research))) as events:
        for event in events:
            line = event_line(event._replace(answer=None), research.now(), str)
            step: dict[str, Any] = {"session_id": research.id, **line}
            call.on_step(step | ({"answer": event.answer} if event.answer else {}))
            call.progress(step_line(event.stage.value, event.round, event.text))
            if event.answer is not None:
                return event.answer
            if cancelled.is_set():
                break
    raise CancelledError()
