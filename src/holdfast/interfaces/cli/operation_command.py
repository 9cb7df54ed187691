"""The command of an operation: its parser, and running it at a terminal."""

from __future__ import annotations

import sys
from argparse import BooleanOptionalAction
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, CommandSpec, Parser
from holdfast.model.curation import AGENT
from holdfast.operations.binding import ArgumentError, read_arguments
from holdfast.operations.operation import Announcement, Bar, Call, Operation, Parameter
from holdfast.operations.running import run_with, show_result
from holdfast.operations.screen import Screen
from holdfast.operations.shapes import result_json
from holdfast.settings import Settings, load_settings

if TYPE_CHECKING:
    from holdfast.interfaces.cli.progress import Progress


def command_of(operation: Operation, name: str) -> CommandSpec:
    """The parts of the command of an operation, which is typed by this name."""

    def configure(parser: Parser) -> None:
        offered = [one for one in operation.parameters if not one.arg.programs]
        words = [one for one in offered if one.arg.place]
        # Which word is meant is only clear if those before one that must be given are given, too.
        given = max((n for n, one in enumerate(words, 1) if one.required), default=0)
        for one in offered:
            _add(parser, one, one in words[:given])
        options.add(parser, *operation.options)
        if operation.announce is not None:
            options.add(parser, "yes")
        options.add(parser, "json")

    def run(screen: Screen, arguments: Arguments) -> int:
        return _run(operation, name, screen, arguments)

    description = f"{operation.summary}.\n\n{operation.details}".strip()
    return CommandSpec(description, operation.examples, configure, run)


def _add(parser: Parser, parameter: Parameter, required: bool) -> None:
    arg = parameter.arg
    more: dict[str, Any] = {}
    if parameter.choices:
        more["choices"] = list(parameter.choices)
    if arg.place:
        several = arg.many_words or parameter.many
        more["nargs"] = {(True, True): "+", (True, False): "*", (False, False): "?"}.get(
            (several, required)
        )
        if not parameter.choices:
            more["metavar"] = arg.place
        name = parameter.name
        parser.add_argument(name, help=arg.help, default=None, **more)
        return
    option = f"--{(arg.option or parameter.name).replace('_', '-')}"
    more["dest"] = parameter.name
    if parameter.kind is bool and parameter.default is True:
        off, help = f"--no-{option[2:]}", f"do not {arg.help}"
        parser.add_argument(off, action="store_false", default=None, help=help, **more)
        return
    if parameter.kind is bool:
        # What has no default is said either way: --keep or --no-keep.
        action = BooleanOptionalAction if parameter.required else "store_true"
        parser.add_argument(option, action=action, default=None, help=arg.help, **more)
        return
    if not parameter.choices:
        more["metavar"] = arg.metavar or (arg.option or parameter.name).upper()
    if parameter.many:
        more["action"] = "append"
    parser.add_argument(option, default=None, help=_help(parameter), **more)


def _help(parameter: Parameter) -> str:
    """The help of an option, with its default."""
    text = parameter.arg.help
    if parameter.default in (None, "", ()) or "default" in text:
        return text.replace("%", "%%")
    return f"{text} (default: {parameter.default})".replace("%", "%%")


