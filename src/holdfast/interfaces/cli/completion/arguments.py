"""What can be typed after each command, read off its parser."""

from __future__ import annotations

import argparse
from enum import StrEnum
from typing import NamedTuple

from holdfast.interfaces.cli.main import COMMANDS, make_parser

# Metavars of arguments that are files or folders.
_FILE_METAVARS = ("PATH", "FILE", "DIR", "HOME", "REMOTE|PATH", "DEST")


class Kind(StrEnum):
    """What an option or a positional argument takes: nothing, one of a few words, a bank, a file,
    or any text."""

    NONE = "none"
    WORDS = "words"
    BANK = "bank"
    FILE = "file"
    ANY = "any"


class Argument(NamedTuple):
    """An option with all its spellings, or a positional argument with its name; what it is for, and
    what it takes."""

    names: tuple[str, ...]
    purpose: str
    kind: Kind
    words: tuple[str, ...] = ()


class CommandArguments(NamedTuple):
    """A command, its options and its positional arguments."""

    name: str
    purpose: str
    options: list[Argument]
    positionals: list[Argument]


def all_arguments() -> list[CommandArguments]:
    """All commands, in the order of the overview."""
    return [command_arguments(name) for name in COMMANDS]


def command_arguments(name: str) -> CommandArguments:
    """What one command takes."""
    _, purpose = COMMANDS[name]
    command = CommandArguments(name, purpose, [], [])
    # argparse has no public way to list the options of a parser.
    actions: list[argparse.Action] = make_parser(name)._actions  # pyright: ignore[reportPrivateUsage]
    for action in actions:
        if action.help == argparse.SUPPRESS:
            continue
        names = tuple(action.option_strings) or (action.dest,)
        help = " ".join((action.help or "").replace("%%", "%").split())
        listed = command.options if action.option_strings else command.positionals
        listed.append(Argument(names, help, *_kind(action)))
    return command


def _kind(action: argparse.Action) -> tuple[Kind, tuple[str, ...]]:
    if action.nargs == 0:
        return Kind.NONE, ()
    if action.choices is not None:
        return Kind.WORDS, tuple(map(str, action.choices))
    if "--bank" in action.option_strings:
        return Kind.BANK, ()
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if getattr(action.type, "__name__", "") == "some_path" or metavar in _FILE_METAVARS:
        return Kind.FILE, ()
    return Kind.ANY, ()
