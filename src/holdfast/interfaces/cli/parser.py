"""The parts of a command, and its argument parser, whose errors suggest the nearest option, choice
or command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from holdfast.errors import InputError, suggest
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.operations.screen import Screen
from holdfast.regex import regex

# argparse looks for translations of its texts, of which Python brings none; that takes 3 ms.
setattr(argparse, "_", str)  # noqa: B010
# The messages of argparse that are rewritten.
_UNKNOWN = "unrecognized arguments: "
_CHOICE = regex(r"(?:argument (?P<which>.*?): )?invalid choice: '(?P<given>.*?)' ")
_MISSING = "the following arguments are required: "

Arguments = argparse.Namespace
Parse = Callable[[str], object]


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises InputError, with advice, instead of printing its usage."""

    def flag(self, name: str, help: str) -> None:
        """Add an option without a value."""
        self.add_argument(name, action="store_true", help=help)

    def option(
        self, name: str, metavar: str, help: str, default: object = "", type: Parse = str
    ) -> None:
        """Add an option with any text as its value, or with what `type` makes of it."""
        self.add_argument(name, metavar=metavar, default=default, type=type, help=help)

    def choice(
        self, name: str, choices: Iterable[str], help: str, default: str | None = ""
    ) -> None:
        """Add an option with one of a few words as its value."""
        self.add_argument(name, choices=[str(one) for one in choices], default=default, help=help)

    def repeated(self, name: str, help: str, **more: Any) -> None:
        """Add an option that may be given several times; `more` is passed on to argparse."""
        self.add_argument(name, action="append", default=[], help=help, **more)

    def hide(self, given: Iterable[str]) -> None:
        """Leave the arguments that take these words, which nobody types, out of the help."""
        actions: list[argparse.Action] = self._actions
        for word in given:
            for action in actions:
                if word in (*action.option_strings, *(action.choices or ())):
                    action.help = argparse.SUPPRESS

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise InputError(*explain(message, self.prog, self._choices()))

    def _choices(self) -> dict[str, list[str]]:
        """The choices of each option, by the option, and of each positional argument, by its
        name; an empty list where anything may be given."""
        known: dict[str, list[str]] = {}
        # argparse has no public way to list the options of a parser.
        actions: list[argparse.Action] = self._actions
        for action in actions:
            choices = [str(choice) for choice in action.choices or ()]
            for name in action.option_strings or [action.metavar or action.dest]:
                known[name if isinstance(name, str) else ""] = choices
        return known


class CommandSpec(NamedTuple):
    """One command. A module with a single command has these parts as HELP, EXAMPLES, `configure`
    and `run`; a module with several commands has one of these records for each. `run` returns the
    exit status, or None for 0."""

    help: str
    examples: str
    configure: Callable[[Parser], None]
    run: Callable[[Screen, Arguments], int | None]


def explain(message: str, program: str, known: dict[str, list[str]]) -> tuple[str, str]:
    """What went wrong and what to do about it, from a message of argparse and the choices of each
    argument."""
    help = f"See `{program} --help`."
    if message.startswith(_UNKNOWN):
        given = message.removeprefix(_UNKNOWN).split()
        first = next((word for word in given if word.startswith("-")), given[0])
        if not first.startswith("-"):
            return (
                f"{program!r} does not take {first!r}.",
                f"Put text of several words in quotes. {help}",
            )
        option = first.partition("=")[0]
        options = [name for name in known if name.startswith("-")]
        return f"There is no option {option!r}.", f"{suggest(option, options)}{help}"
    if found := _CHOICE.match(message):
        which, given = found["which"] or "", found["given"]
        named = [choice for name in which.split("/") for choice in known.get(name, [])]
        choices = named or [choice for some in known.values() for choice in some]
        listed = f"Choose from: {', '.join(choices)}. " if choices else ""
        problem = f"{which} cannot be {given!r}." if which else f"{given!r} is not known here."
        return problem, f"{suggest(given, choices)}{listed}{help}"
    if message.startswith(_MISSING):
        return f"Something is missing: {message.removeprefix(_MISSING)}.", help
    return f"{message[:1].upper()}{message[1:]}.", help
