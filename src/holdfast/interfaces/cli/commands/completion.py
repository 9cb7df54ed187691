"""`holdfast completion`: scripts for shells, which ask `holdfast completion --words` at a tab."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from holdfast.app.core.bank_names import bank_names
from holdfast.errors import InputError
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.operations.screen import Screen
from holdfast.settings import load_settings

HELP = """\
Print a completion script for commands, options and bank names. Save it where your shell looks
for completion scripts. Without an argument, the script is for the shell you use."""

EXAMPLES = """\
  holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast
  holdfast completion zsh > ~/.zfunc/_holdfast        with fpath+=~/.zfunc before compinit
  holdfast completion fish > ~/.config/fish/completions/holdfast.fish"""

# Names of banks come from names of folders, which anybody may choose. So they are quoted, and never
# given to `compgen -W`, which would execute commands in them.
_BASH = r"""_holdfast() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$(printf %q "$word")")
    done < <("${COMP_WORDS[0]}" completion --words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null |
        cut -f1)
}
complete -o default -F _holdfast holdfast
"""
_ZSH = r"""#compdef holdfast
_holdfast() {
    local -a found
    found=("${(@f)$(holdfast completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=("${(@)found//:/\\:}")
    found=("${(@)found/$'\t'/:}")
    if [[ -n $found[1] ]]; then _describe holdfast found; else _files; fi
}
if [[ $funcstack[1] == _holdfast ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
"""
_FISH = r"""function __holdfast_words
    set -l words (commandline -opc) (commandline -ct | string collect --allow-empty)
    holdfast completion --words $words[2..-1] 2>/dev/null
end
complete -c holdfast -a '(__holdfast_words)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def configure(parser: Parser) -> None:
    parser.add_argument("shell", nargs="?", choices=tuple(SCRIPTS), help="which shell")
    parser.add_argument("--words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.words is not None:
        # The shell runs this while a person types: nothing that is wrong is reported here.
        sys.stdout.writelines(f"{word}\t{purpose}\n" for word, purpose in offers(arguments.words))
        return
    shell = arguments.shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SCRIPTS:
        raise InputError("Your shell was not recognised.", f"Name one: {', '.join(SCRIPTS)}.")
    sys.stdout.write(SCRIPTS[shell])


def offers(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What the last of the words that were typed after `holdfast` can become, each with what it is
    for. Nothing where any text or a file fits; shells then offer files."""
    from holdfast.interfaces.cli.main import COMMANDS, purpose_of

    # bash takes --bank=NAME for three words.
    *before, typed = [word for word in words[:-1] if word != "="] + [words[-1].lstrip("=")]
    found = _after(before, typed) if before else ((name, purpose_of(name)) for name in COMMANDS)
    return ((word, purpose) for word, purpose in found if word.startswith(typed))


def _after(before: Sequence[str], typed: str) -> Iterator[tuple[str, str]]:
    from holdfast.interfaces.cli.main import COMMANDS, actions_of, make_parser

    if before[0] not in COMMANDS:
        return
    named = actions_of(before[0])
    if len(before) == 1:
        yield from ((action, "") for action in named if action)
    said = len(before) > 1 and before[1] in named
    # argparse has no public way to list the options of a parser.
    parser = make_parser(before[0], before[1] if said else next(iter(named), ""))
    actions: list[argparse.Action] = parser._actions  # pyright: ignore[reportPrivateUsage]
    options = {name: one for one in actions for name in one.option_strings}
    values = {name for name, one in options.items() if one.nargs != 0}
    places = [one for one in actions if not one.option_strings]
    taken = sum(
        not word.startswith("-") and last not in values for last, word in pairwise(before[said:])
    )
    if before[-1] in values:
        yield from _values(options[before[-1]])
    elif typed.startswith("-"):
        for name, one in options.items():
            if one.help != argparse.SUPPRESS and name.startswith("--"):
                yield name, " ".join((one.help or "").replace("%%", "%").split())
    elif taken < len(places):
        yield from _values(places[taken])


def _values(action: argparse.Action) -> Iterator[tuple[str, str]]:
    if "--bank" in action.option_strings:
        yield from ((name, "") for name in ("all", *bank_names(load_settings())))
    yield from ((str(word), "") for word in action.choices or ())
