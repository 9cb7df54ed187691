"""`holdfast doctor`."""

from __future__ import annotations

import sys
from collections.abc import Callable

from holdfast.app.doctor.check import Check, Grade, Mended
from holdfast.app.doctor.examine import run_checks, run_fixes
from holdfast.app.status.health import current_folder
from holdfast.errors import SettingsError
from holdfast.interfaces.cli import options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.operations.admin.machine import checkup
from holdfast.operations.output.install_hint import adapt_install_commands
from holdfast.operations.screen import Screen
from holdfast.operations.shapes import result_json
from holdfast.settings import Settings, load_settings

HELP = """\
Check the installation and the data: hooks, server, scripts, interpreter, permissions, disk
space, settings, journals, backups, events, worker, memory, derived rows, vectors, models,
providers, team servers. Says what is wrong and how to fix it. --fix fixes it, and asks before it
removes something or changes settings of Claude Code. Exit status 1 if something is broken."""

EXAMPLES = """\
  holdfast doctor
  holdfast doctor --fix
  holdfast doctor --json"""

# Sentences start behind a mark of two characters and the name of a check, padded to 12.
_TEXT_INDENT = " " * 16
_MARKS = {Grade.OK: ("ok", "green"), Grade.WARNING: ("!", "yellow"), Grade.BROKEN: ("X", "red")}


def configure(parser: Parser) -> None:
    parser.flag("--fix", "fix what can be fixed safely")
    parser.flag("--yes", "with --fix: go ahead without asking")
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> int:
    folder, mended = current_folder(), list[Mended]()
    settings, settings_error = _settings()
    if arguments.fix:
        mended = run_fixes(settings, folder, _asker(arguments.yes), settings_error)
        settings, settings_error = _settings()
    checks = run_checks(settings, folder, settings_error)
    broken = any(check.grade is Grade.BROKEN for check in checks)
    if arguments.json:
        screen.json(result_json(checkup(checks, mended)))
    else:
        _print(screen, mended, checks)
    return int(broken)


def _settings() -> tuple[Settings, SettingsError | None]:
    """The settings; if their file cannot be read, the defaults and the error."""
    try:
        return load_settings(), None
    except SettingsError as error:
        return load_settings(without_file=True), error


def _asker(yes: bool) -> Callable[[Check], bool]:
    """Whether a check may be fixed: asks at a terminal; without one refuses, naming `--yes`."""

    def may_mend(check: Check) -> bool:
        if yes:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            sys.stderr.write(f"holdfast: {check.name}: not fixed without --yes: {check.question}\n")
            return False
        sys.stderr.write(f"{check.sentence}\n{check.question} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    return may_mend


def _print(screen: Screen, mended: list[Mended], checks: list[Check]) -> None:
    for one in mended:
        screen.item(f"{'fixed' if one.done else 'not fixed'}: {one.name}: {one.what}")
    if mended:
        screen.line()
    for check in checks:
        mark, colour = _MARKS[check.grade]
        start = f"{screen.paint(f'{mark:>2}', colour)}  {check.name:<12}"
        screen.wrap(check.sentence, start, _TEXT_INDENT)
        if check.remedy:
            remedy = adapt_install_commands(check.remedy)
            screen.wrap(f"→ {remedy}", _TEXT_INDENT, f"{_TEXT_INDENT}  ")
    counts = {grade: sum(check.grade is grade for check in checks) for grade in Grade}
    screen.line()
    if counts[Grade.BROKEN]:
        screen.line(f"{counts[Grade.BROKEN]} broken, {counts[Grade.WARNING]} to look at.")
    elif counts[Grade.WARNING]:
        screen.line(f"Nothing is broken; {counts[Grade.WARNING]} to look at.")
    else:
        screen.line("Everything is in order.")
