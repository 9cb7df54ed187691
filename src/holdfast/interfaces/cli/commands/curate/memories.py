"""`holdfast remember` and `holdfast retain`: store a text as a memory."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, CommandSpec, Parser
from holdfast.interfaces.cli.screen import Screen, day
from holdfast.model.knowledge import Memory, Network
from holdfast.model.uris import uri


def _configure_remember(parser: Parser) -> None:
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to remember")
    options.add(parser, "one_bank", "json")


def _run_remember(screen: Screen, arguments: Arguments) -> None:
    with open_memory() as memory:
        started = memory.now()
        stored = memory.remember(" ".join(arguments.text), arguments.bank)
        bank = memory.context.bank_name(stored.bank)
    # The same words are stored once: then the memory is older than this command.
    known = f" since {day(stored.when)}" if stored.when < started else ""
    _print(screen, stored, bank, f"Remembered in bank {bank}{known}", arguments.json)


def _configure_retain(parser: Parser) -> None:
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to keep")
    parser.choice("--network", Network, "default: world", "world")
    parser.option("--confidence", "X", "how sure you are of an opinion, 0 to 1", None, float)
    parser.option("--where", "PLACE", "files or places it is about")
    parser.option("--why", "REASON", "why it is so, or was done")
    options.add(parser, "one_bank", "json")


def _run_retain(screen: Screen, arguments: Arguments) -> None:
    with open_memory() as memory:
        text, a = " ".join(arguments.text), arguments
        stored = memory.retain(text, a.network, a.confidence, a.where, a.why, a.bank)
        bank = memory.context.bank_name(stored.bank)
    head = f"Retained in bank {bank} as {stored.network.value}"
    _print(screen, stored, bank, head, arguments.json)


def _print(screen: Screen, stored: Memory, bank: str, head: str, as_json: bool) -> None:
    if as_json:
        screen.json(json_shapes.memory_json(stored, bank))
    else:
        screen.wrap(f"{head}: {stored.what}")
        screen.line(uri("memory", stored.id), "cyan")


REMEMBER = CommandSpec(
    help="""\
Keep something in your own words: found at once by recall and ask, and told to sessions
where decisions are. Secrets are taken out first. The same words are kept once.""",
    examples="""\
  holdfast remember "We deploy on Tuesdays, never on Fridays."
  holdfast remember --bank website The staging database is rebuilt every night.""",
    configure=_configure_remember,
    run=_run_remember,
)

RETAIN = CommandSpec(
    help="""\
Keep any text as a memory of one of the four networks: world (what holds), experience (what
was done), opinion (what is believed, with a confidence) and observation (what was noticed).
It is found at once, with the trust of your own words; secrets are taken out first. An opinion
counts as evidence for what the bank believes. `holdfast remember` keeps a text as world.""",
    examples="""\
  holdfast retain "Moved the importer to src/jobs" --network experience --where src/jobs
  holdfast retain "The staging cluster is flaky" --network opinion --confidence 0.8""",
    configure=_configure_retain,
    run=_run_retain,
)
