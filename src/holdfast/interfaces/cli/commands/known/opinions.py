"""`holdfast opinions`."""

from __future__ import annotations

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, minute, short
from holdfast.model.opinions import Opinion, OpinionChange
from holdfast.model.to_json import to_jsonable
from holdfast.model.trust import Status
from holdfast.model.uris import uri

HELP = """\
List opinions, the most confident first. They are what somebody retained
(`holdfast retain TEXT --network opinion --confidence 0.8`), and what a model's reflection
believes (`holdfast reflect`). Each has a confidence, a trend (new, strengthening, stable,
weakening, stale) and evidence for and against. `holdfast show` opens its history; `correct`
and `forget` work as on any record. --changes lists how they came about and changed.

--json prints {"bank", "opinions"}; each has "uri", "what", "why", "confidence", "trend",
"status", "evidence_for", "evidence_against", "formed", "updated" and more; with
--changes {"bank", "changes"}, each with "uri", "what", "time", "before", "confidence", "note"."""

EXAMPLES = """\
  holdfast opinions
  holdfast opinions --changes         which opinions changed, and when
  holdfast opinions --all --json      also those with low confidence"""


def configure(parser: Parser) -> None:
    parser.flag("--all", "also opinions whose confidence fell below 0.4")
    parser.flag("--changes", "when opinions were formed, strengthened and weakened")
    options.add_limit(parser, 20, "how many changes (default: {default})")
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        opinions = memory.opinions.opinions(arguments.bank, arguments.all)
        changes = memory.opinions.changes(arguments.bank, arguments.limit)
        id = memory.context.bank_id(arguments.bank)
        name = memory.context.bank_name(id)
        hint = memory.context.missing_bank_hint(id)
    if arguments.changes and arguments.json:
        return screen.json({"bank": name, "changes": [one._asdict() for one in changes]})
    if arguments.changes and changes:
        return _print_changes(screen, changes)
    if arguments.json:
        listed = [{"uri": uri("memory", o.id), **to_jsonable(o)} for o in opinions]
        return screen.json({"bank": name, "opinions": listed})
    if not opinions:
        screen.line(f"No opinions in {describe_bank(name)} yet.")
        screen.wrap(
            hint or "`holdfast retain --network opinion` states one; so does a model in `reflect`."
        )
    for opinion in opinions:
        _print(screen, opinion)


def _print_changes(screen: Screen, changes: list[OpinionChange]) -> None:
    for one in changes:
        before = f"{one.before:.2f} → " if one.before is not None else ""
        screen.line(
            f"{minute(one.time)}  {one.note} {before}{one.confidence:.2f}  "
            f"{screen.paint(short(one.uri), 'cyan')}"
        )
        screen.wrap(one.what, "      ", "      ")


def _print(screen: Screen, opinion: Opinion) -> None:
    o = opinion
    states = [o.trend.value]
    states += ["faded"] * (o.status is Status.RETRACTED)
    screen.wrap(f"{o.confidence:.2f}  {screen.paint(o.what, 'bold')} ({', '.join(states)})")
    screen.wrap(o.why, "      ", "      ")
    against = f", {len(o.evidence_against)} against" if o.evidence_against else ""
    screen.line(
        f"      {len(o.evidence_for)} for{against}, latest {day(o.latest)}  "
        f"{screen.paint(short(uri('memory', o.id)), 'cyan')}"
    )
