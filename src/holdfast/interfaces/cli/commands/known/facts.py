"""`holdfast facts`."""

from __future__ import annotations

from collections import Counter

from holdfast.app.core.context import describe_bank
from holdfast.app.memory import open_memory
from holdfast.app.search.browse import FACT_KINDS
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.output.records import print_record_head
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.language import truncate
from holdfast.model.knowledge import Fact, Kind, Memory
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri

HELP = """\
List lasting knowledge: rules that people stated, solutions of problems that took several
attempts, and how the core works. Each is listed with its status, its confidence, the number of
records for and against it, and when it was last confirmed. `holdfast show` opens one.

With --kind, also the memories of that kind from sessions, the latest first: decisions, rules,
preferences, lessons, facts, outcomes and open tasks (todo). Without it they are only counted."""

EXAMPLES = """\
  holdfast facts
  holdfast facts --kind decision
  holdfast facts --kind rule --all
  holdfast facts --kind lesson
  holdfast facts --json"""


# A fact is listed with the start of its problem, about two lines, and of its text, about three.
_MAX_PROBLEM, _MAX_TEXT = 200, 320
# How many statements of sessions are listed.
_SHOWN = 20
_NONE_YET = (
    "People's lasting rules, and what took several attempts, become facts as sessions are read."
)


def configure(parser: Parser) -> None:
    parser.choice("--kind", FACT_KINDS, "only this kind, with the memories of that kind")
    parser.option("--limit", "N", "with --kind: how many memories", _SHOWN, options.positive)
    parser.flag("--all", "also superseded and retracted ones")
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        id = memory.context.bank_id(arguments.bank)
        found = memory.browse.facts(arguments.bank, arguments.kind, arguments.all)
        kind = arguments.kind if arguments.kind in set(Kind) else ""
        said = memory.browse.statements(arguments.bank, kind, arguments.limit) if kind else []
        dropped = memory.reader.facts.dropped_claims(id)
        counts = Counter[str]()
        for bank in memory.context.bank_ids(arguments.bank):
            counts.update(memory.reader.memories.counts_by_kind(bank))
        name = memory.context.bank_name(id)
        hint = memory.context.missing_bank_hint(id)
    if arguments.json:
        listed = [{"uri": uri("fact", fact.id), **to_jsonable(fact)} for fact in found]
        statements = [{"uri": uri("memory", one.id), **to_jsonable(one)} for one in said]
        return screen.json(
            {"bank": name, "facts": listed, "statements": statements, "dropped": dropped}
        )
    for fact in found:
        _print(screen, fact)
    for one in said:
        _print_statement(screen, one)
    counted = f"{number(len(found), 'fact')} in {describe_bank(name)}"
    counted += f", {number(len(said), 'memory', 'memories')} from sessions" if said else ""
    screen.line(f"{counted}.", "dim")
    if counts and not arguments.kind:
        screen.wrap(_describe_memories(counts))
    elif not found and not said:
        screen.wrap(hint or _NONE_YET)


def _describe_memories(counts: Counter[str]) -> str:
    """How many memories of each kind `--kind` would list."""
    listed = ", ".join(f"{kind} {counts[kind]:,}" for kind in Kind if counts[kind])
    most = counts.most_common(1)[0][0]
    return f"Memories from sessions: {listed}. `holdfast facts --kind {most}` lists those."


def _print_statement(screen: Screen, one: Memory) -> None:
    head = f"{one.kind} · {day(one.when)}"
    head += f" · in {one.seen} sessions" if one.seen > 1 else ""
    head += f" · by {one.who}" if one.who == "user" else ""
    print_record_head(screen, head, uri("memory", one.id))
    screen.wrap(truncate(one.what, _MAX_TEXT), "      ")


def _print(screen: Screen, fact: Fact) -> None:
    kind = fact.kind.value.replace("_", " ")
    head = f"{kind} · {fact.status.value} · confidence {fact.confidence:.2f}"
    head += f" · {number(len(fact.evidence), 'record')} for it"
    head += f", {len(fact.against)} against" if fact.against else ""
    head += f" · last confirmed {day(fact.last_validated)}"
    print_record_head(screen, head, uri("fact", fact.id))
    if fact.problem:
        attempts = f" ({fact.attempts} attempts)" if fact.attempts else ""
        screen.wrap(f"problem: {truncate(fact.problem, _MAX_PROBLEM)}{attempts}", "      ")
    screen.wrap(truncate(fact.content, _MAX_TEXT), "      ")
    if fact.superseded_by:
        screen.line(f"      {fact.status.value} by {fact.superseded_by}")
    for name in fact.supersedes:
        screen.line(f"      changes {name}")
