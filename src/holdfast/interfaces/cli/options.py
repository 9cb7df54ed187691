"""Options that several commands share."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from holdfast.errors import InputError, SettingsError
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.language import truncate
from holdfast.lazy_dataclass import replace
from holdfast.settings import NO_MODEL, Settings


def some_path(text: str) -> Path:
    """A path. An empty text is refused: it is likely a shell variable that is not set, and must not
    mean the current folder."""
    if not text.strip():
        raise ArgumentTypeError("the path is empty; for the current folder give .")
    return Path(text).expanduser()


# More than any memory holds of anything, and less than breaks a query.
_MOST = 1_000_000_000


def positive(text: str, least: int = 1) -> int:
    """A whole number from 1."""
    try:
        value = int(text)
    except ValueError:
        raise ArgumentTypeError(f"{truncate(text, 40)!r} is not a whole number") from None
    if not least <= value <= _MOST:
        raise ArgumentTypeError(f"must be from {least} to {_MOST:,}")
    return value


# By the name that commands give to `add`: what is passed to `Parser.add_argument`.
_OPTIONS: dict[str, dict[str, Any]] = {
    "json": {"action": "store_true", "help": "print JSON instead of text"},
    "yes": {"action": "store_true", "help": "go ahead without asking"},
    "by_agent": {
        "action": "append",
        "default": [],
        "metavar": "NAME",
        "help": "an agent decides, on a person's order; its name",
    },
    "dry_run": {"action": "store_true", "help": "only show what would be done"},
    "model": {
        "metavar": "NAME",
        "default": "",
        "help": "use this model of the configured service instead of the configured model",
    },
    "plugin_dir": {
        "action": "append",
        "default": [],
        "type": some_path,
        "metavar": "DIR",
        "help": "also query the plugin in this folder, as with `claude --plugin-dir`",
    },
}


def add(parser: Parser, *names: str) -> None:
    """Add the shared options of these names."""
    for name in names:
        spellings = [f"--{name.replace('_', '-')}"] + ["-y"] * (name == "yes")
        parser.add_argument(*spellings, **_OPTIONS[name])


def agent_name(arguments: Arguments) -> str:
    """The name of `--by-agent`; "" without it. A permission to decide as an agent must not become
    one to decide as a person, so a second name is refused, and an empty one."""
    names: list[str] = arguments.by_agent
    if len(names) > 1 or not all(name.strip() for name in names):
        raise InputError("--by-agent takes one name, once.", "Name the agent that decides.")
    return names[0] if names else ""


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
