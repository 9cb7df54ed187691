"""The user's Claude subscription as a model service, through the Claude Agent SDK (extra `claude`).

It runs Claude Code with nothing of the user's: no settings, so no hooks, plugins or rules; none
of its tools, no servers, no session left on disk, an empty folder to stand in. What a question
brings along as tools runs in this process. A variable in its environment tells hooks, should any
run after all, that this is us. It ends with us, and at once when nobody waits for the answer.
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
from holdfast.inference.chat import MOST_BYTES, Question, Reply, Tool, Toolbox, Usage
from holdfast.inference.child_process import Leash, leashed
from holdfast.inference.http_chat import TOO_LONG, too_long

# Hooks that see this do nothing.
GUARD = "HOLDFAST_OFF"
_SDK = "claude_agent_sdk"
# The answer is given by calling a tool; a call of another form may be mended once.
_TURNS = 3
_SERVER = "memory"
# The last times it speaks are for the answer, and for mending it.
_TO_ANSWER = 2
_ENOUGH = "No more can be looked up. Answer now, from what you have."
_STEP_S = 0.1
_LAST_S = 2.0
_NO_ANSWER = frozenset({"error_max_turns", "error_max_structured_output_retries"})
_BUSY = frozenset({429, 503, 529})
_SAID = 300


class AgentChat:
    """A `Chat` behind Claude Code; no model means the one that it usually asks."""

    service = "claude"

    def __init__(self, model: str = "", timeout_s: float = 120.0) -> None:
        self.model = model
        self._timeout_s = timeout_s
        self._sdk: Any = importlib.import_module(_SDK)
        # What it would print beside, comes to us as an error too.
        logging.getLogger(_SDK).addHandler(logging.NullHandler())

    def ask(self, question: Question) -> Reply:
        with leashed(self._program()) as leash:
            return asyncio.run(self._ask(question, leash))

    def _program(self) -> str:
        """Claude Code: the one that came with the SDK, else the one that is installed."""
        bundled = Path(self._sdk.__file__).parent / "_bundled" / "claude"
        found = str(bundled) if bundled.is_file() else shutil.which("claude")
        if found is None:
            raise ModelRefusedError("Claude Code is not here.", "Install it, or claude-agent-sdk.")
        return found

    async def _ask(self, question: Question, leash: Leash) -> Reply:
        heard, box = _Heard(self.model), question.toolbox
        options = self._sdk.ClaudeAgentOptions(
            model=self.model or None,
            system_prompt=question.system,
            tools=[],
            allowed_tools=[f"mcp__{_SERVER}__{tool.name}" for tool in box.tools] if box else [],
            mcp_servers={_SERVER: self._server(box, heard)} if box else {},
            strict_mcp_config=True,
            setting_sources=[],
            permission_mode="dontAsk",
            max_turns=box.turns if box else _TURNS,
            cwd=str(leash.stand),
            cli_path=leash.start,
            max_buffer_size=MOST_BYTES,
            output_format={"type": "json_schema", "schema": dict(question.schema)},
            verbatim_prompts=True,
            extra_args={"no-session-persistence": None},
            env={
                GUARD: "1",
                "CLAUDE_CODE_MAX_RETRIES": "0",
                "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(question.tokens),
            },
        )

        async def hear() -> None:
            async for message in self._sdk.query(prompt=question.text, options=options):
                heard.take(message)

        hearing = asyncio.ensure_future(hear())
        try:
            await self._wait(hearing, box, heard)
        finally:
            if not hearing.done():
                leash.cut()
                await asyncio.wait({hearing}, timeout=_LAST_S)
            failed = hearing.exception() if hearing.done() else None
        leash.drop()
        # A run that failed says why before it breaks off.
        if failed is not None and heard.result is None:
            said = " ".join(str(failed).split())[:_SAID]
            raise ModelError(f"Claude Code failed: {said}.", may_cost=True) from failed
        return heard.reply()

    async def _wait(
        self, hearing: asyncio.Future[None], box: Toolbox | None, heard: _Heard
    ) -> None:
        until = monotonic() + self._timeout_s
        while not hearing.done():
            # Each time it speaks takes no more than its part of the whole.
            share = min(1.0, (heard.turns + 1) / box.turns) if box is not None else 1.0
            if box is not None and box.stopped():
                raise ModelStoppedError("Stopped.", "", True, share)
            if monotonic() > until:
                raise ModelError(
                    f"Claude Code did not answer in {self._timeout_s:g} seconds.",
                    "Raise models.timeout_s if it is slow.",
                    True,
                    share,
                )
            await asyncio.wait({hearing}, timeout=_STEP_S)

    def _server(self, box: Toolbox, heard: _Heard) -> Any:
        """The tools of a question, served in this process."""
        offered = [
            self._sdk.SdkMcpTool(
                tool.name, tool.description, dict(tool.schema), _handler(box, tool, heard)
            )
            for tool in box.tools
        ]
        return self._sdk.create_sdk_mcp_server(_SERVER, tools=offered)


def _handler(box: Toolbox, tool: Tool, heard: _Heard) -> Any:
    async def handle(arguments: Mapping[str, Any]) -> dict[str, Any]:
        told = _ENOUGH
        if heard.turns <= box.turns - _TO_ANSWER:
            told = await asyncio.to_thread(box.call, tool.name, arguments)
        return {"content": [{"type": "text", "text": told}]}

    return handle


class _Heard:
    """What a run told so far."""

    def __init__(self, model: str) -> None:
        self.result: Any = None
        self._model = model
        self._spoken: set[str] = set()
        self._billed = False
        self._resets_at: float | None = None

    @property
    def turns(self) -> int:
        """How often the model spoke."""
        return len(self._spoken)

    def take(self, message: Any) -> None:
        kind = type(message).__name__
        if kind == "ResultMessage":
            self.result = message
        elif kind == "AssistantMessage":
            self._spoken.add(str(message.message_id))
        elif kind == "SystemMessage" and message.subtype == "init":
            self._model = str(message.data.get("model") or self._model)
            # A key in the environment is used before the subscription, and it is billed.
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
        told: dict[str, Any] = self.result.usage or {}
        cached = int(told.get("cache_read_input_tokens") or 0)
        written = int(told.get("cache_creation_input_tokens") or 0)
        into = int(told.get("input_tokens") or 0) + cached + written
        return Usage(into, int(told.get("output_tokens") or 0), cached, self._billed)

    def _failure(self) -> ModelError:
        result, status = self.result, self.result.api_error_status
        told = " ".join(str(result.result or result.errors or result.subtype).split())[:_SAID]
        what = f"Claude Code said{f' {status}' if status else ''}: {told}."
        if str(result.subtype) in _NO_ANSWER:
            return ModelAnswerError("it came to no answer of the given form.", may_cost=True)
        if status in _BUSY or self._resets_at is not None:
            wait = max(0.0, self._resets_at - time()) if self._resets_at is not None else None
            return ModelBusyError(what, "It is asked again later.", wait)
        if too_long(told):
            return ModelTooLongError(what, TOO_LONG)
        if status is not None and 400 <= status < 500:
            return ModelRefusedError(what, "Check the model's name, and whether `claude` works.")
        return ModelError(what, "It is asked again later.", may_cost=status is None)
