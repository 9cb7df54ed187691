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
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to keep")
    parser.choice("--network", Network, "default: the one that its words propose", "")
    parser.option("--confidence", "X", "how sure you are of an opinion, 0 to 1", None, float)
    parser.option("--where", "PLACE", "files or places it is about")
    parser.option("--why", "REASON", "why it is so, or was done")
    options.add(parser, "one_bank", "json")


def _run_retain(screen: Screen, arguments: Arguments) -> None:
    with open_memory() as memory:
        text, a = " ".join(arguments.text), arguments
        stored = memory.retain(text, a.network, a.confidence, a.where, a.why, a.bank)
        bank = memory.context.bank_name(stored.bank)
        names = memory.opinions.names_in(stored.what)
    sure = f", confidence {stored.confidence:.2f}" if stored.confidence is not None else ""
    proposed = "" if a.network else " by its words"
    head = f"Retained in bank {bank} as {stored.network.value}{proposed}{sure}"
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
Without --network its words decide. When it happened, the files it is about, the names in it
and the reason it gives are read from the text, as far as it states them.

It is found at once, with the trust of your own words; secrets are taken out first. An opinion
is listed by `holdfast opinions`, where sessions strengthen or weaken it; one whose network is
proposed has a confidence of 0.7. `holdfast remember` keeps a text as world.""",
    examples="""\
  holdfast retain "I moved the importer to src/jobs yesterday because the nightly run was late"
  holdfast retain "Releases are cut from main" --network world --why "one line of history"
  holdfast retain "The staging cluster is flaky" --network opinion --confidence 0.8""",
    configure=_configure_retain,
    run=_run_retain,
)
