"""Completion for fish, with what each command and option is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.interfaces.cli.completion.arguments import Argument, CommandArguments, Kind

_HEAD = "# fish completion for holdfast; made by `holdfast completion fish`\n"
_BANKS = "(holdfast completion --banks 2>/dev/null)"


def script(commands: Sequence[CommandArguments]) -> str:
    """The whole script."""
    lines = ["complete -c holdfast -f"]
    for command in commands:
        lines.append(
            f"complete -c holdfast -n __fish_use_subcommand -a {command.name} "
            f"-d {_quote(command.purpose)}"
        )
        lines += _command_lines(command)
    return _HEAD + "\n".join(lines) + "\n"


def _command_lines(command: CommandArguments) -> Iterator[str]:
    start = f"complete -c holdfast -n '__fish_seen_subcommand_from {command.name}'"
    for option in command.options:
        yield f"{start} {_names(option)}{_value_flags(option)} -d {_quote(option.purpose)}"
    if words := " ".join(word for positional in command.positionals for word in positional.words):
        yield f"{start} -a {_quote(words)}"
    if any(positional.kind is Kind.FILE for positional in command.positionals):
        yield f"{start} -F"


def _names(option: Argument) -> str:
    long = [f"-l {name[2:]}" for name in option.names if name.startswith("--")]
    short = [f"-s {name[1:]}" for name in option.names if not name.startswith("--")]
    return " ".join(short + long)


def _value_flags(option: Argument) -> str:
    if option.kind is Kind.NONE:
        return ""
    if option.kind is Kind.FILE:
        return " -r -F"
    if option.kind is Kind.ANY:
        return " -x"
    return f" -x -a {_quote(_BANKS if option.kind is Kind.BANK else ' '.join(option.words))}"


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
