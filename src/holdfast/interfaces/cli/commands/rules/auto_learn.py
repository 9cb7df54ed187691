"""`holdfast auto-learn`."""

from __future__ import annotations

from typing import Any

from holdfast.app.curation.rule_teaching import AUTO_LEARN_ACTIONS
from holdfast.app.memory import open_memory
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, number

HELP = """\
The MCP tool `auto_learn` as a command, for agents: the state of learning, the candidates that
wait for a person, and a search for more. `promote ID` writes a candidate only if the settings
allow it without asking. People use `holdfast promote`."""

EXAMPLES = """\
  holdfast auto-learn status
  holdfast auto-learn candidates --json
  holdfast auto-learn promote            look for candidates now
  holdfast auto-learn promote 5c1f0a"""


def configure(parser: Parser) -> None:
    options.add_action(parser, AUTO_LEARN_ACTIONS, "status")
    options.add(parser, "candidate", "one_bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        result = memory.teaching.auto_learn(arguments.action, arguments.id or None, arguments.bank)
    if arguments.json:
        screen.json(result)
    elif arguments.action == "status":
        _print_state(screen, result)
    else:
        _print_candidates(screen, result)


def _print_state(screen: Screen, result: dict[str, Any]) -> None:
    patterns = f"{number(result['patterns'], 'pattern')}, {result['ripe']:,} ready to be proposed"
    screen.line(f"{result['bank']}: {patterns}")
    waiting = result["promotions"] + result["demotions"]
    screen.line(f"  {number(waiting, 'candidate')} waiting, {result['approved']:,} approved")
    screen.line(f"  written without asking: {'yes' if result['automatic'] else 'no'}")


def _print_candidates(screen: Screen, result: dict[str, Any]) -> None:
    for path in result.get("written", ()):
        screen.line(f"Written: {path}")
    for one in result["candidates"]:
        verb = "add to" if one["kind"] == "promote" else "look at"
        screen.line(f"{screen.paint(one['id'], 'bold', 'cyan')}  {verb} {one['path']}")
        screen.wrap(one["text"], "  ")
        screen.wrap(one["reason"], "  ")
    if not result["candidates"] and not result.get("written"):
        screen.line("No proposed rules.")
    elif result["candidates"]:
        screen.wrap(result.get("remedy", "Decide with `holdfast promote approve|reject ID`."))
