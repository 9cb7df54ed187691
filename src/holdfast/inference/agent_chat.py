"""The user's Claude subscription as a model service, through the Claude Agent SDK (extra `claude`).

It runs Claude Code without anything of the user's: no settings, so no hooks, plugins or rules; no
built-in tools, no servers, no session on disk, an empty working folder. The tools of a question run
in this process. A variable in its environment makes our hooks do nothing, should any run. It ends
with this process, and at once when the caller no longer waits.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, time
from typing import Any

from holdfast.errors import (
    ModelAnswerError,
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelStoppedError,
    ModelTooLongError,
)
from holdfast.inference.chat import MAX_ANSWER_BYTES, Question, Reply, Tool, Toolbox, Usage
from holdfast.inference.child_process import SupervisedProgram, supervise
from holdfast.inference.http_chat import TOO_LONG_REMEDY, says_too_long

# Hooks that see this variable in their environment do nothing.
HOOKS_OFF_VARIABLE = "HOLDFAST_OFF"
_SDK = "claude_agent_sdk"
# The answer is given by calling a tool; the model may correct a malformed call once.
_MAX_TURNS = 3
_SERVER_NAME = "memory"
# The last turns are reserved for the answer, and for correcting it.
_ANSWER_TURNS = 2
_NO_MORE_LOOKUPS = "No more can be looked up. Answer now, from what you have."
# How often the caller's wish to stop and the timeout are checked.
_POLL_S = 0.1
# How long the SDK may take to notice that its program was killed.
_SHUTDOWN_S = 2.0
_NO_ANSWER_RESULTS = frozenset({"error_max_turns", "error_max_structured_output_retries"})
_BUSY_STATUSES = frozenset({429, 503, 529})
# Characters of its messages that an error repeats.
_MAX_MESSAGE_CHARACTERS = 300


class AgentChat:
    """A `Chat` behind Claude Code; no model means Claude Code's default."""

    service = "claude"

    def __init__(self, model: str = "", timeout_s: float = 120.0) -> None:
        self.model = model
        self._timeout_s = timeout_s
        self._sdk: Any = importlib.import_module(_SDK)
        # The SDK also raises what it would log.
        logging.getLogger(_SDK).addHandler(logging.NullHandler())

    def ask(self, question: Question) -> Reply:
        with supervise(self._program()) as program:
            return asyncio.run(self._ask(question, program))

    def _program(self) -> str:
        """The path of Claude Code: the one bundled with the SDK, else the installed one."""
        bundled = Path(self._sdk.__file__).parent / "_bundled" / "claude"
        found = str(bundled) if bundled.is_file() else shutil.which("claude")
        if found is None:
            raise ModelRefusedError(
                "Claude Code was not found.", "Install it, or claude-agent-sdk."
            )
        return found

    async def _ask(self, question: Question, program: SupervisedProgram) -> Reply:
        run, box = _RunState(self.model), question.toolbox
        options = self._sdk.ClaudeAgentOptions(
            model=self.model or None,
            system_prompt=question.system,
            tools=[],
            allowed_tools=[f"mcp__{_SERVER_NAME}__{tool.name}" for tool in box.tools]
            if box
            else [],
            mcp_servers={_SERVER_NAME: self._server(box, run)} if box else {},
            strict_mcp_config=True,
            setting_sources=[],
            permission_mode="dontAsk",
            max_turns=box.turns if box else _MAX_TURNS,
            cwd=str(program.work_folder),
            cli_path=program.command,
            max_buffer_size=MAX_ANSWER_BYTES,
            output_format={"type": "json_schema", "schema": dict(question.schema)},
            verbatim_prompts=True,
            extra_args={"no-session-persistence": None},
            env={
                HOOKS_OFF_VARIABLE: "1",
                "CLAUDE_CODE_MAX_RETRIES": "0",
                "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(question.tokens),
            },
        )

        async def read_messages() -> None:
            async for message in self._sdk.query(prompt=question.text, options=options):
                run.add(message)

        reading = asyncio.ensure_future(read_messages())
        try:
            await self._wait(reading, box, run)
        finally:
            if not reading.done():
                program.kill()
                await asyncio.wait({reading}, timeout=_SHUTDOWN_S)
            failed = reading.exception() if reading.done() else None
        program.release()
        # A failed run reports the reason before it ends.
        if failed is not None and run.result is None:
            message = " ".join(str(failed).split())[:_MAX_MESSAGE_CHARACTERS]
            raise ModelError(f"Claude Code failed: {message}.", may_cost=True) from failed
        return run.reply()

    async def _wait(
        self, reading: asyncio.Future[None], box: Toolbox | None, run: _RunState
    ) -> None:
        until = monotonic() + self._timeout_s
        while not reading.done():
            # Each turn takes at most its share of what was reserved.
            share = min(1.0, (run.turns + 1) / box.turns) if box is not None else 1.0
            if box is not None and box.stopped():
                raise ModelStoppedError("Stopped.", "", True, share)
            if monotonic() > until:
                raise ModelError(
                    f"Claude Code did not answer in {self._timeout_s:g} seconds.",
                    "Raise models.timeout_s if it is slow.",
                    True,
                    share,
                )
            await asyncio.wait({reading}, timeout=_POLL_S)

    def _server(self, box: Toolbox, run: _RunState) -> Any:
        """The tools of a question, as a server in this process."""
        offered = [
            self._sdk.SdkMcpTool(
                tool.name, tool.description, dict(tool.schema), _handler(box, tool, run)
            )
            for tool in box.tools
        ]
        return self._sdk.create_sdk_mcp_server(_SERVER_NAME, tools=offered)


