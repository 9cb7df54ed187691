"""The tools of `holdfast mcp` that change the memory: what an agent asks for, in an agent's name.

What it keeps is kept as an agent's words, with the secrets out, and says so ever after: it is found
and cited like anything else, but nobody takes it for what the user said, and nothing makes a rule
of it. A rule that it proposes waits for a person.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.app.answers.result_budget import fit
from holdfast.app.answers.tool import Object
from holdfast.app.curation.old_rule_teaching import AGENT, learned_told
from holdfast.app.memory import Holdfast, open_memory
from holdfast.interfaces.mcp.memory_source import MemorySource, ReopeningMemory
from holdfast.interfaces.mcp.server_spec import CallContext
from holdfast.interfaces.mcp.tool_results import tool_result
from holdfast.model.opinions import Reflection
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.settings import Settings, load_settings

_CITED = 10


class WriteTools:
    """A memory that can be written: in the bank of the folder we stand in, or in one that is
    named."""

    def __init__(self, memory: MemorySource[Holdfast] | None = None, bank: str | None = None) -> None:
        self._memory: MemorySource[Holdfast] = memory or ReopeningMemory(_open)
        self._is_lent = memory is not None
        self._bank = bank
        self._run: dict[str, Callable[[Object, CallContext], Object]] = {
            "memory_reflect": self._reflect,
            "remember": self._remember,
            "learn": self._learn,
            "auto_learn": self._auto_learn,
        }

    def call(self, name: str, arguments: Object, ask: CallContext) -> Object:
        """The result of a tool; raises `HoldfastError` where there is none."""
        return self._run[name](arguments, ask)

    def close(self) -> None:
        """Let go of the files."""
        self._memory.close()

    def _writable(self) -> Holdfast:
        """The memory, made if there is none yet."""
        if self._is_lent:
            return self._memory.current()
        settings = load_settings()
        if not settings.store and not settings.database.exists():
            open_memory(settings).close()
        return self._memory.current()

    def _reflect(self, given: Object, ask: CallContext) -> Object:
        ask.progress("Recalling what bears on it")
        told = self._memory.current().reflect(given["query"], self._bank)
        return tool_result(_reflected_text(told), _reflected(told))

    def _remember(self, given: Object, ask: CallContext) -> Object:
        memory = self._writable()
        kept = memory.remember(given["text"], self._bank, _who(ask), Trust.ASSISTANT)
        name = uri("memory", kept.id)
        bank = memory.bank_name(kept.bank)
        data = {"uri": name, "bank": bank, "text": kept.what, "trust": kept.trust.value}
        return tool_result(f"Remembered in {bank} as {name}: {kept.what}", data)

    def _learn(self, given: Object, ask: CallContext) -> Object:
        learned = self._writable().learn(
            given["domain"],
            given["content"],
            given.get("scope", "project"),
            given.get("paths", ()),
            self._bank,
            AGENT,
        )
        data = learned_told(learned, written=False)
        if learned.documented:
            words = f"{learned.documented} says so already. Nothing was changed."
        elif learned.refused:
            words = f"It was {learned.refused}. It is not proposed again."
        else:
            words = f"Proposed for {data['path']}; nothing is written yet. {data['remedy'] or ''}"
        words += f" Note: {learned.opposes} says the opposite." if learned.opposes else ""
        return tool_result(f"{words}\n{data['diff']}".strip(), data)

    def _auto_learn(self, given: Object, ask: CallContext) -> Object:
        ask.progress("Looking at what was learned")
        data: Object = self._memory.current().auto_learn(given["action"], bank=self._bank)
        if "candidates" in data:
            kept, left = fit(data["candidates"])
            data |= {"candidates": kept} | ({"left_out": left} if left else {})
        return tool_result(_learning_text(given["action"], data), data)


def _open(settings: Settings) -> Holdfast:
    return open_memory(settings, create=False)


def _who(ask: CallContext) -> str:
    """In whose name an agent writes."""
    client = " ".join(ask.client.split())
    return f"{AGENT} ({client})" if client else AGENT


def _reflected(told: Reflection) -> Object:
    cited = [
        {
            "uri": one.uri,
            "time": one.time,
            "trust": one.trust.value,
            "excerpt": one.excerpt,
        }
        for one in told.citations[:_CITED]
    ]
    opinions = [
        {
            "uri": uri("memory", one.id),
            "what": one.what,
            "confidence": round(one.confidence, 2),
            "trend": one.trend.value,
        }
        for one in told.opinions
    ]
    return {
        "answer": told.answer,
        "confidence": round(told.confidence, 2),
        "abstained": told.abstained,
        "opinions": fit(opinions, 10_000)[0],
        "citations": cited,
        "caveats": list(told.caveats),
        "stored": list(told.stored),
    }


def _reflected_text(told: Reflection) -> str:
    lines = [told.answer]
    lines += [f"[{c.number}] {c.time[:10] or 'undated'} {c.uri}" for c in told.citations[:_CITED]]
    if not told.abstained:
        lines.append(f"Confidence: {told.confidence:.2f}")
    return "\n".join([*lines, *(f"Note: {caveat}" for caveat in told.caveats)])


def _learning_text(action: str, data: Object) -> str:
    if action == "status":
        return (
            f"{data['patterns']} patterns, {data['ripe']} of them ripe; {data['promotions']} wait "
            f"for a person; {data['rules']} rules in {len(data['files'])} files. Rules are "
            f"{'written without asking' if data['automatic'] else 'written on a person’s word'}."
        )
    found: list[Any] = data["candidates"]
    lines = [f"Written: {path}" for path in data.get("written", [])]
    lines += [f"{len(found)} wait for a person (`holdfast promote`):"] if found else []
    lines += [f"- {c['id'][:12]} {c['kind']} {c['path']}: {c['text']}" for c in found]
    lines += [f"{data['left_out']} more did not fit."] if data.get("left_out") else []
    return "\n".join(lines) or "Nothing waits for a person."
