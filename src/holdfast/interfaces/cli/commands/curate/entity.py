"""`holdfast entity`."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.errors import InputError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen
from holdfast.model.uris import uri

HELP = """\
Decide which names mean the same. `merge A B` makes two entities one; `split A ALIAS` makes one
of A's names an entity of its own; `undo` undoes the latest decision of any kind. Decisions are
kept when everything is read and derived again.

`holdfast correct` renames an entity, `holdfast forget` hides it."""

EXAMPLES = """\
  holdfast entity merge "Ann Ex" ann-dev
  holdfast entity split AuthProvider "auth provider"
  holdfast entity undo"""


def configure(parser: Parser) -> None:
    parser.add_argument("what", choices=("merge", "split", "undo"), help="what to decide")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the names")
    options.add(parser, "bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    names: list[str] = arguments.names
    wanted = 0 if arguments.what == "undo" else 2
    if len(names) != wanted:
        raise InputError(
            f"`entity {arguments.what}` takes {wanted or 'no'} names.",
            "Put a name of several words in quotes.",
        )
    with open_memory(create=False) as memory:
        if arguments.what == "undo":
            undone = memory.undo(1, arguments.bank)
            decision = undone[0] if undone else None
        elif arguments.what == "merge":
            decision = memory.curation.merge_entities(names[0], names[1], arguments.bank)
        else:
            decision = memory.curation.split_entity(names[0], names[1], arguments.bank)
        entity = memory.browse.entity(names[0], arguments.bank) if names else None
    if arguments.json:
        screen.json({"decision": decision, "entity": entity})
    elif decision is None:
        screen.line("There is nothing to undo.")
    elif entity is None:
        screen.line(f"Undone: {decision.action.value} {decision.target}.")
    else:
        aliases = f", also {', '.join(entity.aliases)}" if entity.aliases else ""
        screen.wrap(f"{entity.name}{aliases}  {uri('entity', entity.id)}")
        screen.line("`holdfast entity undo` undoes this.")
