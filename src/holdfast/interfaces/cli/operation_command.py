"""The command of an operation: its parser, and running it at a terminal."""

from __future__ import annotations

import sys
from argparse import BooleanOptionalAction
from typing import Any

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, CommandSpec, Parser
from holdfast.model.curation import AGENT
from holdfast.operations.binding import ArgumentError, read_arguments
from holdfast.operations.operation import Call, Operation, Parameter
from holdfast.operations.running import run_with, show_result
from holdfast.operations.screen import Screen
from holdfast.operations.shapes import result_json
from holdfast.settings import Settings, load_settings


def command_of(operation: Operation) -> CommandSpec:
    """The parts of the command of an operation."""

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

    def run(screen: Screen, arguments: Arguments) -> None:
        _run(operation, screen, arguments)

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


def _run(operation: Operation, screen: Screen, arguments: Arguments) -> None:
    try:
        given = read_arguments(operation, *_given(operation, arguments), on_screen=True)
    except ArgumentError as error:
        help = f"See `holdfast {operation.name} --help`."
        raise ArgumentError(error.message, error.remedy or help) from error
    with Holdfast(_settings(operation, arguments), create=operation.creates) as memory:
        asks = operation.announce is not None and not getattr(arguments, "dry_run", False)
        if asks and not _agreed(operation, screen, memory, arguments, given):
            return
        streams: bool = given.get("stream", False)
        call = _call(operation, arguments)
        if streams:
            call = _streaming_call(screen, arguments.json)
        result = run_with(operation, memory, given, call)
        is_empty = not operation.changes and not memory.reader.banks.all()
    if arguments.json:
        if not streams:
            screen.json(result_json(result))
        return
    show_result(operation, screen, result, given)
    if getattr(result, "cursor", None):
        screen.line("There are more, see --limit.", "dim")
    if is_empty:
        screen.wrap(_EMPTY)


def _streaming_call(screen: Screen, as_json: bool) -> Call:
    """A call that prints its steps while they are taken: as text on standard error, or as lines of
    JSON, of which the last has the result."""
    if as_json:
        return Call(quick=True, on_step=lambda step: screen.json_line(result_json(step)))
    errors = Screen(sys.stderr)
    return Call(quick=True, progress=lambda text: errors.line(text, "dim"))


_EMPTY = "The memory is empty; `holdfast ingest` reads your sessions."


def _call(operation: Operation, arguments: Arguments) -> Call:
    agent = options.agent_name(arguments) if "by_agent" in operation.options else ""
    return Call(f"{AGENT} ({agent})" if agent else "", bool(agent), quick=True)


def _agreed(
    operation: Operation,
    screen: Screen,
    memory: Holdfast,
    arguments: Arguments,
    given: dict[str, Any],
) -> bool:
    """Whether the person wants what the operation is about to do. What they agreed to is added to
    the arguments."""
    assert operation.announce is not None
    announced = operation.announce(memory, **given)
    if not announced.lines and not announced.diff:
        return True
    if not arguments.json:
        if announced.diff:
            screen.diff(announced.diff)
        for line in announced.lines:
            # What is indented is a list, such as one of files, whose names stay whole.
            (screen.line if line.startswith(" ") else screen.wrap)(line)
    what = "files" if announced.diff else announced.what
    question, default = announced.question, announced.default
    if not confirm.confirm_change(screen, arguments.yes, question, default, what, dry_run=False):
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
