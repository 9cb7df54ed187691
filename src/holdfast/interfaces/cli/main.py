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
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from holdfast.errors import HoldfastError, InputError, suggest
from holdfast.interfaces.cli.parser import CommandSpec, Parser
from holdfast.operations.operation import Operation
from holdfast.operations.registry import NAMES, NOT_OFFERED, SUBJECTS, find_operation
from holdfast.operations.screen import Screen, discard_output
from holdfast.version import full_version

T = TypeVar("T")
# With Python's 700 a question waits for fifteen collections that find nothing to free (5 ms);
# with this, for none, and what can be garbage meanwhile is a few megabytes.
_OBJECTS_BETWEEN_COLLECTIONS = 20_000
_COMMANDS_PACKAGE = "holdfast.interfaces.cli.commands."
# The column in which purposes start in the overview, from the start of a command's name.
_NAME_COLUMN_WIDTH = 16


# The commands that are no operations, by their group in `holdfast help all`: each with its location
# and its purpose. A location is a module under `commands`, or `module:NAME` for one of several
# commands of a module, where NAME is a CommandSpec.
_BY_HAND: dict[str, dict[str, tuple[str, str]]] = {
    "Install and read": {
        "setup": ("setup", "install the Claude Code hooks and the MCP server"),
        "uninstall": ("uninstall", "remove hooks and MCP server; the memory stays"),
        "ingest": ("ingest", "read transcripts, or a repository's history, into memory"),
        # These are operations.
        "forge": ("", ""),
        "import": ("", ""),
    },
    "Operate": {
        "doctor": ("doctor", "check installation and data, and fix problems"),
        "browse": ("browse", "open the memory in a browser"),
        "backup": ("backup:BACKUP", "back up the whole memory into one file"),
        "restore-backup": ("backup:RESTORE", "replace the memory by a backup"),
        "worker": ("worker", "run the background work now"),
        "serve": ("serve", "serve a team over HTTP: REST, GraphQL, MCP, pages"),
        "mcp": ("mcp", "run the MCP server on standard input and output"),
        "eval": ("evaluate", "measure retrieval and knowledge extraction"),
        "completion": ("completion", "print the completion script of a shell"),
    },
}
# The groups, and the subjects of operations that belong to each; others are in the last.
_GROUPS = {
    "Install and read": ("briefs",),
    "Search and ask": ("search", "asking", "finding", "history", "research", "records"),
    "See what is known": ("knowledge", "catalogue", "concepts", "entities"),
    "Look through sessions": ("sessions",),
    "Correct and forget": ("curation", "log", "reviews", "erasing"),
    "Rules": ("rules",),
    "Team": ("sharing", "remotes"),
    "Operate": ("status", "usage", "banks", "machine", "deriving", "transfer"),
    "More": (),
}
# What commands of several operations are for; a single one says it itself.
_PURPOSES = {
    "promote": "approve or reject proposed rules",
    "bank": "list, configure and merge banks",
    "providers": "list and test plugins that are searched as well",
    "research": "list, follow and stop questions that are being answered",
    "entity": "show an entity, merge or split its names",
    "remote": "add and test servers that are searched as well",
    "key": "create, list and revoke the API keys of a server",
}


def _grouped() -> dict[str, dict[str, tuple[str, str]]]:
    groups = {title: dict(_BY_HAND.get(title, {})) for title in _GROUPS}
    not_here = NOT_OFFERED["cli"]
    elsewhere = {name for group in _BY_HAND.values() for name in group}
    for subject, names in SUBJECTS.items():
        title = next((one for one, subjects in _GROUPS.items() if subject in subjects), "More")
        for name in names:
            command = name.partition(" ")[0]
            if name not in not_here and command not in elsewhere:
                groups[title].setdefault(command, ("", _PURPOSES.get(command, "")))
    return {title: commands for title, commands in groups.items() if commands}


