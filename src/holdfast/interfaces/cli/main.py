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

from holdfast.errors import HoldfastError, InputError, suggest
from holdfast.interfaces.cli.parser import CommandSpec, Parser
from holdfast.interfaces.cli.screen import Screen, discard_output
from holdfast.version import full_version

# With Python's 700 a question waits for fifteen collections that find nothing to free (5 ms);
# with this, for none, and what can be garbage meanwhile is a few megabytes.
_OBJECTS_BETWEEN_COLLECTIONS = 20_000
_COMMANDS_PACKAGE = "holdfast.interfaces.cli.commands."
# The column in which purposes start in the overview, from the start of a command's name.
_NAME_COLUMN_WIDTH = 16


# The groups of `holdfast help all`, and of each command its location and its purpose. A location is
# a module under `commands`, or `module:NAME` for one of several commands of a module, where NAME is
# a CommandSpec.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Install and read": {
        "setup": ("start.setup", "install the Claude Code hooks and the MCP server"),
        "uninstall": ("start.uninstall", "remove hooks and MCP server; the memory stays"),
        "brief": ("start.brief", "show the context injected at session start, and its use"),
        "ingest": ("start.ingest", "read transcripts, or a repository's history, into memory"),
        "forge": ("start.forge", "read pull requests, issues and reviews from GitHub"),
        "import": ("start.import_", "import the memory of another program, or a dialogue"),
    },
    "Search and ask": {
        "ask": ("ask.ask", "answer a question from memory, with citations"),
        "recall": ("ask.recall", "search the records"),
        "show": ("ask.show", "open a record, down to the transcript line it came from"),
        "find": ("ask.find", "list work by file, concept, type or date"),
        "timeline": ("ask.timeline", "list records before and after a record, date or topic"),
        "team": ("ask.team", "answer from commits, pull requests and issues; who to ask"),
        "who": ("ask.who", "list who knows about a file or topic, by their commits"),
        "research": ("ask.research", "list, follow and stop questions that are being answered"),
    },
    "See what is known": {
        "facts": ("known.facts", "list decisions, rules, lessons, outcomes and open tasks"),
        "concepts": ("known.concepts", "list the topics of a project, and what belongs to each"),
        "keywords": ("known.keywords", "list the keywords of facts, concepts and exchanges"),
        "entities": ("known.entities", "list people, components and files, and their relations"),
        "opinions": ("known.opinions", "list opinions, with confidence and evidence"),
        "reflect": ("known.reflect", "form an opinion about a question from the evidence"),
    },
    "Correct and forget": {
        "remember": ("curate.memories:REMEMBER", "store a statement in your own words"),
        "retain": (
            "curate.memories:RETAIN",
            "store a text as knowledge, experience, opinion or observation",
        ),
        "correct": ("curate.records:CORRECT", "replace the text of a record; the old one is kept"),
        "forget": ("curate.removal:FORGET", "hide a record everywhere, or erase it permanently"),
        "restore": ("curate.records:RESTORE", "bring back a forgotten or merged record"),
        "merge": ("curate.records:MERGE", "merge two records that say the same"),
        "entity": ("curate.entity", "merge or split the names of an entity"),
        "review": ("curate.review", "decide about facts with evidence against them"),
        "undo": ("curate.undo", "undo the latest of these changes"),
        "scrub": ("curate.removal:SCRUB", "erase a secret everywhere in the memory"),
    },
    "Rules": {
        "learn": ("rules.learn", "add a rule to a project's rule files"),
        "promote": ("rules.promote", "approve or reject proposed rules"),
        "auto-learn": ("rules.auto_learn", "the MCP tool auto_learn as a command, for agents"),
    },
    "Team": {
        "share": ("team.share:SHARE", "share records on a git branch or with a server"),
        "unshare": ("team.share:UNSHARE", "withdraw what you shared"),
        "pull": ("team.pull", "import what others share"),
        "remote": ("team.remote", "add and test servers that are searched as well"),
        "handoff": ("team.handoff", "write a hand-off page for a session or a topic"),
    },
    "Operate": {
        "status": (
            "admin.status",
            "show whether capture works, and what is stored",
        ),
        "doctor": ("admin.doctor", "check installation and data, and fix problems"),
        "worth": ("admin.worth", "report how injected context was used, and its cost"),
        "audit": ("admin.audit", "list memories about code that has changed since"),
        "bank": ("admin.bank", "list, configure and merge banks"),
        "browse": ("servers.browse", "open the memory in a browser"),
        "backup": ("admin.backup:BACKUP", "back up the whole memory into one file"),
        "restore-backup": ("admin.backup:RESTORE", "replace the memory by a backup"),
        "export": ("admin.export", "write the memory as files in an open format"),
        "refine": ("admin.refine", "update records that an older version derived"),
        "worker": ("servers.worker", "run the background work now"),
        "serve": ("servers.serve", "serve a team over HTTP: REST, GraphQL, MCP, pages"),
        "key": ("servers.key", "create, list and revoke the API keys of a server"),
        "mcp": ("servers.mcp", "run the MCP server on standard input and output"),
        "providers": ("admin.providers", "list and test plugins that are searched as well"),
        "eval": ("admin.evaluate", "measure retrieval and knowledge extraction"),
        "completion": ("admin.completion", "print the completion script of a shell"),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}

