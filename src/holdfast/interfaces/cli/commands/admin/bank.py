"""`holdfast bank`."""

from __future__ import annotations

from argparse import ArgumentTypeError

from holdfast.app.memory import Holdfast, open_memory
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.learn.bank_settings import PRESETS, BankChanges
from holdfast.model.bank import Bank, Disposition

HELP = """\
List, show and configure banks. A bank is the memory of one project.

`merge FROM INTO` merges two banks of one project: everything in FROM, its decisions included,
moves to INTO, and old URIs still open. `unmerge FROM` undoes that. Give banks by name or id.

The disposition controls how opinions are formed, by three numbers from 1 to 5. Skepticism: how
many sessions must support an opinion. Literalism: how closely evidence must match the words of
the question. Empathy: whether motives and feelings are included. A preset sets all three:
code-review (4 5 2), bug-investigation (4 4 2), documentation (3 3 3), support (2 2 5).

The background describes the project in a few sentences, for a model. Retention is the number of
months after which a session is hidden, as with `holdfast forget`: nothing is erased, and a longer
retention or `all` (the default) brings it back. Sessions in which somebody corrected something
stay."""

EXAMPLES = """\
  holdfast bank list
  holdfast bank show --json
  holdfast bank set --preset bug-investigation
  holdfast bank set --skepticism 5 --background "A payments backend; we verify before we believe."
  holdfast bank set --alias shop --retention 24 --yes
  holdfast bank merge shop-feature-x shop
  holdfast bank unmerge shop-feature-x"""

# How many banks each action names.
_NAMED = {"merge": 2, "unmerge": 1}


def configure(parser: Parser) -> None:
    options.add_action(parser, ("show", "set", "list", "merge", "unmerge"), "show")
    parser.add_argument("banks", nargs="*", metavar="BANK", help="for merge and unmerge")
    parser.option("--preset", "NAME", ", ".join(PRESETS), None)
    for name in ("skepticism", "literalism", "empathy"):
        parser.option(f"--{name}", "N", "1 to 5", None, int)
    about = 'a description of the project, for a model; "" for none'
    parser.option("--background", "TEXT", about, None)
    parser.option("--retention", "MONTHS", "a number of months, or all", None)
    parser.repeated("--alias", "add a name for the bank", metavar="NAME")
    parser.repeated("--drop-alias", "remove a name of the bank", metavar="NAME")
    options.add(parser, "yes", "one_bank", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    changes = _changes(arguments)
    if (changes == BankChanges()) is (arguments.action == "set"):
        raise InputError(
            "There is nothing to set."
            if arguments.action == "set"
            else f"`holdfast bank {arguments.action}` changes nothing.",
            "`holdfast bank set` takes --preset, --skepticism and more: see --help.",
        )
    if len(arguments.banks) != _NAMED.get(arguments.action, 0):
        raise InputError(
            f"`holdfast bank {arguments.action}` takes "
            f"{number(_NAMED.get(arguments.action, 0), 'bank')}.",
            "`holdfast bank list` lists them; see --help.",
        )
    with open_memory(create=False) as memory:
        if arguments.action in _NAMED:
            return _combine(screen, memory, arguments)
        if arguments.action == "list":
            return _list(screen, memory.banks.all(), arguments.json)
        if arguments.action == "show" and _list_instead(screen, memory, arguments):
            return
        if changes.retention and not confirm.confirm_memory_change(
            screen,
            arguments.yes,
            f"Hide sessions older than {changes.retention} months (nothing is erased)?",
        ):
            return
        if arguments.action == "set":
            found = memory.banks.change(changes, arguments.bank)
        else:
            found = memory.banks.get(arguments.bank)
    if arguments.json:
        screen.json(found)
    else:
        _print(screen, found)


def _combine(screen: Screen, memory: Holdfast, arguments: Arguments) -> None:
    """Merge two banks, or take that back."""
    names: list[str] = arguments.banks
    if arguments.action == "unmerge":
        found = memory.merging.unmerge(names[0])
        line = f"{found.name} ({found.id}) is a bank of its own again."
    else:
        one, other = (memory.banks.get(name) for name in names)
        question = f"Merge {one.name} ({one.id}) into {other.name} ({other.id})? It can be undone."
        if not confirm.confirm_memory_change(screen, arguments.yes, question):
            return
        found = memory.merging.merge(one.id, other.id)
        line = f"{one.name} is in {found.name} now; `holdfast bank unmerge {one.id}` undoes this."
    if arguments.json:
        screen.json(found)
    else:
        screen.line(line)


def _changes(a: Arguments) -> BankChanges:
    traits = (a.skepticism, a.literalism, a.empathy)
    names = (tuple(a.alias), tuple(a.drop_alias))
    return BankChanges(a.preset, *traits, a.background, _months(a.retention), *names)


def _months(given: str | None) -> int | None:
    if given is None:
        return None
    if given == "all":
        return 0
    try:
        return options.positive(given)
    except ArgumentTypeError as error:
        raise InputError(f"The retention {error}.", "Give a number of months, or `all`.") from error


def _list_instead(screen: Screen, memory: Holdfast, arguments: Arguments) -> bool:
    """In a folder without a bank, list those that there are; returns whether it did."""
    banks = memory.banks.all()
    if arguments.json or not banks or memory.context.bank_id(arguments.bank) != "":
        return False
    there = "There is 1 bank" if len(banks) == 1 else f"There are {number(len(banks), 'bank')}"
    screen.line(f"This folder has no bank. {there}:")
    _list(screen, banks, as_json=False)
    screen.line("`holdfast bank --bank NAME` shows the settings of one.")
    return True


def _list(screen: Screen, banks: list[Bank], as_json: bool) -> None:
    if as_json:
        return screen.json({"banks": banks})
    if not banks:
        screen.line("There are no banks yet.")
    width = max((len(bank.name) for bank in banks), default=0)
    for bank in banks:
        name = screen.paint(f"{bank.name:<{width}}", "bold")
        screen.line(f"{name}  {bank.id}  {_traits(bank.disposition)}")


def _traits(d: Disposition) -> str:
    return f"skepticism {d.skepticism}, literalism {d.literalism}, empathy {d.empathy}"


def _print(screen: Screen, bank: Bank) -> None:
    d = bank.disposition
    preset = next((name for name, known in PRESETS.items() if known == d), "")
    preset = f"the default; preset {preset}" if preset and d == Disposition() else preset
    screen.line(f"{screen.paint(bank.name, 'bold')} ({bank.id})")
    screen.line(f"  {_traits(d)}" + (f" ({preset})" if preset else ""))
    screen.item(f"background: {bank.background or 'none'}", "  ")
    kept = f"{bank.retention} months" if bank.retention else "all sessions are kept"
    screen.line(f"  retention: {kept}")
    for alias in bank.aliases:
        screen.line(f"  alias: {alias}")
