"""`holdfast ask`."""

from __future__ import annotations

import argparse

from holdfast.app.reading import open_reading
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.screen import Screen, day, plain
from holdfast.model.query import Answer, Layer

HELP = """\
Answer a question from memory. The answer is made of sentences that were said or
recorded, each with a citation that `holdfast show` opens.

Confidence says how much of the question the evidence covers, not whether it is true:
high (one record covers 80% of it and another 60%), medium (60%), low, or none: then
Holdfast abstains."""

EXAMPLES = """\
  holdfast ask "Why did we drop the Redis cache?"
  holdfast ask what broke the nightly import --json
  holdfast ask "who decided on SQLite" --bank all
  holdfast ask "which package manager do we use" --as-of 2026-03-01"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("question", nargs="+", metavar="QUESTION", help="in plain words")
    options.add_layer(parser)
    options.add_as_of(parser)
    options.add_bank(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    question = options.words(arguments.question, "question")
    screen = Screen()
    with open_reading() as memory:
        answer = memory.ask(
            question,
            arguments.bank,
            [Layer(n) for n in arguments.layer],
            quickly=True,
            as_of=options.as_of(arguments),
        )
    if arguments.json:
        whole = plain(answer)
        whole["cost"] = {"model": None, "tokens": 0, "usd": 0}
        screen.json(whole)
    else:
        _print(screen, answer)
    return 0


def _print(screen: Screen, answer: Answer) -> None:
    for line in answer.answer.split("\n"):
        screen.wrap(screen.paint(line, "bold"), "", "  ")
    if answer.citations:
        screen.line()
    for citation in answer.citations:
        head = f"[{citation.number}] {citation.layer.value} · {day(citation.time)}"
        screen.line(f"{head}  {screen.paint(citation.uri, 'cyan')}")
        screen.wrap(screen.paint(citation.excerpt, "dim"), "      ")
    if not answer.abstained:
        screen.line()
        screen.line(f"confidence: {answer.confidence.value}")
    for caveat in answer.caveats:
        screen.wrap(screen.paint(f"note: {caveat}", "dim"), "", "      ")
