"""The parser of a command, which says what was meant where something was mistyped."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NoReturn

from holdfast.errors import InputError
from holdfast.regex import regex

_UNKNOWN = "unrecognized arguments: "
_CHOICE = regex(r"(?:argument (?P<which>.*?): )?invalid choice: '(?P<given>.*?)' ")
_MISSING = "the following arguments are required: "


class Parser(argparse.ArgumentParser):
    """Like its parent, but an error is a sentence and a way out, as for every other failure."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise InputError(*explain(message, self.prog, self._known()))

    def _known(self) -> dict[str, list[str]]:
        """Every option, with what it may be given; actions under "", other places by name."""
        known: dict[str, list[str]] = {}
        # There is no public way to ask a parser for its options.
        actions: list[argparse.Action] = self._actions
        for action in actions:
            choices = [str(choice) for choice in action.choices or ()]
            for name in action.option_strings or [action.metavar or action.dest]:
                known[name if isinstance(name, str) else ""] = choices
        return known


def explain(message: str, program: str, known: dict[str, list[str]]) -> tuple[str, str]:
    """What went wrong, and what to do about it, out of the words of argparse."""
    help = f"See `{program} --help`."
    if message.startswith(_UNKNOWN):
        given = message.removeprefix(_UNKNOWN).split()
        first = next((word for word in given if word.startswith("-")), given[0])
        if not first.startswith("-"):
            return (
                f"{program!r} does not know what to do with {first!r}.",
                f"Text of several words wants quotes. {help}",
            )
        option = first.partition("=")[0]
        options = [name for name in known if name.startswith("-")]
        return f"There is no option {option!r}.", f"{meant(option, options)}{help}"
    if found := _CHOICE.match(message):
        which, given = found["which"] or "", found["given"]
        named = [choice for name in which.split("/") for choice in known.get(name, [])]
        choices = named or [choice for some in known.values() for choice in some]
        told = f"Choose from: {', '.join(choices)}. " if choices else ""
        what = f"{which} cannot be {given!r}." if which else f"{given!r} is not known here."
        return what, f"{meant(given, choices)}{told}{help}"
    if message.startswith(_MISSING):
        left = message.removeprefix(_MISSING)
        return f"Something is missing: {left}.", help
    return f"{message[:1].upper()}{message[1:]}.", help


def meant(given: str, known: Iterable[str]) -> str:
    """`Did you mean …? `, or nothing where nothing is near."""
    from difflib import get_close_matches

    # Every option begins with dashes: they make no two of them alike.
    bare = {name.lstrip("-"): name for name in known}
    close = get_close_matches(given.lstrip("-"), list(bare), 1, 0.6)
    return f"Did you mean {bare[close[0]]!r}? " if close else ""
