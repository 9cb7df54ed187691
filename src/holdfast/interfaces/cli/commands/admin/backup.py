"""`holdfast backup`."""

from __future__ import annotations

from holdfast.app.core.context import utc_now
from holdfast.app.status.health import disk_use
from holdfast.app.transfer.backup import back_up, backup_json, backup_path
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, amount, number
from holdfast.settings import load_settings

HELP = """\
Copy the whole memory into one file that only you can read, while sessions and workers go
on. In it: all that is remembered, the settings, and the journals of events. The copy is
looked through and compared with the memory before it gets its name; no file is replaced.
`holdfast restore-backup` puts it back."""

EXAMPLES = """\
  holdfast backup                          into ~/.holdfast/backups
  holdfast backup /mnt/safe/memory.db
  holdfast backup /mnt/safe                a folder: named by the time"""


def configure(parser: Parser) -> None:
    parser.add_argument(
        "file", nargs="?", type=options.some_path, metavar="FILE", help="where to (default: home)"
    )
    parser.flag("--dry-run", "only say where, and how much")
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    settings = load_settings()
    if arguments.dry_run:
        path, disk = backup_path(settings, arguments.file, utc_now()), disk_use(settings)
        size = disk.database + disk.journals
        if arguments.json:
            screen.json({"path": str(path), "bytes": size, "made": False})
            return
        screen.line(f"Would write about {amount(size)} to {path}. Nothing was written.")
        return
    made = back_up(settings, arguments.file)
    copy = made.copy
    if arguments.json:
        screen.json(backup_json(made))
        return
    screen.line(f"Backed up to {made.path} ({amount(made.bytes)}).")
    screen.line(
        f"  {number(copy.tables.get('session', 0), 'session')}, "
        f"{number(copy.tables.get('turn', 0), 'turn')}, {number(len(copy.files), 'file')} "
        "beside them; compared with the memory, and whole."
    )