def _handler(box: Toolbox, tool: Tool, run: _RunState) -> Any:
    async def handle(arguments: Mapping[str, Any]) -> dict[str, Any]:
        text = _NO_MORE_LOOKUPS
        if run.turns <= box.turns - _ANSWER_TURNS:
            text = await asyncio.to_thread(box.call, tool.name, arguments)
        return {"content": [{"type": "text", "text": text}]}

    return handle


class _RunState:
    """What a run has reported so far."""

    def __init__(self, model: str) -> None:
        self.result: Any = None
        self._model = model
        self._message_ids: set[str] = set()
        self._billed = False
        self._resets_at: float | None = None

    @property
    def turns(self) -> int:
        """How many messages the model has sent."""
        return len(self._message_ids)

    def add(self, message: Any) -> None:
        kind = type(message).__name__
        if kind == "ResultMessage":
            self.result = message
        elif kind == "AssistantMessage":
            self._message_ids.add(str(message.message_id))
        elif kind == "SystemMessage" and message.subtype == "init":
            self._model = str(message.data.get("model") or self._model)
            # A key in the environment has precedence over the subscription, and is billed.
            self._billed = str(message.data.get("apiKeySource") or "none") != "none"
        elif kind == "RateLimitEvent" and message.rate_limit_info.status == "rejected":
            self._resets_at = message.rate_limit_info.resets_at

    def reply(self) -> Reply:
        result = self.result
        if result is None:
            raise ModelError("Claude Code ended without an answer.", may_cost=True)
        if result.structured_output is not None:
            text = json.dumps(result.structured_output, ensure_ascii=False)
            return Reply(text, self._usage(), self._model)
        if result.is_error:
            raise self._failure()
        return Reply(str(result.result or ""), self._usage(), self._model)

    def _usage(self) -> Usage:
        usage: dict[str, Any] = self.result.usage or {}
        cached = int(usage.get("cache_read_input_tokens") or 0)
        written = int(usage.get("cache_creation_input_tokens") or 0)
        into = int(usage.get("input_tokens") or 0) + cached + written
        return Usage(into, int(usage.get("output_tokens") or 0), cached, self._billed)

    def _failure(self) -> ModelError:
        result, status = self.result, self.result.api_error_status
        message = " ".join(str(result.result or result.errors or result.subtype).split())[
            :_MAX_MESSAGE_CHARACTERS
        ]
        what = f"Claude Code said{f' {status}' if status else ''}: {message}."
        if str(result.subtype) in _NO_ANSWER_RESULTS:
            return ModelAnswerError("it came to no answer of the given form.", may_cost=True)
        if status in _BUSY_STATUSES or self._resets_at is not None:
            wait = max(0.0, self._resets_at - time()) if self._resets_at is not None else None
            return ModelBusyError(what, "It is called again later.", wait)
        if says_too_long(message):
            return ModelTooLongError(what, TOO_LONG_REMEDY)
        if status is not None and 400 <= status < 500:
            return ModelRefusedError(what, "Check the model's name, and whether `claude` works.")
        return ModelError(what, "It is called again later.", may_cost=status is None)
