"""Where Claude Code keeps its settings, and where its program is."""

from __future__ import annotations

import os
import shutil
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from holdfast.settings import Settings
from holdfast.sources.project import run_git


class Scope(StrEnum):
    """Where hooks apply: for this user in all projects, or in the project of one folder."""

    USER = "user"
    PROJECT = "project"


class SettingsFiles(NamedTuple):
    """The two settings files of a scope. `project` is the key of the project in the second, "" for
    the user's own part."""

    scope: Scope
    hooks_file: Path
    servers_file: Path
    project: str = ""


def settings_files(settings: Settings, scope: Scope, folder: Path) -> SettingsFiles:
    """The settings files of a scope, for the project of a folder."""
    servers = servers_file(settings.claude_dir, settings.own_claude_dir)
    if scope is Scope.USER:
        return SettingsFiles(scope, settings.claude_dir / "settings.json", servers)
    # The user's own file in a project. The one that is committed must not be changed.
    top = Path(run_git(str(folder), "rev-parse", "--show-toplevel").strip() or folder)
    return SettingsFiles(
        scope, top / ".claude" / "settings.local.json", servers, project_key(folder, str(top))
    )


def servers_file(claude_dir: Path, own_folder: bool) -> Path:
    """The file with a user's MCP servers: beside `.claude` by default, inside it where the user
    chose another folder, and with an older name where that file exists."""
    older = claude_dir / ".config.json"
    if older.exists():
        return older
    return (claude_dir if own_folder else claude_dir.parent) / ".claude.json"


def project_key(folder: Path, top: str) -> str:
    """Claude Code's key of a project: the folder of its repository, also for worktrees."""
    common = run_git(str(folder), "rev-parse", "--path-format=absolute", "--git-common-dir").strip()
    root = Path(common).parent if common.endswith("/.git") else Path(top)
    return os.path.realpath(root)


def find_program() -> str:
    """Claude Code's program, or "" where there is none on the path."""
    return shutil.which("claude") or ""


def is_present(settings: Settings) -> bool:
    """Whether Claude Code is or was used on this machine."""
    return settings.claude_dir.is_dir() or bool(find_program())


def default_home() -> Path:
    """The home where HOLDFAST_HOME is not set."""
    return Path.home() / ".holdfast"
