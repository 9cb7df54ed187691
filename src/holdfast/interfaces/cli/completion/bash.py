"""Completion for bash, from version 3.2 on, which macOS has.

Names of banks come from names of folders, which anybody may choose. They are compared and quoted,
and never given to `compgen -W`, which would execute commands in them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from holdfast.interfaces.cli.completion.arguments import Argument, CommandArguments, Kind

_SCRIPT = r"""# bash completion for holdfast; made by `holdfast completion bash`
_holdfast_values() {
    # What an option of a command takes: words, or @bank, @file, @any; nothing if it takes nothing.
    case "$1 $2" in
@VALUES@
    esac
}

_holdfast_options() {
    case "$1" in
@OPTIONS@
    esac
}

_holdfast_place() {
    case "$1" in
@PLACES@
    esac
}

_holdfast_offer() {
    local word
    case "$1" in
        @file) while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$2")
            compopt -o filenames 2>/dev/null ;;
        @bank) while IFS= read -r word; do
                [[ $word == "$2"* ]] && COMPREPLY+=("$(printf %q "$word")")
            done < <("${COMP_WORDS[0]}" completion --banks 2>/dev/null) ;;
        @any) ;;
        *) for word in $1; do [[ $word == "$2"* ]] && COMPREPLY+=("$word"); done ;;
    esac
}

_holdfast() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    local taken word index free=0
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _holdfast_offer "@COMMANDS@" "$cur"
        return
    fi
    # bash takes --bank=NAME for three words.
    if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
    taken=$(_holdfast_values "$command" "$prev")
    if [[ -n $taken ]]; then
        _holdfast_offer "$taken" "$cur"
        return
    fi
    if [[ $cur == -* ]]; then
        _holdfast_offer "$(_holdfast_options "$command")" "$cur"
        return
    fi
    for ((index = 2; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        taken=$(_holdfast_values "$command" "${COMP_WORDS[index-1]}")
        [[ $word == -* || -n $taken ]] || ((free++))
    done
    taken=$(_holdfast_place "$command $free")
    [[ -n $taken ]] && _holdfast_offer "$taken" "$cur"
}
complete -F _holdfast holdfast
"""
_MARKS = {Kind.BANK: "@bank", Kind.FILE: "@file", Kind.ANY: "@any"}


def script(commands: Sequence[CommandArguments]) -> str:
    """The whole script."""
    values = [
        f"        {_patterns(command, option)}) echo {shlex.quote(_values(option))} ;;"
        for command in commands
        for option in command.options
        if option.kind is not Kind.NONE
    ]
    options = [
        f"        {command.name}) echo {shlex.quote(' '.join(_names(command.options)))} ;;"
        for command in commands
    ]
    positionals = [
        f"        {shlex.quote(f'{command.name} {number}')}) "
        f"echo {shlex.quote(_values(positional))} ;;"
        for command in commands
        for number, positional in enumerate(command.positionals)
        if positional.kind is not Kind.ANY
    ]
    parts = {
        "@VALUES@": "\n".join(values),
        "@OPTIONS@": "\n".join(options),
        "@PLACES@": "\n".join(positionals),
        "@COMMANDS@": " ".join(command.name for command in commands),
    }
    text = _SCRIPT
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _patterns(command: CommandArguments, option: Argument) -> str:
    return "|".join(shlex.quote(f"{command.name} {name}") for name in option.names)


def _values(argument: Argument) -> str:
    return _MARKS.get(argument.kind, " ".join(argument.words))


def _names(options: Iterable[Argument]) -> list[str]:
    return [name for option in options for name in option.names if name.startswith("--")]
