"""The engine of the servers: runs the operation that a tool stands for.

What an agent stores is recorded as the agent's words, with secrets redacted. It is found and cited
like anything else, but never counts as the user's words and never becomes a rule. A rule that an
agent proposes waits for a person. A verdict of an agent counts only where no person judged.
"""

from __future__ import annotations

from holdfast.app.core.backends import DatabaseIdentity, database_identity
from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast, open_memory
from holdfast.errors import HoldfastError, InputError, NotFoundError
from holdfast.interfaces.mcp.protocol import CallContext, Object, tool_error, tool_result
from holdfast.model.curation import AGENT
from holdfast.operations.agents.calls import call_tool
from holdfast.operations.agents.tools import SERVERS, SLOW
from holdfast.operations.operation import Call, Operation
from holdfast.operations.registry import find_operation
from holdfast.settings import Settings, load_settings

_NO_MEMORY = "This folder has no memory yet."
# What an agent decides about records is about those of one project.
_DECIDING = ("correct", "forget", "judge")


class ToolEngine:
    """Answers from a memory, about one bank: `bank`, or that of the current folder.

    `memory` is given where somebody else holds it open; otherwise it is opened at the first call,
    and again when the file was created or replaced, or the settings changed. One that does not
    exist is read as empty.
    """

    def __init__(
        self, server: str = "main", memory: Holdfast | None = None, bank: str | None = None
    ) -> None:
        self._server = SERVERS[server]
        self._borrowed = memory
        self._bank = bank
        self._own: Holdfast | None = None
        self._opened_for: tuple[DatabaseIdentity, Settings] | None = None

    def close(self) -> None:
        """Close the memory, unless it is somebody else's."""
        memory, self._own = self._own, None
        if memory is not None:
            memory.close()

    def call(self, name: str, arguments: Object, context: CallContext) -> Object:
        """The result of a tool. An error becomes a result too, so that the model reads it."""
        tool = self._server.find(name)
        operation = find_operation(tool.operation)
        try:
            read = tool.read(arguments)
            memory = self.memory(operation.creates)
            bank = self._bank_for(operation, memory, read.get("bank", ""))
            if bank == "" and not operation.creates and _has_bank(operation):
                return _nothing_known(operation, memory.context.missing_bank_hint())
            if operation.work not in SLOW:  # which say themselves what they do
                context.progress(f"{tool.title} …")
            return tool_result(*call_tool(tool, memory, read, bank, self._call(context)))
        except HoldfastError as error:
            return tool_error(error)

    def _call(self, context: CallContext) -> Call:
        client = " ".join(context.client.split())
        return Call(
            f"{AGENT} ({client})" if client else AGENT,
            by_agent=True,
            # A shared server does not ask remotes: it would do so with its own keys for any client.
            remotes=self._borrowed is None,
            in_folder=self._borrowed is None,
            progress=context.progress,
            on_cancel=context.on_cancel,
        )

    def memory(self, creates: bool = False) -> Holdfast:
        """The memory, opened now if need be; an empty one is made for what `creates` something, if
        there is none yet."""
        if self._borrowed is not None:
            return self._borrowed
        settings = load_settings()
        if creates and not settings.store and not settings.database.exists():
            open_memory(settings).close()
        state = database_identity(settings.database), settings
        if self._own is None or state != self._opened_for:
            self.close()
            only_reads = self._server.only_reads
            self._own = Holdfast(settings, create=False, only_reads=only_reads)
            self._opened_for = state
        return self._own

    def _bank_for(self, operation: Operation, memory: Holdfast, named: str) -> str:
        """The bank that an agent works in, "" where there is none yet. Its questions do not leave
        the project unless they name another, and what it changes is in one bank."""
        if not _has_bank(operation) or (operation.creates and self._bank is None):
            return ""
        bank = memory.context.bank_id(named or self._bank)
        if bank is None and (operation.creates or operation.name in _DECIDING):
            raise InputError(
                f"`{operation.name}` needs one bank, and this server was started for all.",
                "Name it in the address (`/mcp?bank=NAME`) or in the setting `bank`.",
            )
        return ALL_BANKS if bank is None else bank


def _has_bank(operation: Operation) -> bool:
    return any(one.name == "bank" for one in operation.parameters)


def _nothing_known(operation: Operation, hint: str) -> Object:
    """What a tool answers in a folder that has no memory yet."""
    hint_alone = hint.removeprefix(_NO_MEMORY).strip()
    if operation.changes:
        raise NotFoundError(_NO_MEMORY, hint_alone)
    data: Object = {"answer": "Not known.", "abstained": True, "citations": [], "hits": []}
    data |= {"findings": [], "events": [], "notes": [hint]}
    return tool_result(f"Not known. {_NO_MEMORY} {hint_alone}", data)
