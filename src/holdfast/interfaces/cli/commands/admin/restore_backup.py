"""`holdfast restore-backup`."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.transfer.backup import (
    BackupCheck,
    BackupFile,
    check_backup,
    latest_backup,
    list_backups,
    restore,
)
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, amount, minute, number
from holdfast.settings import Settings, load_settings

HELP = """\
Put a backup in the place of the memory. It is looked through first; what is remembered now
is kept beside it as a backup of its own, so this can be taken back the same way. Sessions
that have the memory open see the one or the other, never a mixture; so does whoever looks
after it was killed. Copies made before each upgrade of the schema can be put back too,
which is what an older program needs after an upgrade was taken back."""

EXAMPLES = """\
  holdfast restore-backup --list
  holdfast restore-backup --latest         after an upgrade was taken back
  holdfast restore-backup /mnt/safe/memory.db --dry-run
  holdfast restore-backup /mnt/safe/memory.db"""


def configure(parser: Parser) -> None:
    parser.add_argument(
        "file", nargs="?", type=options.some_path, metavar="FILE", help="the backup"
    )
    parser.flag("--latest", "the latest backup in the home that this version can put back")
    parser.flag("--list", "name the backups in the home")
    parser.flag("--settings", "put its settings back too, also where there are others")
    parser.flag("--dry-run", "only look through it")
    options.add(parser, "yes", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    settings = load_settings()
    if arguments.list:
        _list(screen, list_backups(settings), arguments.json)
        return
    file = _chosen_file(arguments, settings)
    backup = check_backup(settings, file)
    if not arguments.json:
        _print(screen, backup)
    if arguments.dry_run:
        if arguments.json:
            screen.json({"restored": False, **_backup_json(backup)})
        else:
            screen.line("It is whole. Nothing was changed.")
        return
    question = f"Put it in the place of the memory at {settings.home}?"
    if not confirm.confirm_change(screen, arguments.yes, question, False, "the memory"):
        return
    done = restore(settings, file, with_settings=arguments.settings)
    if arguments.json:
        screen.json(
            {
                "restored": True,
                **_backup_json(backup),
                "aside": done.aside or None,
                "wrote": done.files,
            }
        )
        return
    screen.line("Put back.")
    if done.aside:
        screen.line(f"  What was remembered before is in {done.aside}.")
    for name in done.files:
        screen.line(f"  {name} is there again.")


def _chosen_file(arguments: Arguments, settings: Settings) -> Path:
    if arguments.latest and arguments.file is not None:
        raise InputError("A file and --latest cannot both be meant.", "Leave out one of them.")
    if arguments.latest:
        return latest_backup(settings)
    if arguments.file is None:
        raise InputError("No backup is named.", "`holdfast restore-backup --list` names some.")
    return arguments.file


def _backup_json(backup: BackupCheck) -> dict[str, object]:
    copy = backup.copy
    return {
        "path": str(backup.path),
        "made": copy.made or None,
        "schema": copy.schema,
        "rows": copy.tables,
        "files": copy.files,
        "erased_since": backup.erased_since,
    }


def _print(screen: Screen, backup: BackupCheck) -> None:
    copy = backup.copy
    made = f"made {copy.made}" if copy.made else "without a note of when it was made"
    screen.line(
        f"{backup.path}: {made}, schema {copy.schema}, "
        f"{number(copy.tables.get('session', 0), 'session')}, "
        f"{number(copy.tables.get('turn', 0), 'turn')}."
    )
    if backup.erased_since:
        screen.note(
            f"{number(backup.erased_since, 'mark')} of things erased since are not in it: "
            "what was erased comes back. Erase it again afterwards."
        )


def _list(screen: Screen, kept: list[BackupFile], as_json: bool) -> None:
    if as_json:
        screen.json({"backups": [{**k._asdict(), "path": str(k.path)} for k in kept]})
        return
    if not kept:
        screen.line("No backups in the home. `holdfast backup` makes one.")
    for one in kept:
        when = minute(one.made) or "-"
        screen.line(f"{one.path}")
        screen.line(f"  {amount(one.bytes)}, schema {one.schema or '?'}, {when}: {one.why}")
