"""`holdfast team`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.answer import print_answer
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, short
from holdfast.language import truncate
from holdfast.model.to_json import to_jsonable

HELP = """\
What the team knows of a question: out of commits, pulls and issues, what sessions came
to, and rules. It comes with the records that bear on it and the people to ask.

Some questions have ways of their own, by what git knows: who knows or reviewed X, who
decided on X, when X was introduced or last changed, what changed in FILE since DATE,
whether X was ever reverted, and why. `holdfast ask` knows these ways too.

--json prints what `ask --json` does, and "evidence" and "people" beside."""

EXAMPLES = """\
  holdfast team "was the tide cache ever reverted"
  holdfast team what changed in src/billing/ since March --limit 20
  holdfast team "who knows about payments" --json"""


def configure(parser: Parser) -> None:
    parser.add_argument("question", nargs="+", metavar="QUESTION", help="in plain words")
    options.add_limit(parser, 10)
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    question = options.words(arguments.question, "question")
    with open_memory(create=False) as memory:
        found = memory.answers.team_query(question, arguments.bank, arguments.limit)
    if arguments.json:
        more = {"evidence": found.evidence, "people": found.people}
        return screen.json({**to_jsonable(found.answer), **more})
    print_answer(screen, found.answer)
    if found.evidence:
        screen.line()
    for hit in found.evidence:
        head = screen.paint(short(hit.uri), "cyan")
        screen.item(f"{day(hit.time)}  {head}  {truncate(hit.text, 120)}")
    if found.people:
        screen.line()
        names = ", ".join(f"{p.name} ({p.share:.0%})" for p in found.people)
        screen.item(f"ask: {names}")
