"""The engine of `holdfast mcp`: runs the operation that a tool stands for.

What an agent stores is recorded as the agent's words, with secrets redacted. It is found and cited
like anything else, but never counts as the user's words and never becomes a rule. A rule that an
agent proposes waits for a person. A verdict of an agent counts only where no person judged.
"""

from __future__ import annotations

from holdfast.app.answers.tool import Object
from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast, open_memory
from holdfast.errors import HoldfastError, InputError, NotFoundError
from holdfast.interfaces.mcp import resources
from holdfast.interfaces.mcp.memory_source import MemorySource, ReopeningMemory, open_existing
from holdfast.interfaces.mcp.results import present
from holdfast.interfaces.mcp.server_spec import CallContext, tool_error, tool_result
from holdfast.interfaces.mcp.tool_choice import BY_NAME, SLOW
from holdfast.model.curation import AGENT
from holdfast.operations.binding import read_arguments
from holdfast.operations.operation import Call, Operation
from holdfast.operations.registry import find_operation
from holdfast.operations.running import run_with
from holdfast.settings import load_settings

_NO_MEMORY = "This folder has no memory yet."
# What an agent decides about records is about those of one project.
_DECIDING = ("correct", "forget", "judge")


class MainEngine:
    """Answers from a memory, about one bank: `bank`, or that of the current folder.

    `memory` is given where somebody else holds it open; otherwise it is opened at the first call,
    and again when the file was replaced.
    """

    def __init__(self, memory: MemorySource | None = None, bank: str | None = None) -> None:
        self._source: MemorySource = memory or ReopeningMemory(open_existing)
        self._is_borrowed = memory is not None
        self._bank = bank

    def close(self) -> None:
        self._source.close()

    def list_resources(self) -> list[Object]:
        return []

    def read_resource(self, uri: str) -> Object:
        memory = self._source.current()
        return resources.read_resource(memory.reader, memory.context.bank_id(self._bank), uri)

    def call(self, name: str, arguments: Object, context: CallContext) -> Object:
        """The result of a tool. An error becomes a result too, so that the model reads it."""
        tool = BY_NAME[name]
        operation = find_operation(tool.operation)
        try:
            memory = self._memory_for(operation)
            bank = self._bank_for(operation, memory)
            if bank.get("bank") == "":
                return _nothing_known(operation, memory.context.missing_bank_hint())
            read = read_arguments(operation, {**tool.arguments(arguments), **bank})
            if operation.work not in SLOW:  # which say themselves what they do
                context.progress(f"{tool.title} …")
            return present(operation, run_with(operation, memory, read, self._call(context)), read)
        except HoldfastError as error:
            return tool_error(error)

    def _call(self, context: CallContext) -> Call:
        client = " ".join(context.client.split())
        return Call(
            f"{AGENT} ({client})" if client else AGENT,
            by_agent=True,
            # A shared server does not ask remotes: it would do so with its own keys for any client.
            remotes=not self._is_borrowed,
            in_folder=not self._is_borrowed,
            progress=context.progress,
            on_cancel=context.on_cancel,
        )

    def _memory_for(self, operation: Operation) -> Holdfast:
        """The memory; an empty one is made for what stores something, if there is none yet."""
        if operation.creates and not self._is_borrowed:
            settings = load_settings()
            if not settings.store and not settings.database.exists():
                open_memory(settings).close()
        return self._source.current()

    def _bank_for(self, operation: Operation, memory: Holdfast) -> Object:
        """The bank that an agent works in, "" where there is none yet. Its questions never leave
        the project, and what it changes is in one bank."""
        if all(one.name != "bank" for one in operation.parameters):
            return {}
        if operation.creates and self._bank is None:
            return {}
        bank = memory.context.bank_id(self._bank)
        if bank is None and (operation.creates or operation.name in _DECIDING):
            raise InputError(
                f"`{operation.name}` needs one bank, and this server was started for all.",
                "Name it in the address (`/mcp?bank=NAME`) or in the setting `bank`.",
            )
        return {"bank": ALL_BANKS if bank is None else bank}


def _nothing_known(operation: Operation, hint: str) -> Object:
    """What a tool answers in a folder that has no memory yet."""
    if operation.changes:
        raise NotFoundError(_NO_MEMORY, hint.removeprefix(_NO_MEMORY).strip())
    return tool_result(
        f"Not known. {_NO_MEMORY} {hint.removeprefix(_NO_MEMORY).strip()}",
        {"answer": "Not known.", "abstained": True, "citations": [], "hits": [], "notes": [hint]},
    )
