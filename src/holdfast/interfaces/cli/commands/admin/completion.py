"""`holdfast completion`."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

from holdfast.app.core.bank_names import bank_names
from holdfast.errors import InputError
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen
from holdfast.settings import load_settings

HELP = """\
Print a completion script for commands, options and bank names. Save it where your shell looks
for completion scripts, and save it again after an upgrade. Without an argument, the script is
for the shell you use."""

EXAMPLES = """\
  holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast
  holdfast completion zsh > ~/.zfunc/_holdfast        with fpath+=~/.zfunc before compinit
  holdfast completion fish > ~/.config/fish/completions/holdfast.fish"""

SHELLS = ("bash", "zsh", "fish")
_SCRIPTS_PACKAGE = "holdfast.interfaces.cli.completion."


def configure(parser: Parser) -> None:
    parser.add_argument("shell", nargs="?", choices=SHELLS, help="which shell")
    parser.flag("--banks", "print the bank names instead")


def run(screen: Screen, arguments: Arguments) -> None:
    if arguments.banks:
        # The shell runs this while a person types: a faulty settings file is not reported here.
        screen.line("\n".join(("all", *bank_names(load_settings()))))
        return
    shell = arguments.shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise InputError("Your shell was not recognised.", f"Name one: {', '.join(SHELLS)}.")
    from holdfast.interfaces.cli.completion.arguments import all_arguments

    sys.stdout.write(import_module(_SCRIPTS_PACKAGE + shell).script(all_arguments()))
