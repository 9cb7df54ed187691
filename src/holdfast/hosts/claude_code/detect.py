"""Detects what is installed in Claude Code: our hooks, our plugin, and for how long it keeps
transcripts. It only reads, and accepts settings of any shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.capture.home_paths import HomePaths
from holdfast.hosts.claude_code.hook_commands import EVENTS, SCRIPT, home_of_hook
from holdfast.sources.claude_code.files import find_project
from holdfast.sources.json_fields import items, mapping

# Claude Code's own default of `cleanupPeriodDays`.
DEFAULT_TRANSCRIPT_DAYS = 30
EVENT_NAMES = [event.name for event in EVENTS]
_PLUGIN = "holdfast"


class HookStatus(NamedTuple):
    """`scripts` are those that our hooks run, by event; `plugins` are the ids of our enabled
    plugin; `kept_days` is how long transcripts are kept; `problems` are files that cannot be read;
    `off` is the file that disables all hooks, not only ours."""

    scripts: Mapping[str, tuple[Path, ...]]
    plugins: tuple[str, ...]
    kept_days: float
    problems: tuple[str, ...] = ()
    off: Path | None = None

    @property
    def missing(self) -> list[str]:
        """The events without a hook of ours."""
        return [] if self.plugins else [event for event in EVENT_NAMES if event not in self.scripts]

    @property
    def is_installed(self) -> bool:
        """Whether any hook of ours, or the plugin, is installed."""
        return bool(self.scripts or self.plugins)


def detect_hooks(claude_dir: Path, folder: Path | None = None) -> HookStatus:
    """Read the user's settings, and those of the project of a folder."""
    scripts: dict[str, list[Path]] = {}
    plugins: dict[str, None] = {}
    problems: list[str] = []
    kept: float = DEFAULT_TRANSCRIPT_DAYS
    off: Path | None = None
    files = [claude_dir / "settings.json"]
    if project := find_project(claude_dir, folder):
        # Those with the highest priority last.
        files += [project / ".claude" / name for name in ("settings.json", "settings.local.json")]
    for path in files:
        settings = _load_settings(path, problems)
        for event, script in _our_hooks(settings.get("hooks")):
            scripts.setdefault(event, []).append(script)
        for name, on in mapping(settings.get("enabledPlugins")).items():
            if on is True and name.partition("@")[0] == _PLUGIN:
                plugins[name] = None
        if isinstance(no_hooks := settings.get("disableAllHooks"), bool):
            off = path if no_hooks else None
        days: object = settings.get("cleanupPeriodDays")
        if isinstance(days, int | float) and not isinstance(days, bool):
            kept = float(days)
    found = {event: tuple(paths) for event, paths in scripts.items()}
    return HookStatus(found, tuple(plugins), kept, tuple(problems), off)


def _load_settings(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return mapping(json.loads(path.read_text("utf-8-sig") or "{}"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        problems.append(f"{path} cannot be read: {error}")
        return {}


def _our_hooks(hooks: object) -> Iterator[tuple[str, Path]]:
    for event, groups in mapping(hooks).items():
        for group in items(groups):
            for hook in items(mapping(group).get("hooks")):
                home = home_of_hook(hook)
                if home is not None:
                    yield event, HomePaths(home).hooks / SCRIPT
