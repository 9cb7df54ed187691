"""`holdfast ask`."""

from __future__ import annotations

import sys
from typing import Any

from holdfast.app.answers.ask import AskOptions
from holdfast.app.answers.research_sessions import Investigation
from holdfast.app.memory import open_memory
from holdfast.errors import CancelledError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.answer import print_answer, step_line
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen
from holdfast.model.knowledge import Kind
from holdfast.model.query import Answer, Layer
from holdfast.recall.core.plan import Budget
from holdfast.research.journal_lines import event_line
from holdfast.settings import load_settings

HELP = """\
Answer a question from memory. The answer is made of sentences that were said or
recorded, each with a citation that `holdfast show` opens.

Confidence says how often such answers contain what was asked for, as measured on
questions with known answers: high (9 of 10; at least two records say so), medium
(2 of 3), low, or none: then Holdfast abstains.

If no single record covers the question, Holdfast follows names and sessions of what it
found, for a few rounds (--budget). Linked records that together cover the question are
an answer too; the answer says how they are linked.

Every question has a session, which `holdfast research` lists, follows and stops."""

EXAMPLES = """\
  holdfast ask "Why did we drop the Redis cache?"
  holdfast ask what broke the nightly import --json
  holdfast ask "who decided on SQLite" --bank all
  holdfast ask "where does the mailer that Maria wrote run" --budget high
  holdfast ask "why did we drop Redis" --stream
  holdfast ask "and who reviewed it?" --session mem-019a…
  holdfast ask "which package manager do we use" --as-of 2026-03-01
  holdfast ask "what did we learn about the upload" --kind lesson"""


def configure(parser: Parser) -> None:
    parser.add_argument("question", nargs="+", metavar="QUESTION", help="in plain words")
    parser.choice(
        "--budget",
        Budget,
        "low: one search by words; mid: up to 3 more rounds and 2 s; high: up to 4 "
        "rounds and 5 s, until two records agree (default: mid)",
        Budget.MID,
    )
    parser.flag("--by-rules", "do not use the configured model")
    parser.option(
        "--session",
        "mem-…",
        "continue an earlier session: `it` and `that` refer to its subject",
    )
    parser.flag(
        "--stream",
        "print each step as it happens; with --json, one line of JSON per step",
    )
    options.add(parser, "model", "layer", "as_of", "kind", "providers", "plugin_dir", "local")
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    question = options.words(arguments.question, "question")
    settings = options.with_plugins(load_settings(), arguments)
    with open_memory(options.with_model(settings, arguments, "agent"), create=False) as memory:
        ask_options = AskOptions(
            question,
            arguments.bank,
            tuple(Layer(name) for name in arguments.layer),
            quickly=True,
            as_of=options.as_of(arguments),
            budget=Budget(arguments.budget),
            providers=arguments.providers,
            model=not arguments.by_rules,
            remotes=not arguments.local,
            kinds=tuple(Kind(name) for name in arguments.kind),
        )
        research = memory.answers.investigate(ask_options, arguments.session)
        if arguments.stream:
            answer = _stream_steps(screen, research, arguments.json)
        else:
            answer = research.answer()
    if arguments.json:
        if not arguments.stream:
            screen.json(answer)
        return
    print_answer(screen, answer)
    if arguments.stream or arguments.session or screen.is_terminal:
        line = f"session: {answer.session_id} (continue with --session {answer.session_id})"
        screen.line(line, "dim")


def _stream_steps(screen: Screen, research: Investigation, as_json: bool) -> Answer:
    """Print each step while it is taken, as lines of JSON or as text on standard error, and return
    the answer. Raises CancelledError if the research ended without one."""
    errors = Screen(sys.stderr)
    answer: Answer | None = None
    if not as_json:
        errors.line(f"session {research.id}")
    for event in research:
        answer = event.answer or answer
        if as_json:
            line: dict[str, Any] = event_line(event._replace(answer=None), research.now(), str)
            if event.answer:
                line["answer"] = event.answer
            screen.json_line({"session_id": research.id, **line})
        else:
            errors.line(step_line(event.stage.value, event.round, event.text), "dim")
    if answer is None:
        raise CancelledError()
    return answer
