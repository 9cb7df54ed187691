"""`holdfast handoff`."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.app.memory import open_memory
from holdfast.app.views.handoff import hand_off
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen
from holdfast.model.to_json import to_jsonable
from holdfast.research.handoff import Pack

HELP = """\
Write a page for the person who continues a session or a topic: goal, state, decisions, findings,
dead ends, open questions, files, and the source records. Made by rules, without a model; an
empty section says so. Secrets are redacted again, and home folders become ~.

It is written to handoff-NAME.md in this folder, or to --out FILE; --out - prints it."""

EXAMPLES = """\
  holdfast handoff 'response cache'
  holdfast handoff holdfast://session/0b54c3aa-1d2e-4c8e-9c1f-2f8f7d1a9e10 --out -
  holdfast handoff 0b54c3aa --out docs/handoff.md"""


def configure(parser: Parser) -> None:
    parser.add_argument(
        "what", nargs="+", metavar="TOPIC|SESSION", help="words, or the id or URI of a session"
    )
    parser.option("--out", "FILE", "the file to write; - prints it")
    options.add(parser, "bank", "yes", "json")


def run(screen: Screen, arguments: Arguments) -> None:
    what = options.words(arguments.what, "topic", "Name a topic or a session.")
    with open_memory(create=False) as memory:
        pack, page = hand_off(memory, what, arguments.bank)
    target = None if arguments.out == "-" else Path(arguments.out or _name(pack)).expanduser()
    if arguments.json:
        target = target if arguments.out else None
    elif target is None:
        screen.line(page.rstrip("\n"))
    if target is not None:
        question, what = f"Overwrite {target}?", f"{target}, which is there"
        if target.exists() and not confirm.confirm_change(
            screen, arguments.yes, question, False, what, False
        ):
            return
        _write(target, page)
    if arguments.json:
        screen.json({**to_jsonable(pack), "page": page, "file": str(target) if target else ""})
    elif target is not None:
        screen.line(f"Written to {target}.")


def _name(pack: Pack) -> str:
    title = pack.name.rpartition("/")[2][:8] if pack.name else pack.title
    words = re.sub(r"[^\w]+", "-", title.lower()).strip("-")[:60].strip("-")
    return f"handoff-{words or 'topic'}.md"


def _write(target: Path, page: str) -> None:
    try:
        target.write_text(page, "utf-8")
    except OSError as error:
        raise InputError(
            f"{target} cannot be written: {error.strerror}.", "Name another file with --out."
        ) from error
