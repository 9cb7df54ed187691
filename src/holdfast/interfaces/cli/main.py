"""`holdfast`: finds the command, runs it, and turns every failure into a sentence.

The start-up cost of a command is what it imports, so nothing is imported for another one.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType, TracebackType
from typing import NamedTuple

from holdfast.errors import HoldfastError, InputError
from holdfast.interfaces.cli.parser import Parser, meant
from holdfast.version import __version__

_PLACE = "holdfast.interfaces.cli.commands."
_WIDTH = 16


class Command(NamedTuple):
    """A command: the module it lives in, and what it is for."""

    module: str
    purpose: str


GROUPS = {
    "Begin": {
        "setup": Command("start.setup", "move into Claude Code: capture by itself, briefs unasked"),
        "ingest": Command(
            "start.ingest", "read transcripts, or a repository's history, into memory"
        ),
        "forge": Command("start.forge", "read pull requests, issues and reviews from GitHub"),
        "import": Command(
            "start.import_", "take in what another program remembered, or a dialogue"
        ),
        "brief": Command(
            "start.brief", "what the next session is told unasked, and what came of it"
        ),
    },
    "Ask": {
        "ask": Command("ask.ask", "answer a question from memory, with citations"),
        "research": Command("ask.research", "follow, read and stop what is asked of memory"),
        "recall": Command("ask.recall", "find the records that speak of something"),
        "find": Command("ask.find", "work by file, concept, type or date, the latest first"),
        "timeline": Command(
            "ask.timeline", "what came before and after a record, a date or a topic"
        ),
        "show": Command("ask.show", "open a record, down to the raw line it came from"),
        "team": Command(
            "ask.team", "what the team knows: an answer, commits, and the people to ask"
        ),
        "who": Command("ask.who", "who knows about a file, a folder or a matter, by their commits"),
    },
    "See what is known": {
        "facts": Command("known.facts", "what is known for good: rules, solutions, core logic"),
        "concepts": Command("known.concepts", "what a project is about, and what belongs together"),
        "keywords": Command(
            "known.keywords", "the words that lead to facts, concepts and exchanges"
        ),
        "entities": Command("known.entities", "who and what is involved, and what goes with it"),
        "opinions": Command("known.opinions", "what is believed, how firmly, and on what evidence"),
        "reflect": Command(
            "known.reflect", "what a bank makes of a question, through its disposition"
        ),
    },
    "Say what holds, and what does not": {
        "remember": Command("curate.remember", "keep something in your own words"),
        "retain": Command("curate.retain", "keep any text as a memory of a network"),
        "correct": Command(
            "curate.correct", "say a record anew; its old words are kept as superseded"
        ),
        "forget": Command(
            "curate.forget", "leave a record out of everything, or erase it for good"
        ),
        "restore": Command("curate.restore", "bring back what was forgotten or merged"),
        "merge": Command("curate.merge", "let one record stand for another that says the same"),
        "entity": Command("curate.entity", "say which names mean the same"),
        "review": Command("curate.review", "decide about facts that something speaks against"),
        "undo": Command("curate.undo", "take back the latest decisions about records"),
        "scrub": Command("curate.scrub", "erase a secret for good, wherever it is in the memory"),
    },
    "Make rules of it": {
        "learn": Command("rules.learn", "add a rule to the files that people review"),
        "promote": Command("rules.promote", "review what has earned the rank of a rule"),
        "auto-learn": Command("rules.auto_learn", "what an agent may ask of the learning"),
    },
    "Work with others": {
        "share": Command(
            "team.share", "offer chosen memories to others, on a branch beside the code"
        ),
        "unshare": Command("team.unshare", "take back what you shared"),
        "pull": Command("team.pull", "take in what others share, marked as theirs"),
        "remote": Command("team.remote", "servers that keep what your team shares, asked along"),
        "handoff": Command(
            "team.handoff", "one page for whoever goes on with a session or a topic"
        ),
    },
    "Look after it": {
        "status": Command(
            "admin.status", "what is remembered, and whether every line is accounted for"
        ),
        "doctor": Command(
            "admin.doctor", "check that everything is in order, and mend what is safe"
        ),
        "digest": Command("admin.digest", "what a week came to, and what memory got wrong in it"),
        "worth": Command("admin.worth", "what came of what sessions were told, and what it took"),
        "audit": Command("admin.audit", "what is remembered of code that has changed since"),
        "bank": Command(
            "admin.bank", "what a bank is like: disposition, background, names, retention"
        ),
        "providers": Command(
            "admin.providers", "plugins that can be asked too, and how reliable they are"
        ),
        "backup": Command(
            "admin.backup", "copy the whole memory into one file, while others go on"
        ),
        "restore-backup": Command(
            "admin.restore_backup", "put a backup in the place of the memory"
        ),
        "export": Command("admin.export", "write the memory as files that any program can read"),
        "refine": Command(
            "admin.refine", "make again what older rules and prompts made, priced first"
        ),
        "worker": Command("servers.worker", "do what is to be done behind the scenes, now"),
        "migrate": Command("admin.migrate", "move the memory from a file to a server, or back"),
        "browse": Command("servers.browse", "look at the memory in a browser"),
        "serve": Command("servers.serve", "answer a team over HTTP: programs, agents and browsers"),
        "key": Command(
            "servers.key", "make, list and revoke the keys that a server lets people in by"
        ),
        "eval": Command("admin.evaluate", "measure how well recall finds what is asked for"),
        "mcp": Command("servers.mcp", "answer an agent's questions over its standard input"),
        "completion": Command(
            "admin.completion", "let a shell complete commands, options and banks"
        ),
        "uninstall": Command("start.uninstall", "move out of Claude Code again; the memory stays"),
    },
}
COMMANDS = {name: found for group in GROUPS.values() for name, found in group.items()}

_OPTIONS = ("-h", "--help", "-V", "--version")

OVERVIEW = """\
Holdfast: a memory for coding agents that a professional can trust.