_GLOBAL_OPTIONS = ("-h", "--help", "-V", "--version")

# The commands that `holdfast --help` shows.
FIRST_COMMANDS = ("setup", "status", "brief", "ask", "recall", "show", "remember", "browse")

_SHORT_HELP = """\
Holdfast: a local, searchable memory for coding agents.

usage: holdfast COMMAND [options]

{commands}

  holdfast                   current state, and the next step
  holdfast COMMAND --help    what a command does, with examples
  holdfast help all          all {count} commands

First time here?  holdfast setup    shows what it changes, and asks first
"""

_ALL_COMMANDS = """\
Holdfast: all commands

usage: holdfast COMMAND [options]

{commands}

  holdfast                   current state, and the next step
  holdfast COMMAND --help    what a command does, with examples
  holdfast --version         the version of this program
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status. Only when this is the program itself (no `argv`)
    the crash message is installed and the garbage collector set, so that a calling process keeps
    its own."""
    if argv is None:
        sys.excepthook = _explain_crash
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch_and_flush(arguments)
    except HoldfastError as error:
        _print_error(error.message, error.remedy)
        return 2 if isinstance(error, InputError) else 1
    except KeyboardInterrupt:
        _print_error("Stopped.", "Nothing is lost; run the same command again to continue.")
        return 130
    except BrokenPipeError:
        # The program that reads the output has ended (`holdfast recall … | head`): not an error.
        discard_output()
        return 0


def _dispatch_and_flush(arguments: list[str]) -> int:
    """Run a command, and write what is still in the buffer: when the interpreter ends, nobody could
    catch the error of a closed pipe."""
    try:
        status = _dispatch(arguments)
    except SystemExit:  # after the help of a command
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return status


def _dispatch(arguments: list[str]) -> int:
    first, *rest = arguments or [""]
    if not first or arguments == ["--json"]:
        _import_command("start.here").run(Screen(), as_json=bool(first))
        return 0
    if first == "help" and rest == ["all"]:
        sys.stdout.write(all_commands())
        return 0
    if first == "help" and rest and not rest[0].startswith("-"):
        return _run(rest[0], ["--help"])
    if first in ("-h", "--help", "help") and not rest:
        sys.stdout.write(overview())
        return 0
    if first in ("-V", "--version"):
        sys.stdout.write(f"holdfast {full_version()}\n")
        return 0
    return _run(first, rest)


def overview() -> str:
    """What `holdfast --help` prints: the commands that people start with."""
    lines = [_command_line(name) for name in FIRST_COMMANDS]
    return _SHORT_HELP.format(commands="\n".join(lines), count=len(COMMANDS))


def all_commands() -> str:
    """What `holdfast help all` prints: every command, in groups."""
    groups = ["\n".join([f"{title}:", *map(_command_line, GROUPS[title])]) for title in GROUPS]
    return _ALL_COMMANDS.format(commands="\n\n".join(groups))


def _command_line(name: str) -> str:
    return f"  {name:<{_NAME_COLUMN_WIDTH}}{COMMANDS[name][1]}"


def _run(name: str, rest: Sequence[str]) -> int:
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        hint = suggest(name, _GLOBAL_OPTIONS if what == "option" else (*COMMANDS, "help"))
        raise InputError(f"There is no {what} {name!r}.", f"{hint}See `holdfast help all`.")
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
    # What was printed before comes first also where both streams go into one file or pipe.
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
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
        f"This is a bug in Holdfast ({kind.__name__}: {error}). Your memory is unharmed.",
        "Run the command again with HOLDFAST_DEBUG=1 for the details to report.",
    )


if __name__ == "__main__":
    sys.exit(main())
