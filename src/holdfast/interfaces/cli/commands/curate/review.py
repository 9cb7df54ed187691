"""`holdfast review`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.output.records import print_record_head
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.language import truncate
from holdfast.model.knowledge import Fact, ProposalKind, Review
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri
from holdfast.store.protocol import Reader

HELP = """\
List facts that need a decision: those that five actions contradict, or that a person called
wrong. `keep` leaves a fact in force, `retire` retracts it; both can be undone, and nothing is
decided automatically. If a model service is configured, its advice is shown.
Proposed rules are listed too; decide about them with `holdfast promote`."""

EXAMPLES = """\
  holdfast review
  holdfast review keep 5c1f0a
  holdfast review retire 5c1f0a --yes"""

# The start of a text, in characters: of a fact about three lines, of a model's advice four, of a
# proposed rule two; and how many pieces of evidence are named.
_MAX_FACT, _MAX_ADVICE, _MAX_RULE, _MAX_EVIDENCE = 320, 400, 160, 6


def configure(parser: Parser) -> None:
    options.add_action(parser, ("list", "keep", "retire"), "list", "what")
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="the start of its id")
    parser.flag("--all", "also decided ones")
    options.add(parser, "bank_or_all", "yes", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.what == "list":
        return _list(screen, arguments)
    if not arguments.id:
        raise InputError("Which one?", f"Give its id: `holdfast review {arguments.what} ID`.")
    with open_memory(create=False) as memory:
        review = memory.curation.find_review(arguments.id, arguments.bank)
        keep = arguments.what == "keep"
        if not arguments.json:
            _print(screen, memory.reader, review)
        question = "Keep it?" if keep else "Retract it?"
        if not confirm.confirm_memory_change(screen, arguments.yes, question):
            return
        entry = memory.curation.decide(review, keep)
    done = f"{'Kept' if keep else 'Retired'}. `holdfast undo` undoes this."
    screen.report(arguments.json, {"decided": entry}, done)


def _list(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        found = memory.browse.reviews(arguments.bank, arguments.all)
        waiting = memory.rules.proposals(arguments.bank)
        bank_name = memory.context.bank_name
        rules = [json_shapes.proposal_json(one, bank_name(one.bank)) for one in waiting]
        if arguments.json:
            reviews = [{"uri": uri("review", review.id), **to_jsonable(review)} for review in found]
            return screen.json({"reviews": reviews, "proposals": len(waiting), "rules": rules})
        for review in found:
            _print(screen, memory.reader, review)
    undecided = sum(not review.decided for review in found)
    summary = f"{number(undecided, 'question')} to decide."
    screen.line(summary if undecided else "Nothing to decide.", "dim")
    if rules:
        head = f"Also {number(len(rules), 'proposal')} to add or remove rules: "
        screen.wrap(f"{head}see `holdfast promote candidates` in the project.")
    for one in rules:
        verb = "add to" if one["kind"] == ProposalKind.PROMOTE else "look at"
        screen.item(
            f"{one['id']}  {one['bank']}: {verb} {one['path']}: {truncate(one['text'], _MAX_RULE)}",
            "  ",
        )


def _print(screen: Screen, reader: Reader, review: Review) -> None:
    head = f"{review.kind} · {review.state.value} · since {day(review.opened)}"
    print_record_head(screen, head, uri("review", review.id))
    for record in reader.records.find(review.bank, "fact", review.target.rpartition("/")[2], 1):
        if isinstance(record, Fact):
            screen.wrap(truncate(record.content, _MAX_FACT), "      ")
    screen.item(f"{review.target}: {review.reason}", "      ")
    for name in review.evidence[:_MAX_EVIDENCE]:
        screen.line(f"      - {name}")
    if review.advice:
        screen.item(f"a model says: {truncate(review.advice, _MAX_ADVICE)}", "      ")
    if review.decided:
        screen.line(f"      {review.state.value} on {day(review.decided)} by {review.by}")
