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


class Option(NamedTuple):
    """An option: all its spellings, what it is for, and what it takes."""

    names: tuple[str, ...]
    purpose: str
    kind: Kind
    words: tuple[str, ...] = ()


class Positional(NamedTuple):
    """A positional argument."""

    name: str
    kind: Kind
    words: tuple[str, ...] = ()


class CommandArguments(NamedTuple):
    """A command, its options and its positional arguments."""

    name: str
    purpose: str
    options: tuple[Option, ...]
    positionals: tuple[Positional, ...]


def all_arguments() -> list[CommandArguments]:
    """All commands, in the order of the overview."""
    return [command_arguments(name) for name in COMMANDS]


def command_arguments(name: str) -> CommandArguments:
    """What one command takes."""
    parser = make_parser(name)
    options: list[Option] = []
    positionals: list[Positional] = []
    # argparse has no public way to list the options of a parser.
    actions: list[argparse.Action] = parser._actions  # pyright: ignore[reportPrivateUsage]
    for action in actions:
        if action.help == argparse.SUPPRESS:
            continue
        kind, words = _kind(action)
        if action.option_strings:
            purpose = " ".join((action.help or "").replace("%%", "%").split())
            options.append(Option(tuple(action.option_strings), purpose, kind, words))
        else:
            positionals.append(Positional(action.dest, kind, words))
    return CommandArguments(name, COMMANDS[name].purpose, tuple(options), tuple(positionals))


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
