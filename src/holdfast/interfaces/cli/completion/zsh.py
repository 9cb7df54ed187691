"""Completion for zsh, with what each command and option is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.interfaces.cli.completion.arguments import Kind, Offer, Option

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
_ENDS = {Kind.BANK: ":bank:_holdfast_banks", Kind.FILE: ":file:_files", Kind.ANY: ":text:()"}


def script(offers: Sequence[Offer]) -> str:
    """The whole script."""
    commands = [f"        {_quoted(f'{o.name}:{o.purpose}')}" for o in offers]
    cases = [
        f"        {offer.name}) _arguments -S \\\n            "
        + " \\\n            ".join(_arguments(offer))
        + " ;;"
        for offer in offers
    ]
    text = _SCRIPT.replace("@COMMANDS@", "\n".join(commands))
    return text.replace("@CASES@", "\n".join(cases))


def _arguments(offer: Offer) -> Iterator[str]:
    for option in offer.options:
        yield from (_quoted(_option(option, name)) for name in option.names)
    for place in offer.places:
        end = _ENDS.get(place.kind, f":{_bare(place.name)}:({' '.join(place.words)})")
        yield _quoted(f"*{end}" if place is offer.places[-1] else f":{end}"[1:])


def _option(option: Option, name: str) -> str:
    head = f"*{name}[{_bare(option.purpose)}]"
    if option.kind is Kind.NONE:
        return head
    return head + _ENDS.get(option.kind, f":one of:({' '.join(option.words)})")


def _bare(text: str) -> str:
    """Text without what _arguments would take for its own signs."""
    return text.replace("[", "(").replace("]", ")").replace(":", ",").replace("\\", "/")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
