"""Completion for zsh, with what each command and option is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.interfaces.cli.completion.arguments import Argument, CommandArguments, Kind

_SCRIPT = r"""#compdef holdfast
# zsh completion for holdfast; made by `holdfast completion zsh`
_holdfast_banks() {
    local -a names
    names=("${(@f)$(_call_program banks holdfast completion --banks 2>/dev/null)}")
    compadd -a names
}

_holdfast() {
    local curcontext="$curcontext" state
    local -a commands
    commands=(
@COMMANDS@
    )
    if ((CURRENT == 2)); then
        _describe -t commands 'holdfast command' commands
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
@CASES@
    esac
}
if [[ $funcstack[1] == _holdfast ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
"""
# An empty list for what may be anything: a message would keep zsh from completing options.
_VALUE_SPECS = {Kind.BANK: ":bank:_holdfast_banks", Kind.FILE: ":file:_files", Kind.ANY: ":text:()"}


def script(commands: Sequence[CommandArguments]) -> str:
    """The whole script."""
    names = [f"        {_quote(f'{c.name}:{c.purpose}')}" for c in commands]
    cases = [
        f"        {command.name}) _arguments -S \\\n            "
        + " \\\n            ".join(_arguments(command))
        + " ;;"
        for command in commands
    ]
    text = _SCRIPT.replace("@COMMANDS@", "\n".join(names))
    return text.replace("@CASES@", "\n".join(cases))


def _arguments(command: CommandArguments) -> Iterator[str]:
    for option in command.options:
        yield from (_quote(_option(option, name)) for name in option.names)
    for positional in command.positionals:
        end = _VALUE_SPECS.get(
            positional.kind, f":{_plain_text(positional.names[0])}:({' '.join(positional.words)})"
        )
        yield _quote(f"*{end}" if positional is command.positionals[-1] else f":{end}"[1:])


def _option(option: Argument, name: str) -> str:
    head = f"*{name}[{_plain_text(option.purpose)}]"
    if option.kind is Kind.NONE:
        return head
    return head + _VALUE_SPECS.get(option.kind, f":one of:({' '.join(option.words)})")


def _plain_text(text: str) -> str:
    """The text without the characters that have a meaning for `_arguments`."""
    return text.replace("[", "(").replace("]", ")").replace(":", ",").replace("\\", "/")


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