usage: holdfast COMMAND [options]

{commands}

  holdfast                   where you stand, and the one next step
  holdfast COMMAND --help    what a command does, with examples
  holdfast help --man        the manual page, for man(1)
  holdfast --version         the version of this program

First time here?  holdfast setup --dry-run    what it would change of yours
                  holdfast ingest --dry-run   what it would read
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. Only as a program of its own it explains crashes:
    what goes wrong later in a process that called it is not for it to explain."""
    if argv is None:
        sys.excepthook = _explain_crash
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except HoldfastError as error:
        _complain(error.message, error.remedy)
        return 2 if isinstance(error, InputError) else 1
    except KeyboardInterrupt:
        _complain("Stopped.", "Nothing is lost; run the same command again to go on.")
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`holdfast recall … | head`): not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _dispatch(arguments: list[str]) -> int:
    first, *rest = arguments or [""]
    if not first or arguments == ["--json"]:
        return _load("start.here").run(as_json=bool(first))
    if first == "help" and rest and not rest[0].startswith("-"):
        return _run(rest[0], ["--help"])
    if first == "help" and rest == ["--man"]:
        sys.stdout.write(manual_page())
        return 0
    if first in ("-h", "--help", "help") and not rest:
        sys.stdout.write(overview())
        return 0
    if first in ("-V", "--version"):
        sys.stdout.write(f"holdfast {__version__}\n")
        return 0
    return _run(first, rest)


def overview() -> str:
    """What `holdfast --help` prints."""
    listed = "\n\n".join(
        "\n".join((f"{title}:", *(f"  {name:<{_WIDTH}}{c.purpose}" for name, c in group.items())))
        for title, group in GROUPS.items()
    )
    return OVERVIEW.format(commands=listed)


def manual_page() -> str:
    """What `holdfast help --man` prints, for man(1)."""
    os.environ.setdefault("COLUMNS", "100")
    helps = {name: make_parser(name).format_help() for name in COMMANDS}
    from holdfast.interfaces.cli.manual import page

    return page(overview(), helps, __version__)


def _run(name: str, rest: Sequence[str]) -> int:
    found = COMMANDS.get(name)
    if found is None:
        what = "option" if name.startswith("-") else "command"
        hint = meant(name, _OPTIONS if what == "option" else (*COMMANDS, "help"))
        raise InputError(f"There is no {what} {name!r}.", f"{hint}See `holdfast --help`.")
    module = _load(found.module)
    parser = make_parser(name)
    return int(module.run(parser.parse_args(rest)))


def _load(name: str) -> ModuleType:
    """The module of a command. What is loaded stays, so nobody looks through it for garbage,
    neither now nor later."""
    place = _PLACE + name
    if place in sys.modules:
        return sys.modules[place]
    gc.disable()
    try:
        return importlib.import_module(place)
    finally:
        gc.freeze()
        gc.enable()


def make_parser(name: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    module = importlib.import_module(_PLACE + COMMANDS[name].module)
    parser = Parser(
        prog=f"holdfast {name}",
        description=module.HELP,
        epilog=f"examples:\n{module.EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    return parser


def _complain(message: str, remedy: str) -> None:
    sys.stderr.write(f"holdfast: {message}\n")
    if "pip install" in remedy:
        from holdfast.interfaces.cli.install_hint import fitting

        remedy = fitting(remedy)
    if remedy:
        sys.stderr.write(f"  → {remedy}\n")


def _explain_crash(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """A fault of ours: one sentence for the user, the traceback for whoever asks for it."""
    if os.environ.get("HOLDFAST_DEBUG"):
        sys.__excepthook__(kind, error, traceback)
        return
    _complain(
        f"This is a fault in Holdfast ({kind.__name__}: {error}). Your memory is unharmed.",
        "Run the command again with HOLDFAST_DEBUG=1 for the details to report.",
    )


if __name__ == "__main__":
    sys.exit(main())
