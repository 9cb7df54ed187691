"""`holdfast backup` and `holdfast restore-backup`, which also work where the memory cannot be
opened."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.core.context import utc_now
from holdfast.app.status.health import disk_use
from holdfast.app.transfer.backup import (
    BackupCheck,
    back_up,
    backup_path,
    check_backup,
    latest_backup,
    list_backups,
    restore,
)
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, CommandSpec, Parser
from holdfast.operations.screen import Screen, amount, minute, number
from holdfast.settings import load_settings


def _configure_backup(parser: Parser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        type=options.some_path,
        metavar="FILE|DIR",
        help="where to write it (default: ~/.holdfast/backups)",
    )
    parser.flag("--dry-run", "only show where it would go, and its size")
    options.add(parser, "json")


def _run_backup(screen: Screen, arguments: Arguments) -> None:
    settings = load_settings()
    if arguments.dry_run:
        path, disk = backup_path(settings, arguments.file, utc_now()), disk_use(settings)
        size = disk.database + disk.journals
        sentence = f"Would write about {amount(size)} to {path}. Nothing was written."
        planned = {"path": str(path), "bytes": size, "made": False}
        return screen.report(arguments.json, planned, sentence)
    made = back_up(settings, arguments.file)
    if arguments.json:
        return screen.json(made)
    screen.line(f"Backed up to {made.path} ({amount(made.bytes)}).")
    screen.line(
        f"  {number(made.rows.get('session', 0), 'session')}, "
        f"{number(made.rows.get('turn', 0), 'turn')}, {number(len(made.files), 'file')} "
        "beside them; compared with the memory and intact."
    )


def _configure_restore(parser: Parser) -> None:
    parser.add_argument(
        "file", nargs="?", type=options.some_path, metavar="FILE", help="the backup"
    )
    parser.flag(
        "--latest", "the latest backup in ~/.holdfast/backups that this version can restore"
    )
    parser.flag("--list", "list the backups in ~/.holdfast/backups")
    parser.flag("--settings", "also restore its settings, replacing the present ones")
    parser.flag("--dry-run", "only check it")
    options.add(parser, "yes", "json")


def _run_restore(screen: Screen, arguments: Arguments) -> None:
    settings = load_settings()
    if arguments.list:
        return _list_backups(screen, arguments)
    if arguments.latest and arguments.file is not None:
        raise InputError("A file and --latest cannot be combined.", "Leave out one of them.")
    given: Path | None = arguments.file
    file = latest_backup(settings) if arguments.latest else given
    if not file:
        raise InputError("No backup is given.", "`holdfast restore-backup --list` lists them.")
    backup = check_backup(settings, file)
    copy = backup.copy
    found: dict[str, object] = {
        "path": str(backup.path),
        "made": copy.made or None,
        "schema": copy.schema,
        "rows": copy.tables,
        "files": copy.files,
        "erased_since": backup.erased_since,
    }
    if not arguments.json:
        _print(screen, backup)
    if arguments.dry_run:
        found = {"restored": False, **found}
        return screen.report(arguments.json, found, "The backup is intact. Nothing was changed.")
    question = f"Replace the memory at {settings.home} with this backup?"
    if not confirm.confirm_change(screen, arguments.yes, question, False, "the memory"):
        return
    done = restore(settings, file, with_settings=arguments.settings)
    if arguments.json:
        aside = {"aside": done.aside or None, "wrote": done.files}
        return screen.json({"restored": True, **found, **aside})
    screen.line("Restored.")
    if done.aside:
        screen.line(f"  The previous memory is in {done.aside}.")
    for name in done.files:
        screen.line(f"  Restored {name}.")


def _print(screen: Screen, backup: BackupCheck) -> None:
    copy = backup.copy
    made = f"made {copy.made}" if copy.made else "made at an unknown time"
    screen.line(
        f"{backup.path}: {made}, schema {copy.schema}, "
        f"{number(copy.tables.get('session', 0), 'session')}, "
        f"{number(copy.tables.get('turn', 0), 'turn')}."
    )
    if backup.erased_since:
        screen.note(
            f"{number(backup.erased_since, 'record')} erased after this backup will come back. "
            "Erase them again afterwards."
        )


def _list_backups(screen: Screen, arguments: Arguments) -> None:
    kept = list_backups(load_settings())
    if arguments.json:
        return screen.json({"backups": kept})
    if not kept:
        screen.line("There are no backups. Create one with `holdfast backup`.")
    for one in kept:
        when = minute(one.made) or "-"
        screen.line(f"{one.path}")
        screen.line(f"  {amount(one.bytes)}, schema {one.schema or '?'}, {when}: {one.why}")


BACKUP = CommandSpec(
    help="""\
Copy the whole memory into one file that only you can read, while sessions and workers keep
running. The file contains the memory, the settings, and the journals of events. The copy
is checked and compared with the memory before it gets its name; no file is replaced.
`holdfast restore-backup` restores it.""",
    examples="""\
  holdfast backup                          into ~/.holdfast/backups
  holdfast backup /mnt/safe/memory.db
  holdfast backup /mnt/safe                a folder: named by the time""",
    configure=_configure_backup,
    run=_run_backup,
)

RESTORE = CommandSpec(
    help="""\
Replace the memory by a backup. The backup is checked first; the present memory is kept as
another backup, so this can be undone the same way. Sessions that have the memory open see
the old or the new one, never a mixture, even if this command is killed. Copies made before
each upgrade of the schema can be restored too: an older version needs that after you have
undone an upgrade.""",
    examples="""\
  holdfast restore-backup --list
  holdfast restore-backup --latest         after you have undone an upgrade
  holdfast restore-backup /mnt/safe/memory.db --dry-run
  holdfast restore-backup /mnt/safe/memory.db""",
    configure=_configure_restore,
    run=_run_restore,
)
