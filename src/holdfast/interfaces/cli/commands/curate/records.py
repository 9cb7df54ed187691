"""`holdfast correct`, `restore` and `merge`, and the form of a command that changes a record: it
says what it will do, asks, and does it (`run_change`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from holdfast.app.memory import Holdfast, open_memory
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, CommandSpec, Parser
from holdfast.interfaces.cli.screen import Screen
from holdfast.language import truncate

# An announcement shows the start of a corrected text: enough to recognise it in the question.
_MAX_ANNOUNCED_CHARACTERS = 300
# How much of an id is printed in advice to run `holdfast restore`, which takes the start of one.
ID_CHARACTERS = 16


class Change(NamedTuple):
    """A change that a person is asked about, and the line that is printed once it is made."""

    apply: Callable[[], object]
    done: str


Announce = Callable[[Screen, Holdfast, Arguments], Change]


def run_change(announce: Announce, screen: Screen, arguments: Arguments) -> None:
    """Announce a change, ask, make it."""
    with open_memory(create=False) as memory:
        change = announce(screen, memory, arguments)
        if not confirm.confirm_memory_change(screen, arguments.yes):
            return
        change.apply()
    screen.line(change.done)


def _configure_correct(parser: Parser) -> None:
    options.add(parser, "record")
    parser.add_argument("text", nargs="+", metavar="TEXT", help="the new text")
    options.add(parser, "yes")


def _announce_correction(screen: Screen, memory: Holdfast, arguments: Arguments) -> Change:
    text = " ".join(arguments.text)
    target = memory.curation.target(arguments.id)
    screen.wrap(f"New text of {target.uri}: {truncate(text, _MAX_ANNOUNCED_CHARACTERS)}")
    return Change(
        lambda: memory.correct(target.uri, text), "Corrected. `holdfast undo` undoes this."
    )


def _configure_restore(parser: Parser) -> None:
    options.add(parser, "record")


def _run_restore(screen: Screen, arguments: Arguments) -> None:
    with open_memory(create=False) as memory:
        target = memory.curation.target(arguments.id)
        memory.restore(target.uri)
    screen.line(f"Restored {target.uri}.")


def _configure_merge(parser: Parser) -> None:
    options.add(parser, "record", "into", "yes")


def _announce_merge(screen: Screen, memory: Holdfast, arguments: Arguments) -> Change:
    merged = memory.curation.target(arguments.id)
    into = memory.curation.target(arguments.into)
    screen.line(f"{into.uri} will replace {merged.uri}.")
    return Change(
        lambda: memory.curation.merge(merged.uri, into.uri),
        f"Merged. `holdfast restore {merged.id[:ID_CHARACTERS]}` undoes this.",
    )


CORRECT = CommandSpec(
    help="""\
Replace the text of a record: a turn, an exchange, a digest, a memory, a fact, a commit or the
name of a concept. Recall, ask and briefs then use your text, marked as corrected; `show` lists the
old text as superseded. `holdfast undo` undoes it.""",
    examples="""\
  holdfast correct 5c1f0a "The cause was the cron entry, not the retry wrapper." --yes""",
    configure=_configure_correct,
    run=partial(run_change, _announce_correction),
)

RESTORE = CommandSpec(
    help="""\
Bring back a forgotten or merged record, with everything that was hidden with it.""",
    examples="""\
  holdfast restore 5c1f0a""",
    configure=_configure_restore,
    run=_run_restore,
)

MERGE = CommandSpec(
    help="""\
Merge a record into another of the same bank that says the same: two memories, facts, exchanges,
concepts or commits. The first is no longer found; its turns stay. `restore` undoes it.""",
    examples="""\
  holdfast merge 5c1f0a 9be2d4""",
    configure=_configure_merge,
    run=partial(run_change, _announce_merge),
)
