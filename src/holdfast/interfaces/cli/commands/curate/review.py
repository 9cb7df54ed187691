"""`holdfast review`."""

from __future__ import annotations

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import open_memory
from holdfast.app.search import json_shapes
from holdfast.brief.frame import short_name
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.output.records import print_record_head
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.language import truncate
from holdfast.model.curation import AGENT, Verdict
from holdfast.model.knowledge import Fact, ProposalKind, Review
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri
from holdfast.recall.lookup.path import describe_record
from holdfast.store.protocol import Reader

HELP = """\
List facts that need a decision: those that five actions contradict, or that a person called
wrong. `keep` leaves a fact in force, `retire` retracts it; both can be undone, and nothing is
decided automatically. Proposed rules are listed too; decide about them with `holdfast promote`.

`useful`, `unneeded` (true, but not worth a line) and `outdated` (no longer true) judge
records, such as those that `holdfast brief` names: useful ones come first in briefs, the others
are left out at the start of a session, and outdated ones are marked so in every answer. The
latest verdict counts; a correction of the record ends it, `undo` takes it back. --words puts
a useful statement of an agent so that it is understood alone; the record keeps its own words.

--json prints {"reviews", "proposals", "rules"}, with a decision {"decided"}, with a verdict
also `kept`: the records for which what a person decided still counts."""

EXAMPLES = """\
  holdfast review
  holdfast review keep 5c1f0a
  holdfast review retire 5c1f0a --yes
  holdfast review outdated memory/1a2b3c4d --why "the queue was removed"
  holdfast review useful 5c1f0a 77d0b1e2
  holdfast review useful 5c1f0a --words "The import reads each file once, by its hash.\""""

# The start of a text, in characters: of a fact about three lines, of a proposed rule two; and
# how many pieces of evidence are named.
_MAX_FACT, _MAX_RULE, _MAX_EVIDENCE = 320, 160, 6


def configure(parser: Parser) -> None:
    options.add_action(parser, ("list", "keep", "retire", *Verdict), "list", "what")
    parser.add_argument("ids", nargs="*", metavar="ID", help="an id or the start of one")
    parser.flag("--all", "also decided ones")
    parser.option("--why", "TEXT", "the reason of a verdict, in one sentence")
    parser.option("--words", "TEXT", "other words for a useful statement of an agent")
    help = "an agent judges, on a person's order; its name"
    parser.repeated("--by-agent", help, metavar="NAME")
    parser.option("--bank", "NAME", "which bank (default: all)", ALL_BANKS)
    options.add(parser, "yes", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    what = arguments.what
    # A permission to judge as an agent must not become one to judge as a person.
    if arguments.by_agent and (len(arguments.by_agent) > 1 or not arguments.by_agent[0].strip()):
        raise InputError("--by-agent takes one name, once.", "Name the agent that judges.")
    if what not in tuple(Verdict) and (arguments.why or arguments.words or arguments.by_agent):
        raise InputError(
            "Only a verdict has a reason, other words and a judge.",
            f"Use --why, --words and --by-agent with {', '.join(Verdict)}.",
        )
    if what == "list":
        return _list(screen, arguments)
    if not arguments.ids:
        raise InputError("Which one?", f"Give its id: `holdfast review {what} ID`.")
    if what in tuple(Verdict):
        return _judge(screen, arguments)
    if len(arguments.ids) > 1:
        raise InputError("One question is decided at a time.", "Give one id.")
    with open_memory(create=False) as memory:
        review = memory.curation.find_review(arguments.ids[0], arguments.bank)
        keep = arguments.what == "keep"
        if not arguments.json:
            _print(screen, memory.reader, review)
        question = "Keep it?" if keep else "Retract it?"
        if not confirm.confirm_memory_change(screen, arguments.yes, question):
            return
        entry = memory.curation.decide(review, keep)
    done = f"{'Kept' if keep else 'Retired'}. `holdfast undo` undoes this."
    screen.report(arguments.json, {"decided": entry}, done)


def _judge(screen: Screen, arguments: Arguments) -> None:
    verdict = Verdict(arguments.what)
    who = f"{AGENT} ({arguments.by_agent[0]})" if arguments.by_agent else ""
    with open_memory(create=False) as memory:
        made = memory.curation.judge(
            arguments.ids, verdict, arguments.why, arguments.bank, who, arguments.words
        )
        texts = {one.target: memory.show(one.target, one.bank) for one in made}
        kept = memory.curation.kept(made)
    if not arguments.json:
        for one in made:
            text = truncate(describe_record(texts[one.target].record)[0], _MAX_RULE)
            screen.item(f"{short_name(one.target)}: {text}")
    undo = "holdfast undo" if len(made) == 1 else f"holdfast undo {len(made)}"
    done = f"{number(len(made), 'record')} judged {verdict.value}. `{undo}` takes it back."
    if kept:
        names = ", ".join(map(short_name, kept))
        done += f" What a person decided still counts for: {names}."
    screen.report(arguments.json, {"decided": made, "kept": kept}, done)


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
    if review.decided:
        screen.line(f"      {review.state.value} on {day(review.decided)} by {review.by}")
