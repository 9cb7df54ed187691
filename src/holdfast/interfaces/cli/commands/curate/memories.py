"""`holdfast remember` and `holdfast retain`: store a text as a memory."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, CommandSpec, Parser
from holdfast.interfaces.cli.screen import Screen, day, minute
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
    parser.add_argument("text", nargs="+", metavar="TEXT", help="the text")
    parser.choice("--network", Network, "which network (default: by its wording)", "")
    parser.option("--confidence", "X", "how sure you are of an opinion, 0 to 1", None, float)
    parser.option("--where", "PLACE", "the files or places it is about")
    parser.option("--why", "REASON", "the reason")
    options.add(parser, "one_bank", "json")


def _run_retain(screen: Screen, arguments: Arguments) -> None:
    with open_memory() as memory:
        text, a = " ".join(arguments.text), arguments
        stored = memory.retain(text, a.network, a.confidence, a.where, a.why, a.bank)
        bank = memory.context.bank_name(stored.bank)
        names = memory.opinions.names_in(stored.what)
    sure = f", confidence {stored.confidence:.2f}" if stored.confidence is not None else ""
    proposed = "" if a.network else " (by its wording)"
    head = f"Stored in bank {bank} as {stored.network.value}{proposed}{sure}"
    if a.json:
        return screen.json({**json_shapes.memory_json(stored, bank), "names": names})
    _print(screen, stored, bank, head, False)
    for name, value in (
        ("when", minute(stored.when)),
        ("where", stored.where),
        ("who", ", ".join(names)),
        ("why", stored.why),
    ):
        if value:
            screen.wrap(f"{name:<6} {value}", "", " " * 7)


def _print(screen: Screen, stored: Memory, bank: str, head: str, as_json: bool) -> None:
    if as_json:
        screen.json(json_shapes.memory_json(stored, bank))
    else:
        screen.wrap(f"{head}: {stored.what}")
        screen.line(uri("memory", stored.id), "cyan")


REMEMBER = CommandSpec(
    help="""\
Store a statement in your own words. Recall and ask find it at once, and briefs list it with
the decisions. Secrets are redacted first. The same text is stored once.""",
    examples="""\
  holdfast remember "We deploy on Tuesdays, never on Fridays."
  holdfast remember --bank website The staging database is rebuilt every night.""",
    configure=_configure_remember,
    run=_run_remember,
)

RETAIN = CommandSpec(
    help="""\
Store a text as a memory of one of the four networks: world (what is true), experience (what
was done), opinion (a judgement, with a confidence) or observation (what was noticed). Without
--network the wording decides. Time, files, names and reason are taken from the text, if it
states them.

It is found at once, with the trust `user`. Secrets are redacted first. `holdfast opinions` lists
opinions; later sessions strengthen or weaken them. An opinion that is recognised by its
wording has a confidence of 0.7. `holdfast remember` stores a text in the network world.""",
    examples="""\
  holdfast retain "I moved the importer to src/jobs yesterday because the nightly run was late"
  holdfast retain "Releases are cut from main" --network world --why "one line of history"
  holdfast retain "The staging cluster is flaky" --network opinion --confidence 0.8""",
    configure=_configure_retain,
    run=_run_retain,
)
