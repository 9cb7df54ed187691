"""`holdfast ask`."""

from __future__ import annotations

import argparse
import sys

from holdfast.app.answers.ask import AskOptions
from holdfast.app.answers.research_sessions import Investigation
from holdfast.app.memory import open_memory
from holdfast.errors import CancelledError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.screen import Screen, day
from holdfast.model.query import Answer, Layer
from holdfast.model.trust import Trust
from holdfast.recall.core.plan import Budget
from holdfast.research.journal_lines import event_line
from holdfast.settings import load_settings

HELP = """\
Answer a question from memory. The answer is made of sentences that were said or
recorded, each with a citation that `holdfast show` opens.

Confidence says how much of the question the evidence covers, not whether it is true:
high (one record covers 80% of it and another 60%), medium (60%), low, or none: then
Holdfast abstains.

Where no single record says nearly all of it, the evidence tells where to look next,
for a few rounds (--budget). Records that are linked and together cover the question
are an answer too, and it says by what they are linked.

Every question has a session, which `holdfast research` lists, follows and stops."""

EXAMPLES = """\
  holdfast ask "Why did we drop the Redis cache?"
  holdfast ask what broke the nightly import --json
  holdfast ask "who decided on SQLite" --bank all
  holdfast ask "where does the mailer that Maria wrote run" --budget high
  holdfast ask "why did we drop Redis" --stream
  holdfast ask "and who reviewed it?" --session mem-019a…
  holdfast ask "which package manager do we use" --as-of 2026-03-01"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("question", nargs="+", metavar="QUESTION", help="in plain words")
    parser.add_argument(
        "--budget",
        choices=[budget.value for budget in Budget],
        default=Budget.MID.value,
        help="low: one look by words; mid: up to 3 rounds and 2 s more; high: 4 rounds and 5 s, "
        "until two records agree (default: mid)",
    )
    parser.add_argument(
        "--by-rules",
        action="store_true",
        help="do not ask a model, though the settings name one",
    )
    parser.add_argument(
        "--session",
        default="",
        metavar="mem-…",
        help="go on with an earlier session: `it` and `that` mean what it was about",
    )
    parser.add_argument(
        "--stream",
        action="store_true",
        help="tell each step as it is taken: beside the answer, or with --json as lines of JSON",
    )
    options.add_layer(parser)
    options.add_as_of(parser)
    options.add_providers(parser)
    options.add_local(parser)
    options.add_bank(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    question = options.words(arguments.question, "question")
    screen = Screen()
    with open_memory(options.with_plugins(load_settings(), arguments)) as memory:
        wish = AskOptions(
            question,
            arguments.bank,
            tuple(Layer(name) for name in arguments.layer),
            quickly=True,
            as_of=options.as_of(arguments),
            budget=Budget(arguments.budget),
            providers=arguments.providers,
            model=not arguments.by_rules,
            remotes=not arguments.local,
        )
        asked = memory.answers.investigate(wish, arguments.session)
        answer = _streamed(screen, asked, arguments) if arguments.stream else asked.answer()
    if arguments.json:
        if not arguments.stream:
            screen.json(answer)
        return 0
    show_answer(screen, answer)
    if arguments.stream or arguments.session or screen.is_terminal:
        line = f"session: {answer.session_id} (ask on with --session {answer.session_id})"
        screen.line(screen.paint(line, "dim"))
    return 0


def _streamed(screen: Screen, asked: Investigation, arguments: argparse.Namespace) -> Answer:
    """The answer, with each step told as it is taken: in words beside, or as lines of JSON."""
    beside = Screen(sys.stderr)
    answer: Answer | None = None
    if not arguments.json:
        beside.line(f"session {asked.id}")
    for event in asked:
        answer = event.answer or answer
        if arguments.json:
            line = event_line(event._replace(answer=None), asked.now(), str)
            told_now = {"answer": event.answer} if event.answer else {}
            screen.json_line({"session_id": asked.id, **line, **told_now})
        else:
            beside.line(beside.paint(told(event.stage.value, event.round, event.text), "dim"))
    if answer is None:
        raise CancelledError()
    return answer


def told(stage: str, round: int, text: str) -> str:
    """One step in a line."""
    return f"  {stage}{f' ({round})' if round > 1 else ''}: {text}"


def show_answer(screen: Screen, answer: Answer) -> None:
    """An answer for people."""
    for line in answer.answer.split("\n"):
        screen.wrap(screen.paint(line, "bold"), "", "  ")
    if answer.citations:
        screen.line()
    for citation in answer.citations:
        outside = " · external" if citation.trust is Trust.EXTERNAL else ""
        head = f"[{citation.number}] {citation.layer.value} · {day(citation.time)}{outside}"
        screen.line(f"{head}  {screen.paint(citation.uri, 'cyan')}")
        screen.wrap(screen.paint(citation.excerpt, "dim"), "      ")
    if not answer.abstained:
        screen.line()
        screen.line(f"confidence: {answer.confidence.value}")
    for caveat in answer.caveats:
        screen.wrap(screen.paint(f"note: {caveat}", "dim"), "", "      ")
    if answer.cost.tokens:
        cost = answer.cost
        money = "at an unknown price" if cost.usd is None else f"${cost.usd:.4f}"
        screen.line(screen.paint(f"by {cost.model}: {cost.tokens:,} tokens, {money}", "dim"))