def _given(operation: Operation, arguments: Arguments) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was given: truth values and lists, and what was written as text."""
    values: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    for one in operation.parameters:
        value: Any = getattr(arguments, one.name, None)
        if value is None or (value == [] and not one.required):
            continue
        if one.arg.many_words:
            value = " ".join(value)
            if not value and not one.required:
                continue
        if one.arg.from_input and value == "-":
            value = _read_line(one.name)
        (values if one.kind is bool else texts)[one.name] = value
    return values, texts


def _read_line(name: str) -> str:
    line = sys.stdin.readline().rstrip("\n")
    if not line:
        raise InputError(f"Standard input has no {name}.", "Write it on the first line.")
    return line


def _settings(operation: Operation, arguments: Arguments) -> Settings:
    settings = load_settings()
    if "plugin_dir" in operation.options:
        settings = options.with_plugins(settings, arguments)
    if "model" in operation.options:
        task = "reflection" if operation.name == "reflect" else "agent"
        settings = options.with_model(settings, arguments, task)
    return settings


def _run(operation: Operation, name: str, screen: Screen, arguments: Arguments) -> int:
    try:
        given = read_arguments(operation, *_given(operation, arguments), on_screen=True)
    except ArgumentError as error:
        help = f"See `holdfast {name} --help`."
        raise ArgumentError(error.message, error.remedy or help) from error
    only_looks: bool = getattr(arguments, "dry_run", None) or False
    settings, creates = _settings(operation, arguments), operation.creates and not only_looks
    streams: bool = given.get("stream", False)
    bars: list[Progress] = []
    with Holdfast(settings, create=creates) as memory:
        call = _call(operation, screen, arguments, streams, bars)
        if operation.announce is not None and not only_looks:
            announced = operation.announce(memory, **given)
            if not _agreed(operation, screen, announced, arguments, given):
                return 0
            call.agreed = announced.plan
        result = run_with(operation, memory, given, call)
        is_empty = not operation.changes and not memory.reader.banks.all()
    for bar in bars:
        bar.finish()
    # What was stopped early can be run again, by a script, too.
    status = int(bool(getattr(result, "has_failed", False) or getattr(result, "stopped", "")))
    if arguments.json:
        if not streams:
            screen.json(result_json(result))
        return status
    show_result(operation, screen, result, given)
    if getattr(result, "cursor", None):
        screen.line("There are more, see --limit.", "dim")
    if is_empty:
        screen.wrap(_EMPTY)
    return status


_EMPTY = "The memory is empty; `holdfast ingest` reads your sessions."


def _call(
    operation: Operation,
    screen: Screen,
    arguments: Arguments,
    streams: bool,
    bars: list[Progress],
) -> Call:
    """For whom the command runs. One that streams prints its steps while they are taken: as text on
    standard error, or as lines of JSON, of which the last has the result."""
    agent = options.agent_name(arguments) if "by_agent" in operation.options else ""
    errors = Screen(sys.stderr)

    def watch(what: str, count: Callable[[int], str]) -> Bar:
        from holdfast.interfaces.cli.progress import Progress

        bars.append(Progress(what, count, arguments.json))
        return bars[-1]

    call = Call(
        f"{AGENT} ({agent})" if agent else "",
        bool(agent),
        quick=True,
        notice=lambda text: errors.line(f"holdfast: {text}"),
        watch=watch,
        ask_secret=_ask_secret,
    )

    def print_step(step: dict[str, Any]) -> None:
        screen.json_line(result_json(step))

    def print_progress(text: str) -> None:
        errors.line(text, "dim")

    if streams and arguments.json:
        call.on_step = print_step
    elif streams:
        call.progress = print_progress
    return call


def _ask_secret(question: str) -> str:
    """A secret, from a hidden prompt or standard input; never from the command line, which others
    can read."""
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    from getpass import getpass

    return getpass(question)


def _agreed(
    operation: Operation,
    screen: Screen,
    announced: Announcement,
    arguments: Arguments,
    given: dict[str, Any],
) -> bool:
    """Whether the person wants what the operation is about to do. What they agreed to is added to
    the arguments."""
    if not announced.lines and not announced.diff:
        return True
    if not arguments.json:
        if announced.diff:
            screen.diff(announced.diff)
        for line in announced.lines:
            # What is indented is a list, such as one of files, whose names stay whole.
            (screen.line if line.startswith(" ") else screen.wrap)(screen.paint_diff(line))
    what = "files" if announced.diff else announced.what
    may_look = any(one.name == "dry_run" for one in operation.parameters)
    question, default = announced.question, announced.default
    if not confirm.confirm_change(screen, arguments.yes, question, default, what, may_look):
        return False
    by_name = {one.name: one for one in operation.parameters}
    if "confirm" in by_name:
        confirmation = by_name["confirm"]
        words = confirmation.choices
        given["confirm"] = confirmation.kind(words[-1]) if words else True
    # With --yes nobody saw the diff.
    if announced.diff and "seen" in by_name and not arguments.yes:
        given["seen"] = announced.diff
    return True
