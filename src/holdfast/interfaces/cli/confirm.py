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


def ask_or_show(question: str, show: Callable[[], None]) -> bool:
    """Ask like `ask`, with yes as the default; the answer "d" shows the diff and asks again."""
    while True:
        sys.stdout.write(f"{question} [Y/n, d shows the diff] ")
        sys.stdout.flush()
        reply = sys.stdin.readline()
        word = reply.strip().lower()
        if word not in ("d", "diff"):
            if not reply:
                sys.stdout.write("\n")
            return bool(reply) and word in ("", "y", "yes")
        show()


def is_allowed(
    yes: bool, question: str, default: bool = True, what: str = "files", dry_run: bool = True
) -> bool:
    """Whether to go ahead: `--yes` was given, or the person at the terminal agrees. Raises
    InputError without either. `what` names what is changed; `dry_run` says that the command has
    that option, for the advice."""
    if yes:
        return True
    if not is_interactive():
        raise InputError(
            f"This changes {what}, and there is no terminal to ask at. {NOTHING_CHANGED}",
            f"{'Look first with --dry-run, then run' if dry_run else 'Run'} it again with --yes.",
        )
    return ask(question, default)


def confirm_change(
    screen: Screen,
    yes: bool,
    question: str = "Go ahead?",
    default: bool = True,
    what: str = "files",
    dry_run: bool = True,
) -> bool:
    """Like `is_allowed`; prints that nothing was changed where the answer is no."""
    allowed = is_allowed(yes, question, default, what, dry_run)
    if not allowed:
        screen.line(NOTHING_CHANGED)
    return allowed
