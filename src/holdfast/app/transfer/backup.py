"""Backups of a memory: made, listed, looked into, and put back.

In a backup is what cannot be had again: the memory itself, the settings, and the journals of
events, whose transcripts may be gone. Not in it is what is made again by itself (matrices of
vectors, briefs, hooks), what only this machine needs (logs, locks), investigations, which can be
asked for again, and raw events that no worker has cleaned yet.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.app.core.context import utc_now
from holdfast.app.core.lease import take_lease
from holdfast.app.curation.erasure import remove_derived_files
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import (
    InputError,
    NotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
)
from holdfast.settings import FILE_NAME, Settings
from holdfast.store.sqlite import backup as copies
from holdfast.store.sqlite.backup import Copy
from holdfast.store.sqlite.connection import BUSY_S
from holdfast.store.sqlite.schema import VERSION
from holdfast.version import __version__

FOLDER = "backups"
_BEFORE = "before-restore-"
_SCHEMA = "schema"
_EVENTS = "events/"
_PATIENCE_S = 10.0


class Backup(NamedTuple):
    """A backup: where it lies, how long it is, and what is in it."""

    path: Path
    bytes: int
    copy: Copy


class BackupFile(NamedTuple):
    """A backup of the home: `why` it was made, when, and by which schema it is."""

    path: Path
    why: str
    made: str
    schema: int
    bytes: int


class BackupCheck(NamedTuple):
    """What a backup holds, and how many things that were erased since come back with it."""

    path: Path
    copy: Copy
    erased_since: int


class RestoreResult(NamedTuple):
    """What was put back, and where the memory of before lies now ("" where there was none)."""

    look: BackupCheck
    aside: str
    files: tuple[str, ...]


def back_up(
    settings: Settings, target: Path | None = None, now: Callable[[], str] = utc_now
) -> Backup:
    """Make a backup while others go on; into the home where no file is named."""
    _check_file(settings)
    if not settings.database.exists():
        raise NotFoundError(
            f"There is no memory at {settings.database}.", "`holdfast ingest` makes one."
        )
    path = _place(settings, target, now())
    return _copy(settings, path, now())


def backup_json(made: Backup) -> dict[str, Any]:
    """A backup, ready to be sent."""
    copy = made.copy
    return {
        "path": str(made.path),
        "bytes": made.bytes,
        "made": True,
        "schema": copy.schema,
        "rows": copy.tables,
        "hash": copy.hash,
        "files": copy.files,
    }


def backup_path(settings: Settings, target: Path | None, now: str) -> Path:
    """Where a backup would lie; refuses a file that is there."""
    return _place(settings, target, now)


def _check_file(settings: Settings) -> None:
    if settings.store:
        raise InputError(
            "This memory lies on a PostgreSQL server, which has backups of its own.",
            "Use pg_dump and pg_restore; docs/operations.md says how.",
        )


def _place(settings: Settings, target: Path | None, now: str) -> Path:
    name = f"memory-{_stamp(now)}.db"
    path = target or settings.home / FOLDER / name
    if path.is_dir():
        path = path / name
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} is there already.", "Choose another name: nothing is replaced.")
    if target is not None and not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    return path


def _stamp(now: str) -> str:
    return now.replace("-", "").replace(":", "").replace(".", "")


def _copy(settings: Settings, path: Path, made: str) -> Backup:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.parent == settings.home / FOLDER:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy = copies.make_copy(
            settings.database, part, _files(settings), made, __version__
        )
        copies.name_durably(part, path)
    except FileExistsError as error:
        raise InputError(f"{path} is there already.", "Choose another name.") from error
    except OSError as error:
        raise StoreError(
            f"No backup can be made in {path.parent}: {error.strerror or error}.",
            "Choose another place: `holdfast backup FILE`.",
        ) from error
    except StoreError as error:
        error.remedy = "No backup was made; the memory is untouched. Choose another place or file."
        raise
    finally:
        for left in (part, part.with_name(f"{part.name}-journal")):
            with suppress(OSError):
                left.unlink()
    return Backup(path, path.stat().st_size, copy)


def _files(settings: Settings) -> Iterator[tuple[str, bytes]]:
    """The files of the home that belong into a backup, as they are now."""
    own = settings.home / FILE_NAME
    if own.is_file():
        yield FILE_NAME, own.read_bytes()
    journals = HomePaths(settings.home).journals
    for path in sorted(journals.glob("*.jsonl")) if journals.is_dir() else ():
        with suppress(FileNotFoundError):
            if path.is_file() and not path.is_symlink():
                yield f"{_EVENTS}{path.name}", path.read_bytes()


def list_backups(settings: Settings) -> list[BackupFile]:
    """The backups in the home, the latest first."""
    found: list[tuple[float, BackupFile]] = []
    folder = settings.home / FOLDER
    for path in folder.glob("*.db") if folder.is_dir() else ():
        stat = path.stat()
        schema, made = copies.read_schema_and_time(path)
        found.append((stat.st_mtime, BackupFile(path, _why(path.stem, schema), made, schema,
                                          stat.st_size)))  # fmt: skip
    return [kept for _, kept in sorted(found, key=lambda one: -one[0])]


def latest_backup(settings: Settings) -> Path:
    """The latest backup in the home that this program can put back."""
    for kept in list_backups(settings):
        if 0 < kept.schema <= VERSION:
            return kept.path
    raise NotFoundError(
        f"There is no backup in {settings.home / FOLDER} that this version can put back.",
        "Name a file: `holdfast restore-backup FILE`.",
    )


def _why(stem: str, schema: int) -> str:
    if not schema:
        return "cannot be read"
    told = stem.removeprefix("memory-")
    if told.startswith(_SCHEMA):
        return f"before the schema moved on from {schema}"
    return "before another was put back" if told.startswith(_BEFORE) else "a backup"


def check_backup(settings: Settings, path: Path) -> BackupCheck:
    """Look through a backup; raises where it cannot be used."""
    _check_file(settings)
    if not path.is_file():
        raise NotFoundError(
            f"There is no backup {path}.", "`holdfast restore-backup --list` names those there are."
        )
    if settings.database.exists() and path.samefile(settings.database):
        raise InputError(f"{path} is the memory in use.", "Name a backup of it.")
    copy = copies.check_copy(path)
    gone = copies.erasure_marks(settings.database) - copies.erasure_marks(path)
    return BackupCheck(path, copy, len(gone) if settings.database.exists() else 0)


def restore(
    settings: Settings,
    path: Path,
    now: Callable[[], str] = utc_now,
    with_settings: bool = False,
    busy_s: float = BUSY_S,
) -> RestoreResult:
    """Put a backup in the place of the memory, which is kept aside. Killed anywhere, the one or
    the other is there."""
    seen = check_backup(settings, path)
    places = HomePaths(settings.home)
    with take_lease(places, _PATIENCE_S) as held:
        if held is None:
            raise StoreBusyError(
                "Holdfast is at work on this memory just now. Nothing was changed.",
                "Run this again in a minute; `holdfast status` tells whether a worker runs.",
            )
        _remove_leftovers(settings.home)
        folder = Path(tempfile.mkdtemp(prefix=_STAGING, dir=settings.home))
        try:
            staged = folder / "memory.db"
            copies.stage_copy(path, staged)
            copies.carry_over_revocations(settings.database, staged)
            aside = _aside(settings, now())
            files = _put_files(settings, path, with_settings)
            _swap(settings.database, staged, busy_s)
        except OSError as error:
            raise StoreError(
                f"The backup cannot be put back: {error.strerror or error}.",
                "The memory is as it was. Make room in its folder, or make it writable.",
            ) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        remove_derived_files(settings)
        with suppress(FileNotFoundError):
            places.last_scan.unlink()  # the next worker looks through all transcripts
    return RestoreResult(seen, str(aside or ""), tuple(files))


def restore_latest_intact(settings: Settings, now: Callable[[], str] = utc_now) -> RestoreResult | None:
    """Put back the latest backup of the home that is whole and that this version knows; None where
    there is none."""
    for kept in list_backups(settings):
        if 0 < kept.schema <= VERSION:
            try:
                return restore(settings, kept.path, now)
            except StoreCorruptError:
                continue
    return None


def set_aside_damaged(settings: Settings, now: Callable[[], str] = utc_now) -> Path:
    """Keep a memory that cannot be read under another name, so that a new one can begin."""
    database = settings.database
    to = settings.home / FOLDER / f"{database.stem}-damaged-{_stamp(now())}.db.kept"
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for end in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            database.with_name(database.name + end).rename(to.with_name(to.name + end))
    remove_derived_files(settings)
    with suppress(FileNotFoundError):
        HomePaths(settings.home).last_scan.unlink()
    return to


_STAGING = ".restoring-"


def _remove_leftovers(home: Path) -> None:
    """What one that was killed left behind; nobody else is at it while we hold the lease."""
    for left in home.glob(f"{_STAGING}*"):
        shutil.rmtree(left, ignore_errors=True)


def _aside(settings: Settings, now: str) -> Path | None:
    """Keep the memory in use; as it is on disk where it cannot be read as one."""
    database = settings.database
    if not database.exists():
        return None
    path = settings.home / FOLDER / f"memory-{_BEFORE}{_stamp(now)}.db"
    if copies.is_sound(database):
        return _copy(settings, path, now).path
    path = path.with_name(path.name.replace(_BEFORE, f"damaged-{_BEFORE}"))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for end in ("", "-wal"):
        if database.with_name(database.name + end).exists():
            shutil.copy2(database.with_name(database.name + end), path.with_name(path.name + end))
    return path


def _put_files(settings: Settings, path: Path, with_settings: bool) -> list[str]:
    """Write the files that are missing. Journals that are there have all that theirs had."""
    written: list[str] = []
    for name, content in copies.kept_files(path):
        own = settings.home / FILE_NAME
        if name == FILE_NAME:
            if own.exists() and (not with_settings or own.read_bytes() == content):
                continue
            if own.exists():
                own.replace(own.with_name(f"{FILE_NAME}.before-restore"))
        elif not name.startswith(_EVENTS) or Path(name).name != name.removeprefix(_EVENTS):
            continue  # nothing that we put there
        to = settings.home / name
        if name == FILE_NAME or not to.exists():
            _write(to, content)
            written.append(name)
    return written


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _swap(database: Path, staged: Path, busy_s: float) -> None:
    if copies.is_sound(database):
        copies.put_back(staged, database, busy_s)
        return
    # Nothing that could be read is there. A log that was left would be read into the new one.
    for end in ("-wal", "-shm"):
        database.with_name(database.name + end).unlink(missing_ok=True)
    staged.replace(database)
