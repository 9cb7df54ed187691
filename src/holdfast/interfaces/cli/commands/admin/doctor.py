"""`holdfast doctor`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from holdfast.app.doctor.check import Check, Grade, checkup
from holdfast.app.doctor.examine import Mended, examine, mend
from holdfast.app.status.health import current_folder
from holdfast.errors import SettingsError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.install_hint import fitting
from holdfast.interfaces.cli.screen import Screen
from holdfast.settings import Settings, load_settings

HELP = """\
Check that everything is in order: hooks, server, scripts, interpreter, permissions, room,
settings, journals, backups, events, worker, memory, derived rows, vectors, model,
providers. Says what is wrong and how to mend it; --fix mends it, and asks before it takes
something away or changes settings of Claude Code. Exit status 1 if something is broken."""

EXAMPLES = """\
  holdfast doctor
  holdfast doctor --fix
  holdfast doctor --json"""

_MARKS = {Grade.OK: ("ok", "green"), Grade.WARNING: ("!", "yellow"), Grade.BROKEN: ("X", "red")}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("--fix", action="store_true", help="mend what is safe to mend")
    parser.add_argument(
        "--yes", action="store_true", help="with --fix: do not ask before what takes long"
    )
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run this command."""
    screen = Screen()
    folder, mended = current_folder(), list[Mended]()
    settings, unsettled = _settings()
    if arguments.fix:
        mended = mend(settings, folder, _asker(arguments.yes), unsettled)
        settings, unsettled = _settings()
    checks = examine(settings, folder, unsettled)
    broken = any(check.grade is Grade.BROKEN for check in checks)
    if arguments.json:
        screen.json(checkup(checks, mended))
    else:
        _print(screen, mended, checks)
    return int(broken)


def _settings() -> tuple[Settings, SettingsError | None]:
    """The settings; the usual ones where their file cannot be used, and why."""
    try:
        return load_settings(), None
    except SettingsError as error:
        return load_settings(without_file=True), error


def _asker(yes: bool) -> Callable[[Check], bool]:
    """Ask at a terminal; without one, refuse and name the option."""

    def may(check: Check) -> bool:
        if yes:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            sys.stderr.write(f"holdfast: {check.name}: not mended without --yes: {check.asks}\n")
            return False
        sys.stderr.write(f"{check.sentence}\n{check.asks} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    return may


def _print(screen: Screen, mended: list[Mended], checks: list[Check]) -> None:
    for one in mended:
        screen.wrap(f"{'mended' if one.done else 'not mended'}: {one.name}: {one.what}", "", "  ")
    if mended:
        screen.line()
    for check in checks:
        mark, colour = _MARKS[check.grade]
        start = f"{screen.paint(f'{mark:>2}', colour)}  {check.name:<12}"
        screen.wrap(check.sentence, start, " " * 16)
        if check.remedy:
            screen.wrap(f"→ {fitting(check.remedy)}", " " * 16, " " * 18)
    counts = {grade: sum(check.grade is grade for check in checks) for grade in Grade}
    screen.line()
    if counts[Grade.BROKEN]:
        screen.line(f"{counts[Grade.BROKEN]} broken, {counts[Grade.WARNING]} to look at.")
    elif counts[Grade.WARNING]:
        screen.line(f"Nothing is broken; {counts[Grade.WARNING]} to look at.")
    else:
        screen.line("Everything is in order.")
