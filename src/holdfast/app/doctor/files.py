"""Checks of the files in the home: permissions, half-written files, and whether settings, journals
and backups can be used."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from time import time

from holdfast.app.doctor.check import Check, DoctorContext, Grade, check_paths, ok
from holdfast.app.transfer.backup import list_backups
from holdfast.capture import journal
from holdfast.settings import FILE_NAME, Settings

# Folders with private content.
_PRIVATE_FOLDERS = ("backups", "briefs", "events", "marks", "research", "vectors")
# Temporary files by folder and pattern; they are renamed or removed unless the writer is killed.
_TEMPORARY_FILES = (
    (".", ".restoring-*"),
    (".", ".worker.log.*"),
    ("backups", ".*.part*"),
    ("events", ".*.part"),
    ("hooks", ".worker.pid.*"),
    ("vectors", ".*.vectors.*"),
)
# A temporary file this old is not being written any more.
_LEFTOVER_AGE_S = 3600.0


def check_files(context: DoctorContext) -> list[Check]:
    """Settings, permissions, leftovers, journals, backups."""
    home = context.settings.home
    if not home.is_dir():
        return []
    backups = _backups(context.settings)
    return [_settings(context), _privacy(home), _leftovers(home), _journals(context), backups]


def _settings(context: DoctorContext) -> Check:
    file, problem = context.settings.home / FILE_NAME, context.settings_error
    if problem is None:
        sentence = f"{file} is valid." if file.exists() else "Default settings; no config.toml."
        return ok("settings", sentence)

    def rename() -> str:
        renamed = _rename_aside(file, "broken").name
        return f"{file} was renamed to {renamed}; the default settings apply."

    question = "Rename the settings file and use the default settings?"
    remedy = problem.remedy or "Correct that file."
    return Check("settings", Grade.BROKEN, problem.message, remedy, rename, question)


def _rename_aside(path: Path, reason: str) -> Path:
    """Rename a file to `NAME.REASON-NUMBER` with the first free number; returns the new path."""
    number = 1
    while (to := path.with_name(f"{path.name}.{reason}-{number}")).exists():
        number += 1
    path.rename(to)
    return to


def _privacy(home: Path) -> Check:
    return check_paths(
        "privacy",
        [path for path in _private_paths(home) if path.lstat().st_mode & 0o077],
        "Only you can read the memory.",
        "The permissions of {} let others read it; only the folder above prevents that.",
        lambda path: path.chmod(0o700 if path.is_dir() else 0o600),
        "Permissions of {} restricted to you.",
    )


def _private_paths(home: Path) -> Iterator[Path]:
    """The files and folders that only their owner may read."""
    for pattern in ("memory.db*", FILE_NAME, "worker.log"):
        yield from (path for path in home.glob(pattern) if stat.S_ISREG(path.lstat().st_mode))
    for name in _PRIVATE_FOLDERS:
        folder = home / name
        if folder.is_dir() and not folder.is_symlink():
            yield folder
            yield from (path for path in folder.iterdir() if stat.S_ISREG(path.lstat().st_mode))


def _leftovers(home: Path) -> Check:
    leftovers = [
        path
        for folder, pattern in _TEMPORARY_FILES
        for path in (home / folder).glob(pattern)
        if time() - path.lstat().st_mtime > _LEFTOVER_AGE_S
    ]
    return check_paths(
        "leftovers",
        leftovers,
        "No temporary files are left.",
        "Temporary files of killed programs: {}.",
        _remove,
        "{} removed.",
    )


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _journals(context: DoctorContext) -> Check:
    bad_lines = {path: _bad_lines(path) for path in sorted(context.paths.journals.glob("*.jsonl"))}
    return check_paths(
        "journals",
        [path for path, count in bad_lines.items() if count],
        "Every line of the journals is an event.",
        f"{sum(bad_lines.values())} lines of journals are not events: {{}}.",
        _repair_journal,
        "Lines that are not events were removed from {}; copies are kept.",
    )


def _repair_journal(path: Path) -> None:
    copy = path.with_name(f"{path.name}.damaged")
    shutil.copy2(path, copy)
    copy.chmod(0o600)
    journal.rewrite(path, lambda event: event)


def _bad_lines(path: Path) -> int:
    """How many complete lines are no events. The next event repairs an incomplete last line."""
    if path.is_symlink() or not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") and journal.parse(line) is None for line in file)


def _backups(settings: Settings) -> Check:
    # Damaged databases that a restore set aside are kept: something may still be saved from them.
    known = [backup for backup in list_backups(settings) if "-damaged-" not in backup.path.name]
    return check_paths(
        "backups",
        [backup.path for backup in known if not backup.schema],
        "Every backup can be read.",
        "Cannot be read as backups: {}.",
        _remove,
        "{} removed.",
        "doctor --fix",
        "Remove {}?",
    )
