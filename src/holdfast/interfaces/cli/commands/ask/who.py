"""`holdfast who`."""

from __future__ import annotations

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, number, short
from holdfast.research.history.expertise import Expert

HELP = """\
List who knows about a file, a folder or a topic, by their commits and reviews. The weight of
a commit halves every year, and large changes count a little more. Bots are listed after
people.

Names follow the repository's mailmap. Each person is listed with the commits as evidence.
The history must have been read: `holdfast ingest REPOSITORY`.

--json prints {"bank", "about", "experts"}; each has "name", "email", "score", "share"
(of all people's), "commits", "reviews", "first", "last", "areas", "evidence" and
"is_bot"."""

EXAMPLES = """\
  holdfast who payments
  holdfast who src/billing/
  holdfast who "retry logic of the importer" --limit 3 --json"""


def configure(parser: Parser) -> None:
    parser.add_argument("about", metavar="TOPIC", nargs="+", help="a path, a folder/, or words")
    options.add_limit(parser, 5)
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    about = options.words(arguments.about, "topic", "Give a path, a folder/, or words.")
    with open_memory(create=False) as memory:
        found = memory.browse.who_knows(about, arguments.bank, arguments.limit)
        id = memory.context.bank_id(arguments.bank)
        bank, hint = memory.context.bank_name(id), memory.context.missing_bank_hint(id)
        commits = memory.reader.records.counts(id).commits
    if arguments.json:
        return screen.json({"bank": bank, "about": about, "experts": found})
    for expert in found:
        _print(screen, expert)
    if not found:
        problem = f"No commit in {describe_bank(bank)} is about {about!r}."
        advice = "Try other words, a path, or a folder with a slash at its end."
        if not commits:
            problem = f"No git history was read into {describe_bank(bank)}."
            advice = "`holdfast ingest REPOSITORY` reads one."
        screen.line(problem)
        screen.wrap(hint or advice)


def _print(screen: Screen, expert: Expert) -> None:
    e = expert
    share = "a program" if e.is_bot else f"{e.share:.0%} of the contributions by people"
    what = number(e.commits, "commit")
    what += f", {number(e.reviews, 'review')}" if e.reviews else ""
    screen.line(screen.paint(e.name, "bold") + f"  {share}")
    screen.line(f"  {what}, {e.first[:10]} to {e.last[:10]}; most in {', '.join(e.areas)}")
    screen.line("  " + screen.paint("  ".join(short(uri) for uri in e.evidence), "cyan"))
    screen.line()
