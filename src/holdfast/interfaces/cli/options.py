"""Options that several commands share."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from holdfast.errors import InputError
from holdfast.model.knowledge import Network
from holdfast.model.query import Layer
from holdfast.recall.core.plan import Budget
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.settings import Settings


def add_bank(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """`--bank NAME`."""
    where = "all banks" if default else "the project of the current folder"
    parser.add_argument(
        "--bank",
        metavar="NAME",
        default=default,
        help=f"which bank; 'all' for every one (default: {where})",
    )


def add_one_bank(parser: argparse.ArgumentParser) -> None:
    """`--bank NAME`, for a command that works on one bank only."""
    parser.add_argument(
        "--bank", metavar="NAME", help="which bank (default: the project of the current folder)"
    )


def add_limit(parser: argparse.ArgumentParser, default: int) -> None:
    """`--limit N`."""
    parser.add_argument(
        "--limit",
        type=positive,
        default=default,
        metavar="N",
        help=f"how many (default: {default})",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def add_budget(parser: argparse.ArgumentParser) -> None:
    """`--budget low|mid|high`."""
    parser.add_argument(
        "--budget",
        choices=[budget.value for budget in Budget],
        help="low: words only, about 2,000 tokens; mid: meaning too, 4,000; high: looks longer, "
        "8,000 (default: low if words find it, else mid)",
    )


def add_layer(parser: argparse.ArgumentParser) -> None:
    """`--layer LAYER`, any number of times."""
    names = [layer.value for layer in Layer]
    parser.add_argument(
        "--layer",
        action="append",
        default=[],
        choices=names,
        help="look only here; may be given several times (default: everywhere)",
    )


def add_as_of(parser: argparse.ArgumentParser) -> None:
    """`--as-of DATE`."""
    parser.add_argument(
        "--as-of",
        metavar="DATE",
        default="",
        help="answer with what was known and held then: a day, or a moment in UTC",
    )


def as_of(arguments: argparse.Namespace) -> str:
    """The last moment that `--as-of` includes; "" for now."""
    given: str = arguments.as_of
    return read_iso_span(given).last if given else ""


def add_network(parser: argparse.ArgumentParser) -> None:
    """`--network NETWORK`, any number of times."""
    parser.add_argument(
        "--network",
        action="append",
        default=[],
        choices=[network.value for network in Network],
        help="only memories of this network; may be given several times (default: all records)",
    )


def add_local(parser: argparse.ArgumentParser) -> None:
    """`--local`."""
    parser.add_argument(
        "--local",
        action="store_true",
        help="ask no server, though `holdfast remote` names one: nothing leaves this machine",
    )


def add_providers(parser: argparse.ArgumentParser) -> None:
    """`--providers` and `--plugin-dir DIR`."""
    parser.add_argument(
        "--providers",
        action="store_true",
        help="also ask plugins that offer it, for five seconds at most (see docs/providers.md)",
    )
    add_plugin_dir(parser)


def add_plugin_dir(parser: argparse.ArgumentParser) -> None:
    """`--plugin-dir DIR`, any number of times."""
    parser.add_argument(
        "--plugin-dir",
        action="append",
        default=[],
        type=some_path,
        metavar="DIR",
        help="a plugin in this folder is a provider too, as for `claude --plugin-dir`",
    )


def with_plugins(settings: Settings, arguments: argparse.Namespace) -> Settings:
    """The settings with the folders of `--plugin-dir` added."""
    folders = (*settings.providers.plugin_dirs, *arguments.plugin_dir)
    return replace(settings, providers=replace(settings.providers, plugin_dirs=folders))


def add_yes(parser: argparse.ArgumentParser) -> None:
    """`--yes`."""
    parser.add_argument("--yes", "-y", action="store_true", help="go ahead without asking")


def add_record(parser: argparse.ArgumentParser, name: str = "id") -> None:
    """A positional argument that names a record."""
    parser.add_argument(
        name, metavar=name.upper(), help="holdfast://WORD/ID, an id, or the start of one"
    )


def words(parts: list[str], what: str, remedy: str = "Say what to look for.") -> str:
    """The words as one text; raises InputError if it is empty."""
    text = " ".join(parts).strip()
    if not text:
        raise InputError(f"The {what} is empty.", remedy)
    return text


def some_path(text: str) -> Path:
    """A path. An empty text is refused: it is likely a shell variable that is not set, and must not
    mean the current folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty; for the current folder give .")
    return Path(text).expanduser()


def positive(text: str) -> int:
    """A whole number above zero."""
    return _at_least(1, text)


def count(text: str) -> int:
    """A whole number, zero included."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if value < least:
        raise argparse.ArgumentTypeError(f"must be {least} or more")
    return value
