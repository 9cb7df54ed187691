"""Running an operation with the arguments of a caller."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import Any

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.operations.binding import read_arguments
from holdfast.operations.operation import OWNER, Call, Operation
from holdfast.operations.screen import Screen
from holdfast.operations.shapes import result_json

# Lines of a result are not broken for a program or an agent: it reads what it gets.
_UNBROKEN = 1 << 20


def perform(
    operation: Operation,
    memory: Holdfast,
    given: Mapping[str, Any],
    call: Call = OWNER,
) -> Any:
    """The result of an operation; raises `ArgumentError` if the arguments do not fit."""
    return run_with(operation, memory, read_arguments(operation, given), call)


def run_with(
    operation: Operation, memory: Holdfast, arguments: Mapping[str, Any], call: Call = OWNER
) -> Any:
    """The result of an operation with arguments that were read."""
    only_shown = {one.name for one in operation.parameters if one.arg.on_screen}
    own = {name: value for name, value in arguments.items() if name not in only_shown}
    bank = next((one.arg for one in operation.parameters if one.name == "bank"), None)
    if bank is not None and bank.of_project:
        own["bank"] = memory.context.scope(own.get("bank", ""))
    if bank is not None and bank.to_store_in and not (own.get("bank") or call.in_folder):
        own["bank"] = _only_bank(memory)
    if operation.wants_call:
        own["call"] = call
    return operation.run(memory, **own)


def _only_bank(memory: Holdfast) -> str:
    """Where a server stores what it is sent without the name of a bank: the bank of its settings or
    its folder, or the only one that the caller sees."""
    names = sorted(memory.context.bank_names().values())
    bank = memory.settings.bank or memory.context.current_project()[0]
    if bank or len(names) == 1:
        return bank or names[0]
    known = f" There are: {', '.join(names)}." if names else ""
    raise InputError(
        "The bank is missing, and this server has no project of its own.",
        f"Name it as `bank`; a new one is made.{known}",
    )


def result_text(operation: Operation, result: Any, arguments: Mapping[str, Any]) -> str:
    """A result as text without colours; of a list, also the cursor of the next page."""
    stream = StringIO()
    show_result(operation, Screen(stream, _UNBROKEN), result, arguments)
    cursor = getattr(result, "cursor", None)
    more = f"There are more; the cursor of the next page is {cursor}\n" if cursor else ""
    return stream.getvalue() + more


def show_result(
    operation: Operation, screen: Screen, result: Any, arguments: Mapping[str, Any]
) -> None:
    """Print a result; as JSON where the operation does not say how it reads."""
    if operation.text is None:
        screen.json(result_json(result))
    else:
        operation.text(screen, result, **arguments)
