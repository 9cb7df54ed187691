"""Backups of a memory in a file: making, listing, checking and restoring them.

A backup holds what cannot be computed again: the database, the settings, and the journals of hook
events, whose transcripts may be gone. It leaves out what is derived (vector matrices, briefs,
hooks), what only this machine needs (logs, locks), research sessions, which can be run again, and
raw events that are not redacted yet. The SQLite side is in `holdfast.store.sqlite.backup`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.app.core.context import utc_now
from holdfast.app.core.lease import take_lease
from holdfast.app.curation.erasure import remove_derived_files
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import (
    HoldfastError,
    InputError,
    NotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
)
from holdfast.private_files import write_private
from holdfast.settings import FILE_NAME, Settings
from holdfast.store.sqlite import backup as copies
from holdfast.store.sqlite.backup import Copy
from holdfast.store.sqlite.connection import BUSY_S
from holdfast.store.sqlite.replacement import put_back
from holdfast.store.sqlite.schema import VERSION
from holdfast.version import __version__

# The folder of backups in the home, and what the names of files in it start with after "memory-".
FOLDER = "backups"
_BEFORE_RESTORE = "before-restore-"
_BEFORE_MIGRATION = "schema"
# The names of journals in a backup start with this; so do their paths in the home.
_JOURNALS = "events/"
# A restore works in a folder of the home whose name starts with this.
_STAGING = ".restoring-"
# How long a restore waits for a running worker to finish. Longer keeps the user waiting; shorter
# refuses where the worker would have been done in a moment.
LEASE_WAIT_S = 10.0
# Suffixes of the files in which SQLite keeps changes that are not in the database file yet.
_LOG_SUFFIXES = ("-wal", "-shm")


class Backup(NamedTuple):
    """A backup that was just made: how many `rows` of each kind it holds, the sizes of its `files`
    by name, and its checksum."""

    path: str
    bytes: int
    made: bool
    schema: int
    rows: dict[str, int]
    hash: str
    files: dict[str, int]


class StoredBackup(NamedTuple):
    """A backup in the home: why and when it was made, and the version of its schema (0 if it
    cannot be read)."""

    path: str
    why: str
    made: str
    schema: int
    bytes: int


class BackupCheck(NamedTuple):
    """What a backup holds, and how many records erased since then a restore would bring back."""

    path: Path
    copy: Copy
    erased_since: int


class RestoreResult(NamedTuple):
    """Where the previous memory was kept ("" if there was none), and which files were restored
    beside the memory."""

    aside: str
    files: tuple[str, ...]


def back_up(
    settings: Settings, target: Path | None = None, now: Callable[[], str] = utc_now
) -> Backup:
    """Make a backup without stopping other processes; in the home if no `target` is given."""
    _check_is_file(settings)
    if not settings.database.exists():
        raise NotFoundError(
            f"There is no memory at {settings.database}.", "`holdfast ingest` makes one."
        )
    return _copy(settings, backup_path(settings, target, now()), now())


def _check_is_file(settings: Settings) -> None:
    if settings.store:
        raise InputError(
            "This memory is on a PostgreSQL server. Use the backups of PostgreSQL.",
            "Use pg_dump and pg_restore: see docs/operations.md.",
        )


def backup_path(settings: Settings, target: Path | None, now: str) -> Path:
    """Where a backup would be written. Refuses a file that exists. A `target` without a suffix is a
    folder, which is made if it is not there."""
    name = f"memory-{_stamp(now)}.db"
    if target is None:
        return settings.home / FOLDER / name
    is_folder = target.is_dir() or not (target.suffix or target.exists())
    path = target / name if is_folder else target
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} already exists.", "Choose another name; no file is replaced.")
    folder = target.absolute().parent
    if not target.is_dir() and not folder.is_dir():
        raise InputError(f"There is no folder {folder}.", "Make it first.")
    return path


def _stamp(now: str) -> str:
    return now.replace("-", "").replace(":", "").replace(".", "")


def _copy(settings: Settings, path: Path, made: str) -> Backup:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy = copies.make_copy(settings.database, part, _files(settings), made, __version__)
        copies.name_durably(part, path)
    except FileExistsError as error:
        raise InputError(f"{path} already exists.", "Choose another name.") from error
    except OSError as error:
        raise StoreError(
            f"No backup can be made in {path.parent}: {error.strerror or error}.",
            "Choose another place: `holdfast backup FILE`.",
        ) from error
    except StoreError as error:
        error.remedy = "No backup was made; the memory is untouched. Choose another place or file."
        raise
    finally:
        for leftover in (part, part.with_name(f"{part.name}-journal")):
            with suppress(OSError):
                leftover.unlink()
    size = path.stat().st_size
    return Backup(str(path), size, True, copy.schema, copy.tables, copy.hash, copy.files)


def _files(settings: Settings) -> Iterator[tuple[str, bytes]]:
    """The files of the home that belong in a backup, by their names in it."""
    own = settings.home / FILE_NAME
    if own.is_file():
        yield FILE_NAME, own.read_bytes()
    journals = HomePaths(settings.home).journals
    for path in sorted(journals.glob("*.jsonl")) if journals.is_dir() else ():
        with suppress(FileNotFoundError):
            if path.is_file() and not path.is_symlink():
                yield f"{_JOURNALS}{path.name}", path.read_bytes()


def list_backups(settings: Settings) -> list[StoredBackup]:
    """The backups in the home, the latest first."""
    found: list[StoredBackup] = []
    paths = (settings.home / FOLDER).glob("*.db")
    for path in sorted(paths, key=lambda path: -path.stat().st_mtime):
        schema, made = copies.read_schema_and_time(path)
        why = _why(path.stem, schema)
        found.append(StoredBackup(str(path), why, made, schema, path.stat().st_size))
    return found


def latest_backup(settings: Settings) -> str:
    """The latest backup in the home that this version can restore."""
    for backup in _restorable(settings):
        return backup.path
    raise NotFoundError(
        f"There is no backup in {settings.home / FOLDER} that this version can restore.",
        "Name a file: `holdfast restore-backup FILE`.",
    )


def _restorable(settings: Settings) -> Iterator[StoredBackup]:
    return (backup for backup in list_backups(settings) if 0 < backup.schema <= VERSION)


def _why(stem: str, schema: int) -> str:
    """Why a backup was made, by the name of its file."""
    if not schema:
        return "cannot be read"
    reason = stem.removeprefix("memory-")
    if reason.startswith(_BEFORE_MIGRATION):
        return f"before the upgrade from schema {schema}"
    return "before a restore" if reason.startswith(_BEFORE_RESTORE) else "a backup"


def check_backup(settings: Settings, path: Path | str) -> BackupCheck:
    """Read a whole backup and compare it with its checksum; raises if it cannot be used."""
    _check_is_file(settings)
    path = Path(path)
    if not path.is_file():
        raise NotFoundError(
            f"There is no backup {path}.", "`holdfast restore-backup --list` lists them."
        )
    if settings.database.exists() and path.samefile(settings.database):
        raise InputError(f"{path} is the memory in use.", "Name a backup of it.")
    copy = copies.check_copy(path)
    erased = copies.erasure_marks(settings.database) - copies.erasure_marks(path)
    return BackupCheck(path, copy, len(erased) if settings.database.exists() else 0)


def restore(
    settings: Settings,
    path: Path | str,
    now: Callable[[], str] = utc_now,
    with_settings: bool = False,
    busy_s: float = BUSY_S,
    lease_wait_s: float = LEASE_WAIT_S,
) -> RestoreResult:
    """Replace the memory by a backup; the previous memory is kept in the folder of backups. If the
    process is killed at any point, the home has either the old memory or the new one."""
    path = check_backup(settings, path).path
    with take_lease(HomePaths(settings.home), lease_wait_s) as lease:
        if lease is None:
            raise StoreBusyError(
                "A worker is using this memory. Nothing was changed.",
                "Run this again in a minute; `holdfast status` shows whether a worker is running.",
            )
        _remove_leftovers(settings.home)
        folder = Path(tempfile.mkdtemp(prefix=_STAGING, dir=settings.home))
        try:
            staged = folder / "memory.db"
            copies.stage_copy(path, staged)
            swap = _Swap(settings, path, staged, now, with_settings)
            swap.run(busy_s)
        except OSError as error:
            raise StoreError(
                f"The backup cannot be restored: {error.strerror or error}.",
                "The memory is unchanged. Free some disk space, or make its folder writable.",
            ) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        _forget_derived(settings)
    return RestoreResult(swap.aside, tuple(swap.files))


def restore_latest_intact(settings: Settings) -> tuple[str, str]:
    """Restore the latest backup of the home that is not damaged; returns its path, "" if there is
    none, and where the previous memory was kept."""
    for backup in _restorable(settings):
        with suppress(StoreCorruptError):
            return backup.path, restore(settings, backup.path).aside
    return "", ""


def set_aside_damaged(settings: Settings) -> Path:
    """Rename a memory that cannot be read, so that a new one can be made; returns the new path."""
    database = settings.database
    to = settings.home / FOLDER / f"{database.stem}-damaged-{_stamp(utc_now())}.db.kept"
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for suffix in (*_LOG_SUFFIXES, ""):
        with suppress(FileNotFoundError):
            database.with_name(database.name + suffix).rename(to.with_name(to.name + suffix))
    _forget_derived(settings)
    return to


def _forget_derived(settings: Settings) -> None:
    """Remove what was made of the replaced memory; the next worker scans all transcripts."""
    remove_derived_files(settings)
    HomePaths(settings.home).last_scan.unlink(missing_ok=True)


def _remove_leftovers(home: Path) -> None:
    """Delete the folders of restores that were killed. The lease excludes running ones."""
    for leftover in home.glob(f"{_STAGING}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _keep_current(settings: Settings, now: str) -> str:
    """Copy the memory in use into the folder of backups; byte by byte if it cannot be read."""
    database = settings.database
    if not database.exists():
        return ""
    path = settings.home / FOLDER / f"memory-{_BEFORE_RESTORE}{_stamp(now)}.db"
    if copies.is_sound(database):
        return _copy(settings, path, now).path
    path = path.with_name(path.name.replace(_BEFORE_RESTORE, f"damaged-{_BEFORE_RESTORE}"))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for suffix in ("", "-wal"):
        part = database.with_name(database.name + suffix)
        if part.exists():
            shutil.copy2(part, path.with_name(path.name + suffix))
    return str(path)


def _restore_files(settings: Settings, path: Path, with_settings: bool) -> list[str]:
    """Write the files of a backup that are missing in the home; returns their names. A journal that
    exists is left alone: it already holds all that the one in the backup does."""
    written: list[str] = []
    for name, content in copies.kept_files(path):
        own = settings.home / FILE_NAME
        if name == FILE_NAME:
            if own.exists() and (not with_settings or own.read_bytes() == content):
                continue
            if own.exists():
                own.replace(own.with_name(f"{FILE_NAME}.before-restore"))
        elif not name.startswith(_JOURNALS) or Path(name).name != name.removeprefix(_JOURNALS):
            continue  # not written by `back_up`
        to = settings.home / name
        if name == FILE_NAME or not to.exists():
            to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(to, content, sync=True)
            written.append(name)
    return written


class _RevokedMeanwhileError(HoldfastError):
    """A key was revoked after the revocations were carried over."""


class _Swap:
    """Keeps the memory in use aside and replaces it by a staged one, without a moment in between in
    which somebody could write: what was acknowledged is in the one or in the other."""

    def __init__(
        self,
        settings: Settings,
        path: Path,
        staged: Path,
        now: Callable[[], str],
        with_settings: bool,
    ) -> None:
        self.aside = ""
        self.files: list[str] = []
        self._settings, self._path, self._staged = settings, path, staged
        self._now, self._with_settings = now, with_settings
        self._revoked: frozenset[tuple[str, str]] = frozenset()

    def run(self, busy_s: float) -> None:
        """Swap in place, which other processes can follow, if the memory is sound; by renaming
        otherwise."""
        database = self._settings.database
        if not copies.is_sound(database):
            self._carry_over_revocations()
            self._keep_and_restore_files()
            # SQLite would apply a leftover log to the new database.
            for suffix in _LOG_SUFFIXES:
                database.with_name(database.name + suffix).unlink(missing_ok=True)
            self._staged.replace(database)
            return
        swapped = False
        while not swapped:
            self._carry_over_revocations()
            with suppress(_RevokedMeanwhileError):
                put_back(self._staged, database, busy_s, self._while_locked)
                swapped = True

    def _carry_over_revocations(self) -> None:
        self._revoked = copies.revoked_keys(self._settings.database)
        copies.revoke_keys(self._staged, self._revoked)

    def _while_locked(self) -> None:
        if copies.revoked_keys(self._settings.database) != self._revoked:
            raise _RevokedMeanwhileError("A key was revoked.", "It is carried over, too.")
        self._keep_and_restore_files()

    def _keep_and_restore_files(self) -> None:
        self.aside = _keep_current(self._settings, self._now())
        self.files = _restore_files(self._settings, self._path, self._with_settings)
