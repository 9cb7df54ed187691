"""`holdfast correct`, `forget`, `restore` and `merge`: decisions about one record.

`correct`, `forget` and `merge` say what they will do, ask, and do it (`_run_change`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from holdfast.app.memory import Holdfast, open_memory
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.command_spec import CommandSpec
from holdfast.interfaces.cli.output import erasure
from holdfast.interfaces.cli.screen import Screen
from holdfast.language import truncate

# An announcement shows the start of a corrected text: enough to recognise it in the question.
_MAX_ANNOUNCED_CHARACTERS = 300
# A URI is printed to be typed again; `restore` finds a record by this much of its id.
_ID_CHARACTERS = 16


class _Change(NamedTuple):
    """A change that a person is asked about, and the line that is printed once it is made."""

    apply: Callable[[], object]
    done: str


_Announce = Callable[[Screen, Holdfast, argparse.Namespace], _Change]


def _run_change(announce: _Announce, arguments: argparse.Namespace) -> int:
    """Announce a change, ask, make it."""
    screen = Screen()
    with open_memory(create=False) as memory:
        change = announce(screen, memory, arguments)
        if not confirm.confirm_memory_change(screen, arguments.yes):
            return 0
        change.apply()
    screen.line(change.done)
    return 0


def _configure_correct(parser: argparse.ArgumentParser) -> None:
    options.add_record(parser)
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what it should say")
    options.add_yes(parser)


def _announce_correction(
    screen: Screen, memory: Holdfast, arguments: argparse.Namespace
) -> _Change:
    text = " ".join(arguments.text)
    target = memory.curation.target(arguments.id)
    screen.wrap(f"{target.uri} will say: {truncate(text, _MAX_ANNOUNCED_CHARACTERS)}")
    return _Change(
        lambda: memory.correct(target.uri, text), "Corrected. `holdfast undo` takes it back."
    )


def _configure_forget(parser: argparse.ArgumentParser) -> None:
    options.add_record(parser)
    parser.add_argument("--purge", action="store_true", help="erase it for good")
    parser.add_argument(
        "--backups", action="store_true", help="with --purge: remove backups that hold it, too"
    )
    options.add_yes(parser)


def _announce_forgetting(
    screen: Screen, memory: Holdfast, arguments: argparse.Namespace
) -> _Change:
    target = memory.curation.target(arguments.id)
    screen.line(f"This leaves {target.uri}, and what is made of it, out of everything.")
    return _Change(
        lambda: memory.forget(target.uri),
        f"Forgotten. `holdfast restore {target.id[:_ID_CHARACTERS]}` brings it back.",
    )


def _run_forget(arguments: argparse.Namespace) -> int:
    return _purge(arguments) if arguments.purge else _run_change(_announce_forgetting, arguments)


def _purge(arguments: argparse.Namespace) -> int:
    screen = Screen()
    with open_memory(create=False) as memory:
        target = memory.curation.target(arguments.id)
        planned = memory.erasure.plan_purge(target.uri)
        screen.line(f"This erases {target.uri} for good:")
        erasure.show(screen, planned)
        if confirm.confirm_memory_change(screen, arguments.yes, "Erase it?", False):
            erased = memory.erasure.purge(target.uri)
            erasure.finish(screen, erased, arguments.yes, arguments.backups)
    return 0


def _run_restore(arguments: argparse.Namespace) -> int:
    with open_memory(create=False) as memory:
        target = memory.curation.target(arguments.id)
        memory.restore(target.uri)
    Screen().line(f"{target.uri} is back.")
    return 0


def _configure_merge(parser: argparse.ArgumentParser) -> None:
    options.add_record(parser)
    options.add_record(parser, "into")
    options.add_yes(parser)


def _announce_merge(screen: Screen, memory: Holdfast, arguments: argparse.Namespace) -> _Change:
    merged = memory.curation.target(arguments.id)
    into = memory.curation.target(arguments.into)
    screen.line(f"{into.uri} will stand for {merged.uri}.")
    return _Change(
        lambda: memory.curation.merge(merged.uri, into.uri),
        f"Merged. `holdfast restore {merged.id[:_ID_CHARACTERS]}` takes them apart again.",
    )


CORRECT = CommandSpec(
    help="""\
Say a record anew: a turn, an exchange, a digest, a memory, a commit or the name of a concept.
From then on recall, ask and briefs give your words, marked as corrected; the old ones are kept,
and `show` tells them as superseded. `holdfast undo` takes it back.""",
    examples="""\
  holdfast correct 5c1f0a "The cause was the cron entry, not the retry wrapper." --yes""",
    configure=_configure_correct,
    run=partial(_run_change, _announce_correction),
)

FORGET = CommandSpec(
    help="""\
Leave a record out of everything: recall, ask, find, timelines and briefs. A session takes its
turns, exchanges and digest with it, an exchange its turns; what sums them up is made again
without them. It survives reading again, and `restore` or `undo` brings all of it back.

--purge erases for good instead: from the database with its index and vectors, from the
journals of hooks, from prepared briefs. It names the backups that still hold it.""",
    examples="""\
  holdfast forget 5c1f0a
  holdfast forget holdfast://session/0b54c3aa-1d2e-4c8e-9c1f-2f8f7d1a9e10 --purge""",
    configure=_configure_forget,
    run=_run_forget,
)

RESTORE = CommandSpec(
    help="""\
Bring back what was forgotten or merged, with all that went with it, as it was.""",
    examples="""\
  holdfast restore 5c1f0a""",
    configure=options.add_record,
    run=_run_restore,
)

MERGE = CommandSpec(
    help="""\
Let one record stand for another that says the same: two memories, two exchanges or two commits
of one bank. The first is no longer found; what was said in it stays. `restore` brings it back.""",
    examples="""\
  holdfast merge 5c1f0a 9be2d4""",
    configure=_configure_merge,
    run=partial(_run_change, _announce_merge),
)
