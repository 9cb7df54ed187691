"""Asking a person before something is changed."""

from __future__ import annotations

import sys

from holdfast.errors import InputError


def can_ask() -> bool:
    """Whether a person sits at the other end."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def confirm(question: str, default: bool = True) -> bool:
    """A question to answer with yes or no; just Enter takes the default."""
    sys.stdout.write(f"{question} [{'Y/n' if default else 'y/N'}] ")
    sys.stdout.flush()
    reply = sys.stdin.readline()
    if not reply:
        sys.stdout.write("\n")
        return False
    said = reply.strip().lower()
    return default if not said else said in ("y", "yes")


def may_go_ahead(
    yes: bool, question: str, default: bool = True, what: str = "files", dry_run: bool = True
) -> bool:
    """Whether to go ahead: as told by `--yes`, or asked for at a terminal. Without either it is
    refused."""
    if yes:
        return True
    if not can_ask():
        raise InputError(
            f"This changes {what}, and there is no terminal to ask at. Nothing was changed.",
            f"{'Look first with --dry-run, then run' if dry_run else 'Run'} it again with --yes.",
        )
    return confirm(question, default)
