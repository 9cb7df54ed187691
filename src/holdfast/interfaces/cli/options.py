"""Options that several commands share."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.errors import SettingsError, require_words
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.language import truncate
from holdfast.lazy_dataclass import replace
from holdfast.model.knowledge import Kind, Network
from holdfast.model.query import Layer
from holdfast.recall.core.plan import Budget
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.settings import NO_MODEL, Settings


def some_path(text: str) -> Path:
    """A path. An empty text is refused: it is likely a shell variable that is not set, and must not
    mean the current folder."""
    if not text.strip():
        raise ArgumentTypeError("the path is empty; for the current folder give .")
    return Path(text).expanduser()


def _whole_number(least: int, most: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        raise ArgumentTypeError(f"{truncate(text, 40)!r} is not a whole number") from None
    if value < least:
        raise ArgumentTypeError(f"must be {least} or more")
    if value > most:
        raise ArgumentTypeError(f"must be {most:,} or less")
    return value


# More than any memory holds of anything, and less than breaks a query.
_MOST = 1_000_000_000
positive = partial(_whole_number, 1, _MOST)
count = partial(_whole_number, 0, _MOST)
# A hundred years back; the calendar begins two thousand years ago.
days = partial(_whole_number, 1, 36_500)


def _option(*spellings: str, **keywords: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    return spellings, keywords


_BANK_HELP = "which bank; 'all' for every one (default: {})"
# By the name that commands give to `add`: what is passed to `Parser.add_argument`.
_OPTIONS = {
    "bank": _option(
        "--bank", metavar="NAME", help=_BANK_HELP.format("the project of the current folder")
    ),
    "bank_or_all": _option(
        "--bank", metavar="NAME", default="all", help=_BANK_HELP.format("all banks")
    ),
    "one_bank": _option(
        "--bank", metavar="NAME", help="which bank (default: the project of the current folder)"
    ),
    "json": _option("--json", action="store_true", help="print JSON instead of text"),
    "yes": _option("--yes", "-y", action="store_true", help="go ahead without asking"),
    "record": _option("id", metavar="ID", help="holdfast://KIND/ID, an id, or the start of one"),
    "into": _option("into", metavar="INTO", help="holdfast://KIND/ID, an id, or the start of one"),
    "candidate": _option("id", nargs="?", default="", metavar="ID", help="which candidate"),
    "budget": _option(
        "--budget",
        choices=list(Budget),
        help="low: full text only, about 2,000 tokens; mid: also by meaning, 4,000; "
        "high: more candidates, 8,000 (default: low if full text finds it, else "
        "mid)",
    ),
    "layer": _option(
        "--layer",
        action="append",
        default=[],
        choices=list(Layer),
        help="search only this layer; repeatable (default: all layers)",
    ),
    "as_of": _option(
        "--as-of",
        metavar="DATE",
        default="",
        help="answer as of this day, or this time in UTC: later records and changes are ignored",
    ),
    "network": _option(
        "--network",
        action="append",
        default=[],
        choices=list(Network),
        help="only memories of this network; repeatable (default: all records)",
    ),
    "kind": _option(
        "--kind",
        action="append",
        default=[],
        choices=list(Kind),
        help="only memories, facts and rules of this kind; repeatable (default: all records)",
    ),
    "local": _option(
        "--local",
        action="store_true",
        help="do not query the servers of `holdfast remote`: nothing leaves this machine",
    ),
    "model": _option(
        "--model",
        metavar="NAME",
        default="",
        help="use this model of the configured service instead of the configured model",
    ),
    "providers": _option(
        "--providers",
        action="store_true",
        help="also query plugins that support it, for at most five seconds (see docs/providers.md)",
    ),
    "plugin_dir": _option(
        "--plugin-dir",
        action="append",
        default=[],
        type=some_path,
        metavar="DIR",
        help="also query the plugin in this folder, as with `claude --plugin-dir`",
    ),
}


def add(parser: Parser, *names: str) -> None:
    """Add the shared options of these names."""
    for name in names:
        spellings, keywords = _OPTIONS[name]
        parser.add_argument(*spellings, **keywords)


def add_limit(
    parser: Parser, default: int | None, help: str = "how many (default: {default})"
) -> None:
    """Add `--limit N`; `help` may name the default."""
    parser.add_argument(
        "--limit", type=positive, default=default, metavar="N", help=help.format(default=default)
    )


def add_path(parser: Parser, name: str, metavar: str, help: str) -> None:
    """Add an option that names a file or folder."""
    parser.option(name, metavar, help, None, some_path)


def add_action(parser: Parser, actions: Sequence[str], default: str, name: str = "action") -> None:
    """Add a positional argument that says what to do."""
    parser.add_argument(
        name, nargs="?", choices=actions, default=default, help=f"what to do (default: {default})"
    )


def as_of(arguments: Arguments) -> str:
    """The last moment that `--as-of` includes; "" for now."""
    given: str = arguments.as_of
    return read_iso_span(given).last if given else ""


def with_plugins(settings: Settings, arguments: Arguments) -> Settings:
    """The settings with the folders of `--plugin-dir` added."""
    folders = (*settings.providers.plugin_dirs, *arguments.plugin_dir)
    return replace(settings, providers=replace(settings.providers, plugin_dirs=folders))


def with_model(settings: Settings, arguments: Arguments, *tasks: str) -> Settings:
    """The settings with the model of `--model` for these tasks (`models.agent` and so on)."""
    name: str = arguments.model.strip()
    if not name:
        return settings
    if settings.models.use == NO_MODEL:
        raise SettingsError(
            f"--model asks for {truncate(name, 40)}, but no model service is configured.",
            "Set models.use in config.toml; docs/models.md lists the services.",
        )
    return replace(settings, models=replace(settings.models, **dict.fromkeys(tasks, name)))


def words(parts: list[str], what: str, remedy: str = "Say what to look for.") -> str:
    """The words as one text; raises InputError if it is empty."""
    return require_words(" ".join(parts).strip(), what, remedy)