GROUPS = _grouped()
# Actions that are typed otherwise than their operations are named: the operation, and what stands
# for the word.
_TYPED: dict[str, tuple[str, tuple[str, ...]]] = {
    "review list": ("review", ()),
    "review keep": ("review decide", ("--keep",)),
    "review retire": ("review decide", ("--no-keep",)),
    "review useful": ("judge", ("useful",)),
    "review unneeded": ("judge", ("unneeded",)),
    "review outdated": ("judge", ("outdated",)),
    "bank list": ("banks", ()),
    "bank show": ("bank", ()),
    "providers list": ("providers", ()),
    "import": ("import-from", ()),
    "import list": ("imports", ()),
    "import undo": ("undo-import", ()),
    "share --list": ("shared", ()),
    "pull --list": ("pulls", ()),
    "pull --undo": ("undo-pull", ()),
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
# Further actions of the commands of operations, which only the command line has, and where each is.
_OWN_ACTIONS = {"research attach": "attach:ATTACH"}
# What a command does no longer take as its first word ("" for any), and what to run instead.
_MOVED = {
    "brief": {
        "--log": "`holdfast brief log` lists what was injected.",
        "--session": "`holdfast brief session latest` shows what a session got.",
    },
    "concepts": {"": "`holdfast concept NAME` shows one."},
    "entities": {"": "`holdfast entity NAME` shows one."},
    "keywords": {"": "`holdfast keyword WORD` lists the records that have one."},
    "entity": {"undo": "`holdfast undo` undoes a merge or a split."},
    "audit": {"--holds": "`holdfast confirm ID` says that a record still holds."},
    "forget": {"--purge": "`holdfast purge ID` erases a record permanently."},
    "show": {"--path": "`holdfast path ID` shows what a record rests on."},
}

_GLOBAL_OPTIONS = ("-h", "--help", "-V", "--version")

# The commands that `holdfast --help` shows.
FIRST_COMMANDS = ("setup", "status", "brief", "ask", "recall", "show", "remember", "browse")

_HELP = """\
Holdfast: {title}

usage: holdfast COMMAND [options]

{commands}

  holdfast                   current state, and the next step
  holdfast COMMAND --help    what a command does, with examples
{last}
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
    match arguments:
        case [] | [""] | ["--json"]:
            _import_command("here").run(Screen(), as_json=arguments == ["--json"])
        case ["help", "all"]:
            sys.stdout.write(all_commands())
        case ["help", name] if not name.startswith("-"):
            return _run(name, ["--help"])
        case ["-h" | "--help" | "help"]:
            sys.stdout.write(overview())
        case ["-V" | "--version", *_]:
            sys.stdout.write(f"holdfast {full_version()}\n")
        case _:
            return _run(arguments[0], arguments[1:])
    return 0


def overview() -> str:
    """What `holdfast --help` prints: the commands that people start with."""
    return _HELP.format(
        title="a local, searchable memory for coding agents.",
        commands="\n".join(map(_command_line, FIRST_COMMANDS)),
        last=f"  holdfast help all          all {len(COMMANDS)} commands\n\n"
        "First time here?  holdfast setup    shows what it changes, and asks first",
    )


def all_commands() -> str:
    """What `holdfast help all` prints: every command, in groups."""
    groups = ["\n".join([f"{title}:", *map(_command_line, GROUPS[title])]) for title in GROUPS]
    return _HELP.format(
        title="all commands",
        commands="\n\n".join(groups),
        last="  holdfast --version         the version of this program",
    )


def purpose_of(name: str) -> str:
    """What a command is for, in one line."""
    purpose = COMMANDS[name][1] or operation_for(name).summary
    return purpose[:1].lower() + purpose[1:]


def actions_of(name: str) -> tuple[str, ...]:
    """The actions of a command that is several operations, or one operation and actions: its own
    has the name "", and the first is what it does without one."""
    if COMMANDS[name][0]:
        return ()
    known = [one for one in (*_TYPED, *NAMES, *_OWN_ACTIONS) if one not in NOT_OFFERED["cli"]]
    found = tuple(one.removeprefix(f"{name} ") for one in known if one.startswith(f"{name} "))
    return ("", *found) if name in known else found


def operation_for(name: str, action: str = "") -> Operation:
    """The operation of a command, or of one of its actions; of what it does without one."""
    words = _full_name(name, action)
    return _uncollected(find_operation, _TYPED.get(words, (words, ()))[0])


def _full_name(name: str, action: str = "") -> str:
    """A command with its action, by default the first one that it has."""
    return f"{name} {action or next(iter(actions_of(name)), '')}".strip()


def _command_line(name: str) -> str:
    return f"  {f'{name} ':<{_NAME_COLUMN_WIDTH}}{purpose_of(name)}"


def _run(name: str, rest: Sequence[str]) -> int:
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        hint = suggest(name, _GLOBAL_OPTIONS if what == "option" else (*COMMANDS, "help"))
        raise InputError(f"There is no {what} {name!r}.", f"{hint}See `holdfast help all`.")
    _check_moved(name, rest)
    action, given = _split_action(name, rest)
    _, first = _TYPED.get(f"{name} {action}", ("", ()))
    arguments = make_parser(name, action).parse_args([*first, *given])
    return load_command(name, action).run(Screen(), arguments) or 0


def _check_moved(name: str, rest: Sequence[str]) -> None:
    moved, words = _MOVED.get(name, {}), [word.partition("=")[0] for word in rest]
    options = [word for word in words if word.startswith("-") and word in moved]
    for word in (*options, *words[:1]):
        if advice := moved.get(word, "" if word.startswith("-") else moved.get("", "")):
            raise InputError(f"`holdfast {name}` does not take {word!r}.", advice)


def _split_action(name: str, rest: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The action that the first word names, after options, and the other words."""
    if COMMANDS[name][0]:
        return "", rest
    actions = actions_of(name)
    known = [one for one in actions if one]
    for n, word in enumerate(rest):
        if word in known:
            return word, (*rest[:n], *rest[n + 1 :])
        # Another word can be the value of an option.
        if not word.startswith("-") and not (n and rest[n - 1].startswith("-")):
            break
    own = operation_for(name) if "" in actions else None
    takes_words = own is not None and any(one.arg.place for one in own.parameters)
    if known and rest and not rest[0].startswith("-") and not takes_words:
        hint = f"{suggest(rest[0], known)}One of: {', '.join(known)}."
        raise InputError(f"`{name}` has no action {rest[0]!r}.", hint)
    return actions[0], rest


def load_command(name: str, action: str = "") -> CommandSpec:
    """The parts of one command; imports its module."""
    full_name = _full_name(name, action)
    location = _OWN_ACTIONS.get(full_name, COMMANDS[name][0])
    if not location:
        module = _import_module("holdfast.interfaces.cli.operation_command")
        return module.command_of(operation_for(name, action), full_name)
    module_name, _, attribute = location.partition(":")
    module = _import_command(module_name)
    if attribute:
        return getattr(module, attribute)
    return CommandSpec(module.HELP, module.EXAMPLES, module.configure, module.run)


def _import_command(name: str) -> Any:
    return _import_module(_COMMANDS_PACKAGE + name)


def _import_module(full_name: str) -> Any:
    if full_name in sys.modules:
        return sys.modules[full_name]
    return _uncollected(importlib.import_module, full_name)


def _uncollected(load: Callable[..., T], *names: str) -> T:
    """What a function makes of modules that it imports. They are never freed, so the garbage
    collector is off while they load and does not look through them afterwards."""
    gc.disable()
    try:
        return load(*names)
    finally:
        gc.freeze()
        gc.enable()


def make_parser(name: str, action: str = "") -> argparse.ArgumentParser:
    """The parser of one command, or of one of its actions."""
    command = load_command(name, action)
    others = [one for one in actions_of(name) if one]
    epilog = f"examples:\n{command.examples}" if command.examples else ""
    epilog += f"\n\nactions: {', '.join(others)}" if others else ""
    parser = Parser(
        prog=f"holdfast {name} {action}".strip(),
        description=command.help,
        epilog=epilog.strip(),
        # For each argument a formatter is made to check it. With a width it does not import shutil
        # to find one (4 ms).
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80),
    )
    command.configure(parser)
    parser.hide(_TYPED.get(f"{name} {action}", ("", ()))[1])
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
        from holdfast.operations.output.install_hint import adapt_install_commands

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
