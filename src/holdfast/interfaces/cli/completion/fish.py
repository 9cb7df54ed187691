"""Completion for fish, with what each command and option is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.interfaces.cli.completion.arguments import Kind, Offer, Option

_HEAD = "# fish completion for holdfast; made by `holdfast completion fish`\n"
_BANKS = "(holdfast completion --banks 2>/dev/null)"


def script(offers: Sequence[Offer]) -> str:
    """The whole script."""
    lines = ["complete -c holdfast -f"]
    for offer in offers:
        lines.append(
            f"complete -c holdfast -n __fish_use_subcommand -a {offer.name} "
            f"-d {_quoted(offer.purpose)}"
        )
        lines += _of(offer)
    return _HEAD + "\n".join(lines) + "\n"


def _of(offer: Offer) -> Iterator[str]:
    start = f"complete -c holdfast -n '__fish_seen_subcommand_from {offer.name}'"
    for option in offer.options:
        yield f"{start} {_names(option)}{_takes(option)} -d {_quoted(option.purpose)}"
    if words := " ".join(word for place in offer.places for word in place.words):
        yield f"{start} -a {_quoted(words)}"
    if any(place.kind is Kind.FILE for place in offer.places):
        yield f"{start} -F"


def _names(option: Option) -> str:
    long = [f"-l {name[2:]}" for name in option.names if name.startswith("--")]
    short = [f"-s {name[1:]}" for name in option.names if not name.startswith("--")]
    return " ".join(short + long)


def _takes(option: Option) -> str:
    if option.kind is Kind.NONE:
        return ""
    if option.kind is Kind.FILE:
        return " -r -F"
    if option.kind is Kind.ANY:
        return " -x"
    return f" -x -a {_quoted(_BANKS if option.kind is Kind.BANK else ' '.join(option.words))}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
