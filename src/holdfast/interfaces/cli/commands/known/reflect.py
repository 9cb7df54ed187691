"""`holdfast reflect`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day
from holdfast.settings import load_settings

HELP = """\
Form an opinion about a question: search, and have a model weigh the evidence by the
disposition of the bank (`holdfast bank`), with a confidence and citations; what the records do
not support is dropped. Without a model service (`[models]` in the settings) the evidence is
listed by layer, and nothing is inferred from it.

What a model believes is stored as opinions, which later reflections strengthen or weaken;
--no-store stores nothing.

--json prints {"query", "bank", "answer", "confidence", "abstained", "author", "claims",
"opinions", "citations", "caveats", "stored"}."""

EXAMPLES = """\
  holdfast reflect "Is the importer reliable?"
  holdfast reflect "What do we think of the build?" --no-store --json"""


def configure(parser: Parser) -> None:
    parser.add_argument("query", nargs="+", metavar="QUERY", help="the question")
    parser.flag("--no-store", "store no opinions")
    options.add(parser, "model", "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    query = options.words(arguments.query, "question")
    settings = options.with_model(load_settings(), arguments, "reflection")
    with open_memory(settings, create=False) as memory:
        reflection = memory.reflect(query, arguments.bank, store=not arguments.no_store)
    if arguments.json:
        return screen.json(reflection)
    for line in reflection.answer.split("\n"):
        screen.wrap(line, "", "  " if line.startswith("- ") else "")
    if reflection.citations:
        screen.line()
    for one in reflection.citations:
        screen.wrap(
            f"[{one.number}] {screen.paint(one.uri, 'cyan')} {day(one.time)}: {one.excerpt}",
            "",
            "    ",
        )
    for caveat in reflection.caveats:
        screen.wrap(f"Note: {caveat}")
    if reflection.author:
        screen.line(f"Confidence: {reflection.confidence:.2f}")
    for name in reflection.stored:
        screen.line(f"Kept as an opinion: {screen.paint(name, 'cyan')}")
