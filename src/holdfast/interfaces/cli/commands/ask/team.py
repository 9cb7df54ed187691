"""`holdfast team`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.app.search.hit_view import endings
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.answer import print_answer
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, short
from holdfast.language import truncate
from holdfast.model.to_json import to_jsonable

HELP = """\
Answer a question from commits, pull requests, issues, session digests and rules. Also lists
the supporting records and the people to ask.

Some questions are answered from git directly: who knows or reviewed X, who decided on X,
when X was introduced or last changed, what changed in FILE since DATE, whether X was
ever reverted, and why. `holdfast ask` does this too.

--json prints the fields of `ask --json`, with "evidence" and "people"."""

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
        for line in endings(hit):
            screen.item(f"  {line}")
    if found.people:
        screen.line()
        names = ", ".join(f"{p.name} ({p.share:.0%})" for p in found.people)
        screen.item(f"ask: {names}")
