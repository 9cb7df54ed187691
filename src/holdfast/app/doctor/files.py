"""What lies in the home besides the memory: who may read it, what was left half-written, and
whether settings, journals and backups can be used."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import time

from holdfast.app.doctor.check import Check, DoctorContext, Grade, ok
from holdfast.app.transfer.backup import list_backups
from holdfast.capture import journal
from holdfast.settings import FILE_NAME, Settings

_FOLDERS = ("backups", "briefs", "events", "marks", "research", "vectors")
_LEFT = (
    (".", ".restoring-*"),
    (".", ".worker.log.*"),
    ("backups", ".*.part*"),
    ("events", ".*.part"),
    ("hooks", ".worker.pid.*"),
    ("vectors", ".*.vectors.*"),
)
_AN_HOUR_S = 3600.0
_SHOWN = 4


def check_files(context: DoctorContext) -> list[Check]:
    """Settings, who may read what, leftovers, journals, backups."""
    home = context.settings.home
    if not home.is_dir():
        return []
    checks = (_settings(context), _privacy(home), _leftovers(home), _journals(context))
    return [*checks, _backups(context.settings)]


def _settings(context: DoctorContext) -> Check:
    file, problem = context.settings.home / FILE_NAME, context.settings_error
    if problem is None:
        told = f"{file} can be used." if file.exists() else "All settings are the usual ones."
        return ok("settings", told)

    def put_aside() -> str:
        return f"{file} is {_aside(file, 'broken').name} now; the usual settings hold."

    asks = "Put the settings file aside, and go on with the usual settings?"
    remedy = problem.remedy or "Correct that file."
    return Check("settings", Grade.BROKEN, problem.message, remedy, put_aside, asks)


def _aside(path: Path, why: str) -> Path:
    """Give a file another name beside its own, which nothing has yet."""
    number = 1
    while (to := path.with_name(f"{path.name}.{why}-{number}")).exists():
        number += 1
    path.rename(to)
    return to


def _privacy(home: Path) -> Check:
    open_ones = [path for path in _private(home) if path.lstat().st_mode & 0o077]
    if not open_ones:
        return ok("privacy", "Nobody else can read what is remembered.")

    def close() -> str:
        for path in open_ones:
            path.chmod(0o700 if path.is_dir() else 0o600)
        return f"{_named(open_ones)} closed to others."

    sentence = f"Others may read {_named(open_ones)}, were it not for the folder above."
    return Check("privacy", Grade.WARNING, sentence, "holdfast doctor --fix", close)


def _private(home: Path) -> Iterator[Path]:
    """What is for nobody else: files of words, and the folders of them."""
    for pattern in ("memory.db*", FILE_NAME, "worker.log"):
        yield from (path for path in home.glob(pattern) if stat.S_ISREG(path.lstat().st_mode))
    for name in _FOLDERS:
        folder = home / name
        if folder.is_dir() and not folder.is_symlink():
            yield folder
            yield from (path for path in folder.iterdir() if stat.S_ISREG(path.lstat().st_mode))


def _named(paths: list[Path]) -> str:
    names = [path.name for path in paths[:_SHOWN]]
    return ", ".join(names) + (f" and {len(paths) - _SHOWN} more" * (len(paths) > _SHOWN))


def _leftovers(home: Path) -> Check:
    left = [
        path
        for folder, pattern in _LEFT
        for path in (home / folder).glob(pattern)
        if time() - path.lstat().st_mtime > _AN_HOUR_S
    ]
    if not left:
        return ok("leftovers", "Nothing was left half-written.")

    def remove() -> str:
        for path in left:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        return f"{_named(left)} removed."

    sentence = f"Left behind by programs that were killed: {_named(left)}."
    return Check("leftovers", Grade.WARNING, sentence, "holdfast doctor --fix", remove)


def _journals(context: DoctorContext) -> Check:
    folder = context.paths.journals
    ill = [path for path in sorted(folder.glob("*.jsonl")) if _bad_lines(path)]
    if not ill:
        return ok("journals", "Every line of the journals is an event.")

    def mend() -> str:
        for path in ill:
            copy = path.with_name(f"{path.name}.damaged")
            shutil.copy2(path, copy)
            copy.chmod(0o600)
            journal.rewrite(path, lambda event: event)
        return f"Lines that are no events were taken out of {_named(ill)}; copies are kept."

    bad = sum(map(_bad_lines, ill))
    sentence = f"{bad} lines of journals are no events: {_named(ill)}."
    return Check("journals", Grade.WARNING, sentence, "holdfast doctor --fix", mend)


def _bad_lines(path: Path) -> int:
    """How many whole lines are no events; one cut short is healed by the next event."""
    if path.is_symlink() or not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") and journal.parse(line) is None for line in file)


def _backups(settings: Settings) -> Check:
    # What was damaged when it was put aside is kept for whoever may still save something of it.
    known = [kept for kept in list_backups(settings) if "-damaged-" not in kept.path.name]
    useless = [kept.path for kept in known if not kept.schema]
    if not useless:
        return ok("backups", "Every backup in the home can be read.")

    def remove(paths: list[Path]) -> str:
        for path in paths:
            path.unlink(missing_ok=True)
        return f"{_named(paths)} removed."

    sentence = f"Cannot be read as backups: {_named(useless)}."
    asks = f"Remove {_named(useless)}?"
    return Check("backups", Grade.WARNING, sentence, "doctor --fix", partial(remove, useless), asks)
