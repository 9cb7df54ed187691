"""Where Claude Code keeps its settings, and where its program lies."""

from __future__ import annotations

import os
import shutil
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from holdfast.settings import Settings
from holdfast.sources.project import run_git


class Scope(StrEnum):
    """For whom: this user in all projects, or in the project of one folder."""

    USER = "user"
    PROJECT = "project"


class SettingsFiles(NamedTuple):
    """The two files of a scope. `project` is how the second one names the project, "" for the
    user's own part."""

    scope: Scope
    hooks_file: Path
    servers_file: Path
    project: str = ""


def settings_files(settings: Settings, scope: Scope, folder: Path) -> SettingsFiles:
    """The files of a scope, seen from a folder."""
    servers = servers_file(settings.claude_dir, settings.own_claude_dir)
    if scope is Scope.USER:
        return SettingsFiles(scope, settings.claude_dir / "settings.json", servers)
    # One user's own file of a project; the one that is committed is not ours to write.
    top = Path(run_git(str(folder), "rev-parse", "--show-toplevel").strip() or folder)
    return SettingsFiles(
        scope, top / ".claude" / "settings.local.json", servers, project_key(folder, str(top))
    )


def servers_file(claude_dir: Path, own_folder: bool) -> Path:
    """The file that names a user's servers: beside the folder by default, within it where the
    user chose another folder, and by an older name where that one is there."""
    older = claude_dir / ".config.json"
    if older.exists():
        return older
    return (claude_dir if own_folder else claude_dir.parent) / ".claude.json"


def project_key(folder: Path, top: str) -> str:
    """How Claude Code names a project: by its repository, whose worktrees share one name."""
    common = run_git(str(folder), "rev-parse", "--path-format=absolute", "--git-common-dir").strip()
    root = Path(common).parent if common.endswith("/.git") else Path(top)
    return os.path.realpath(root)


def find_program() -> str:
    """Claude Code's program, or "" where there is none on the path."""
    return shutil.which("claude") or ""


def is_present(settings: Settings) -> bool:
    """Whether there is any sign of Claude Code on this machine."""
    return settings.claude_dir.is_dir() or bool(find_program())


def default_home() -> Path:
    """The home of a Holdfast that was told nothing else."""
    return Path.home() / ".holdfast"
