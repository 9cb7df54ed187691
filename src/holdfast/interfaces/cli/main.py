"""The entry point of `holdfast`: finds the command, runs it, prints every failure as a sentence.

Most of the start-up time of a command is imports, so a command's module is imported only when that
command is called.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import Any

from holdfast.errors import HoldfastError, InputError
from holdfast.interfaces.cli.parser import CommandSpec, Parser, suggest
from holdfast.interfaces.cli.screen import Screen
from holdfast.version import __version__, full_version

_COMMANDS_PACKAGE = "holdfast.interfaces.cli.commands."
# The column in which purposes start in the overview, from the start of a command's name.
_NAME_COLUMN_WIDTH = 16


# The groups of the overview, and of each command its purpose and its location: a module under
# `commands`, or `module:NAME` for one of several commands of a module, where NAME is a CommandSpec.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "setup": ("start.setup", "move into Claude Code: capture by itself, briefs unasked"),
        "ingest": ("start.ingest", "read transcripts, or a repository's history, into memory"),
        "forge": ("start.forge", "read pull requests, issues and reviews from GitHub"),
        "import": ("start.import_", "take in what another program remembered, or a dialogue"),
        "brief": ("start.brief", "what the next session is told unasked, and what came of it"),
    },
    "Ask": {
        "ask": ("ask.ask", "answer a question from memory, with citations"),
        "research": ("ask.research", "follow, read and stop what is asked of memory"),
        "recall": ("ask.recall", "find the records that speak of something"),
        "find": ("ask.find", "work by file, concept, type or date, the latest first"),
        "timeline": ("ask.timeline", "what came before and after a record, a date or a topic"),
        "show": ("ask.show", "open a record, down to the raw line it came from"),
        "team": ("ask.team", "what the team knows: an answer, commits, and the people to ask"),
        "who": ("ask.who", "who knows about a file, a folder or a matter, by their commits"),
    },
    "See what is known": {
        "facts": ("known.facts", "what is known for good: rules, solutions, core logic"),
        "concepts": ("known.concepts", "what a project is about, and what belongs together"),
        "keywords": ("known.keywords", "the words that lead to facts, concepts and exchanges"),
        "entities": ("known.entities", "who and what is involved, and what goes with it"),
        "opinions": ("known.opinions", "what is believed, how firmly, and on what evidence"),
        "reflect": ("known.reflect", "what a bank makes of a question, through its disposition"),
    },
    "Say what holds, and what does not": {
        "remember": ("curate.memories:REMEMBER", "keep something in your own words"),
        "retain": ("curate.memories:RETAIN", "keep any text as a memory of a network"),
        "correct": (
            "curate.records:CORRECT",
            "say a record anew; its old words are kept as superseded",
        ),
        "forget": (
            "curate.removal:FORGET",
            "leave a record out of everything, or erase it for good",
        ),
        "restore": ("curate.records:RESTORE", "bring back what was forgotten or merged"),
        "merge": ("curate.records:MERGE", "let one record stand for another that says the same"),
        "entity": ("curate.entity", "say which names mean the same"),
        "review": ("curate.review", "decide about facts that something speaks against"),
        "undo": ("curate.undo", "take back the latest decisions about records"),
        "scrub": ("curate.removal:SCRUB", "erase a secret for good, wherever it is in the memory"),
    },
    "Make rules of it": {
        "learn": ("rules.learn", "add a rule to the files that people review"),
        "promote": ("rules.promote", "review what has earned the rank of a rule"),
        "auto-learn": ("rules.auto_learn", "what an agent may ask of the learning"),
    },
    "Work with others": {
        "share": (
            "team.share:SHARE",
            "offer chosen memories to others, on a branch beside the code",
        ),
        "unshare": ("team.share:UNSHARE", "take back what you shared"),
        "pull": ("team.pull", "take in what others share, marked as theirs"),
        "remote": ("team.remote", "servers that keep what your team shares, asked along"),
        "handoff": ("team.handoff", "one page for whoever goes on with a session or a topic"),
    },
    "Look after it": {
        "status": ("admin.status", "what is remembered, and whether every line is accounted for"),
        "doctor": ("admin.doctor", "check that everything is in order, and mend what is safe"),
        "digest": ("admin.digest", "what a week came to, and what memory got wrong in it"),
        "worth": ("admin.worth", "what came of what sessions were told, and what it took"),
        "audit": ("admin.audit", "what is remembered of code that has changed since"),
        "bank": ("admin.bank", "what a bank is like: disposition, background, names, retention"),
        "providers": (
            "admin.providers",
            "plugins that can be asked too, and how reliable they are",
        ),
        "backup": (
            "admin.backup:BACKUP",
            "copy the whole memory into one file, while others go on",
        ),
        "restore-backup": ("admin.backup:RESTORE", "put a backup in the place of the memory"),
        "export": ("admin.export", "write the memory as files that any program can read"),
        "refine": ("admin.refine", "make again what older rules and prompts made, priced first"),
        "worker": ("servers.worker", "do what is to be done behind the scenes, now"),
        "migrate": ("admin.migrate", "move the memory from a file to a server, or back"),
        "browse": ("servers.browse", "look at the memory in a browser"),
        "serve": ("servers.serve", "answer a team over HTTP: programs, agents and browsers"),
        "key": ("servers.key", "make, list and revoke the keys that a server lets people in by"),
        "eval": ("admin.evaluate", "measure what recall finds, and what was distilled of sessions"),
        "mcp": ("servers.mcp", "answer an agent's questions over its standard input"),
        "completion": ("admin.completion", "let a shell complete commands, options and banks"),
        "uninstall": ("start.uninstall", "move out of Claude Code again; the memory stays"),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}

_GLOBAL_OPTIONS = ("-h", "--help", "-V", "--version")

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
    """Run one command and return the exit status. The crash message is installed only when this is
    the program itself (no `argv`), so that a calling process keeps its own `sys.excepthook`."""
    if argv is None:
        sys.excepthook = _explain_crash
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(arguments)
    except HoldfastError as error:
        _print_error(error.message, error.remedy)
        return 2 if isinstance(error, InputError) else 1
    except KeyboardInterrupt:
        _print_error("Stopped.", "Nothing is lost; run the same command again to go on.")
        return 130
    except BrokenPipeError:
        # The program that reads the output has ended (`holdfast recall … | head`): not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _dispatch(arguments: list[str]) -> int:
    first, *rest = arguments or [""]
    if not first or arguments == ["--json"]:
        _import_command("start.here").run(Screen(), as_json=bool(first))
        return 0
    if first == "help" and rest and not rest[0].startswith("-"):
        return _run(rest[0], ["--help"])
    if first == "help" and rest == ["--man"]:
        sys.stdout.write(manual_page())
        return 0
    if first in ("-h", "--help", "help") and not rest:
        sys.stdout.write(overview())
        return 0
    if first in ("-V", "--version"):
        sys.stdout.write(f"holdfast {full_version()}\n")
        return 0
    return _run(first, rest)


def overview() -> str:
    """What `holdfast --help` prints."""
    groups: list[str] = []
    for title, commands in GROUPS.items():
        lines = [f"  {name:<{_NAME_COLUMN_WIDTH}}{text}" for name, (_, text) in commands.items()]
        groups.append("\n".join([f"{title}:", *lines]))
    return OVERVIEW.format(commands="\n\n".join(groups))


def manual_page() -> str:
    """What `holdfast help --man` prints, for man(1)."""
    os.environ.setdefault("COLUMNS", "100")
    helps = {name: make_parser(name).format_help() for name in COMMANDS}
    from holdfast.interfaces.cli.manual import page

    return page(overview(), helps, __version__)


def _run(name: str, rest: Sequence[str]) -> int:
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        hint = suggest(name, _GLOBAL_OPTIONS if what == "option" else (*COMMANDS, "help"))
        raise InputError(f"There is no {what} {name!r}.", f"{hint}See `holdfast --help`.")
    arguments = make_parser(name).parse_args(rest)
    return load_command(name).run(Screen(), arguments) or 0


def load_command(name: str) -> CommandSpec:
    """The parts of one command; imports its module."""
    location, _ = COMMANDS[name]
    module_name, _, attribute = location.partition(":")
    module = _import_command(module_name)
    if attribute:
        return getattr(module, attribute)
    return CommandSpec(module.HELP, module.EXAMPLES, module.configure, module.run)


def _import_command(name: str) -> Any:
    """The module of a command. Modules are never freed, so the garbage collector is off while they
    load and does not look through them afterwards."""
    full_name = _COMMANDS_PACKAGE + name
    if full_name in sys.modules:
        return sys.modules[full_name]
    gc.disable()
    try:
        return importlib.import_module(full_name)
    finally:
        gc.freeze()
        gc.enable()


def make_parser(name: str) -> argparse.ArgumentParser:
    """The parser of one command."""
    command = load_command(name)
    parser = Parser(
        prog=f"holdfast {name}",
        description=command.help,
        epilog=f"examples:\n{command.examples}",
        # For each argument a formatter is made to check it. With a width it does not import shutil
        # to find one (4 ms).
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80),
    )
    command.configure(parser)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def _print_error(message: str, remedy: str) -> None:
    sys.stderr.write(f"holdfast: {message}\n")
    if "pip install" in remedy:
        from holdfast.interfaces.cli.install_hint import adapt_install_commands

        remedy = adapt_install_commands(remedy)
    if remedy:
        sys.stderr.write(f"  → {remedy}\n")


def _explain_crash(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Print an unexpected error as one sentence; with HOLDFAST_DEBUG, print the traceback."""
    if os.environ.get("HOLDFAST_DEBUG"):
        sys.__excepthook__(kind, error, traceback)
        return
    _print_error(
        f"This is a fault in Holdfast ({kind.__name__}: {error}). Your memory is unharmed.",
        "Run the command again with HOLDFAST_DEBUG=1 for the details to report.",
    )


if __name__ == "__main__":
    sys.exit(main())
