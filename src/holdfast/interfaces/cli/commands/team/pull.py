"""`holdfast pull`."""

from __future__ import annotations

from holdfast.app.memory import Holdfast, open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.language import truncate
from holdfast.learn.share_intake import ShareImportPlan
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri
from holdfast.operations.output.records import shared_record_json
from holdfast.operations.screen import Screen, day, minute, number

HELP = """\
Import what others share on the branch `holdfast-shared`: fetched from a remote, or read from
another repository; without a name, what was fetched already. Recall and ask then find it, with
the trust `team`, who shared it and when; text from outside the project stays `external`. What
its author took back is removed; what you forgot or erased stays forgotten or erased.

Invalid lines (not JSON, too long, another version, an id that is not the hash of the text) are
refused and counted. --undo undoes a whole pull."""

EXAMPLES = """\
  holdfast pull origin --dry-run
  holdfast pull origin
  holdfast pull ~/src/team-memory
  holdfast pull --list
  holdfast pull --undo 3f2a91c0"""

# The start of a shared text: about two lines.
_MAX_TEXT = 200


def configure(parser: Parser) -> None:
    parser.add_argument(
        "place", nargs="?", default="", metavar="REMOTE|PATH", help="where to read it from"
    )
    parser.flag("--dry-run", "only show what would be imported")
    parser.flag("--list", "list the pulls that imported something")
    parser.option("--undo", "PULL", "undo one pull", None)
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    read_only = arguments.dry_run or arguments.list
    with open_memory(create=not read_only) as memory:
        if arguments.list:
            return _list(screen, memory, arguments.bank, arguments.json)
        if arguments.undo:
            entry = memory.sharing.undo_pull(
                arguments.undo.strip().rpartition("/")[2], arguments.bank
            )
            sentence = f"Undone: {entry.text}, of {day(entry.time)}."
            return screen.report(arguments.json, {"undone": entry}, sentence)
        planned = memory.sharing.plan_pull(arguments.place, arguments.bank)
        import_uri = "" if arguments.dry_run else memory.sharing.pull(planned, arguments.bank)
    if arguments.json:
        screen.json(_pull_json(planned, import_uri))
    else:
        _print(screen, planned, import_uri, arguments.dry_run)


def _print(screen: Screen, planned: ShareImportPlan, import_uri: str, dry_run: bool) -> None:
    for sign, records in (("+", planned.added), ("~", planned.changed), ("-", planned.gone)):
        for record in records:
            text = truncate(record.text, _MAX_TEXT) or uri("shared", record.id)
            head = f"{sign} {record.kind or 'taken back'} by {record.author}"
            screen.line(f"{head} on {day(record.shared)}", "bold")
            screen.wrap(text, "    ")
    if planned.is_empty:
        screen.line(f"Nothing new in {planned.source.name}.")
    counts = [
        (planned.known, "known already"),
        (planned.own, "of your own"),
        (planned.erased, "erased here before"),
        (planned.redacted, "secrets redacted"),
        *((count, f"refused: {why}") for why, count in planned.reasons.items()),
    ]
    for count, what in counts:
        if count:
            screen.line(f"{count:,} {what}")
    if import_uri:
        many = number(len(planned.added) + len(planned.changed) + len(planned.gone), "record")
        id = import_uri.rpartition("/")[2]
        screen.wrap(f"Imported {many}. `holdfast pull --undo {id}` undoes this.")
    elif dry_run and not planned.is_empty:
        screen.line("Nothing was changed.")


def _pull_json(planned: ShareImportPlan, import_uri: str) -> dict[str, object]:
    return {
        "place": planned.source.name,
        "taking": import_uri,
        "added": [shared_record_json(record, "bank", "id", "gone") for record in planned.added],
        "changed": [shared_record_json(record, "bank", "id", "gone") for record in planned.changed],
        "taken_back": [uri("shared", record.id) for record in planned.gone],
        "known": planned.known,
        "own": planned.own,
        "erased": planned.erased,
        "redacted": planned.redacted,
        "refused": planned.reasons,
    }


def _list(screen: Screen, memory: Holdfast, bank: str | None, as_json: bool) -> None:
    found = memory.sharing.pulls(bank)
    if as_json:
        pulls = [{**to_jsonable(one), "undone": not in_force} for one, in_force in found]
        return screen.json({"pulls": pulls})
    if not found:
        screen.line("Nothing was pulled yet.")
    for one, in_force in found:
        note = "" if in_force else " (undone)"
        screen.line(f"{one.id}  {minute(one.time)}  from {one.place}{note}")
