"""Asking a person before something is changed."""

from __future__ import annotations

import sys
from collections.abc import Callable

from holdfast.errors import InputError
from holdfast.operations.screen import Screen

NOTHING_CHANGED = "Nothing was changed."


def is_interactive() -> bool:
    """Whether a person can be asked: standard input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: str, default: bool = True) -> bool:
    """Ask a question to answer with yes or no; Enter alone takes the default."""
    sys.stdout.write(f"{question} [{'Y/n' if default else 'y/N'}] ")
    sys.stdout.flush()
    reply = sys.stdin.readline()
    if not reply:
        sys.stdout.write("\n")
        return False
    word = reply.strip().lower()
    return default if not word else word in ("y", "yes")


def confirm_with_diff(screen: Screen, yes: bool, show: Callable[[], None]) -> bool:
    """Like `confirm_change`, with yes as the default; at a terminal the answer "d" shows the diff
    and asks again."""
    if yes or not is_interactive():
        return confirm_change(screen, yes)
    while True:
        sys.stdout.write("Go ahead? [Y/n, d shows the diff] ")
        sys.stdout.flush()
        reply = sys.stdin.readline()
        if reply.strip().lower() not in ("d", "diff"):
            break
        show()
    agreed = bool(reply) and reply.strip().lower() in ("", "y", "yes")
    if not agreed:
        screen.line(NOTHING_CHANGED if reply else f"\n{NOTHING_CHANGED}")
    return agreed


def confirm_change(
    screen: Screen,
    yes: bool,
    question: str = "Go ahead?",
    default: bool = True,
    what: str = "files",
    dry_run: bool = True,
) -> bool:
    """Whether to go ahead: `--yes` was given, or the person at the terminal agrees; prints that
    nothing was changed where the answer is no. Raises InputError without a terminal. `what` names
    what is changed; `dry_run` says that the command has that option, for the advice."""
    if not yes and not is_interactive():
        raise InputError(
            f"This changes {what}, and there is no terminal to ask at. {NOTHING_CHANGED}",
            f"{'Look first with --dry-run, then run' if dry_run else 'Run'} it again with --yes.",
        )
    allowed = yes or ask(question, default)
    if not allowed:
        screen.line(NOTHING_CHANGED)
    return allowed
