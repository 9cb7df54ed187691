"""The tools of `holdfast mcp` that change the memory.

What an agent stores is recorded as the agent's words, with secrets redacted. It is found and cited
like anything else, but never counts as the user's words and never becomes a rule. A rule that an
agent proposes waits for a person. A verdict of an agent counts only where no person judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from holdfast.app.answers.tool import Object, fit
from holdfast.app.curation.rule_teaching import learn_result_json
from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.search.hit_view import citation_json, citation_text
from holdfast.framed_text import defang, one_line
from holdfast.interfaces.mcp.memory_source import MemorySource, ReopeningMemory, open_existing
from holdfast.interfaces.mcp.server_spec import CallContext, tool_result
from holdfast.language import counted
from holdfast.model.curation import AGENT, Curation, Verdict
from holdfast.model.opinions import Reflection
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.settings import load_settings

# Citations below a reflection; more would cost the agent's context.
_MAX_CITATIONS = 10
# Opinions of a reflection, in characters of JSON: a share of what a whole result may have.
_MAX_OPINIONS_CHARS = 10_000


class WriteTools:
    """Writes into one bank: `bank`, or that of the current folder.

    `memory` is given where somebody else holds it open.
    """

    def __init__(self, memory: MemorySource | None = None, bank: str | None = None) -> None:
        self._memory: MemorySource = memory or ReopeningMemory(open_existing)
        self._is_borrowed = memory is not None
        self._bank = bank
        # By the name of the tool; a handler raises `HoldfastError` if it fails.
        self.handlers: dict[str, Callable[[Object, CallContext], Object]] = {
            "memory_reflect": self._reflect,
            "remember": self._remember,
            "learn": self._learn,
            "auto_learn": self._auto_learn,
            "review": self._review,
        }

    def close(self) -> None:
        self._memory.close()

    def _writable(self) -> Holdfast:
        """The memory; an empty one is created if there is none yet."""
        if self._is_borrowed:
            return self._memory.current()
        settings = load_settings()
        if not settings.store and not settings.database.exists():
            open_memory(settings).close()
        return self._memory.current()

    def _reflect(self, arguments: Object, context: CallContext) -> Object:
        context.progress("Recalling what bears on it")
        reflection = self._memory.current().reflect(arguments["query"], self._bank)
        return tool_result(_reflection_text(reflection), _reflection_json(reflection))

    def _remember(self, arguments: Object, context: CallContext) -> Object:
        memory = self._writable()
        stored = memory.remember(arguments["text"], self._bank, _author(context), Trust.ASSISTANT)
        name = uri("memory", stored.id)
        bank = memory.context.bank_name(stored.bank)
        data = {"uri": name, "bank": bank, "text": stored.what, "trust": stored.trust.value}
        return tool_result(f"Remembered in {bank} as {name}: {stored.what}", data)

    def _learn(self, arguments: Object, context: CallContext) -> Object:
        learned = self._writable().teaching.learn(
            arguments["domain"],
            arguments["content"],
            arguments.get("scope", "project"),
            arguments.get("paths", ()),
            self._bank,
            AGENT,
        )
        data = learn_result_json(learned, written=False)
        if learned.documented:
            words = f"{learned.documented} says so already. Nothing was changed."
        elif learned.refused:
            words = f"It was {learned.refused}. It is not proposed again."
        else:
            words = f"Proposed for {data['path']}; nothing is written yet. {data['remedy'] or ''}"
        words += f" Note: {learned.opposes} says the opposite." if learned.opposes else ""
        return tool_result(f"{words}\n{data['diff']}".strip(), data)

    def _auto_learn(self, arguments: Object, context: CallContext) -> Object:
        context.progress("Looking at what was learned")
        data: Object = self._memory.current().teaching.auto_learn(
            arguments["action"], bank=self._bank
        )
        if "candidates" in data:
            stored, left = fit(data["candidates"])
            data |= {"candidates": stored} | ({"left_out": left} if left else {})
        return tool_result(_learning_text(arguments["action"], data), data)

    def _review(self, arguments: Object, context: CallContext) -> Object:
        memory = self._memory.current()
        # Records of one project: a brief tells no others.
        bank = memory.context.bank(self._bank).id
        made = memory.curation.judge(
            arguments["ids"],
            arguments["verdict"],
            arguments.get("why", ""),
            bank,
            _author(context),
            arguments.get("words", ""),
        )
        return _verdict_result(Verdict(arguments["verdict"]), made, memory.curation.kept(made))


def _author(context: CallContext) -> str:
    """The name under which an agent writes."""
    client = " ".join(context.client.split())
    return f"{AGENT} ({client})" if client else AGENT


def _verdict_result(verdict: Verdict, made: Sequence[Curation], kept: Sequence[str]) -> Object:
    """What was judged, and for which of it what a person decided before still counts."""
    data = {"verdict": verdict.value, "judged": [one.target for one in made], "kept": kept}
    words = f"{counted(len(made), 'record')} judged {verdict.value}. A person can undo it."
    if kept:
        words += f" What a person decided still counts for: {', '.join(kept)}."
    return tool_result(words, data)


def _reflection_json(reflection: Reflection) -> Object:
    opinions = [
        {
            "uri": uri("memory", one.id),
            "what": one_line(one.what),
            "confidence": round(one.confidence, 2),
            "trend": one.trend.value,
        }
        for one in reflection.opinions
    ]
    return {
        "answer": defang(reflection.answer, outside=False),
        "confidence": round(reflection.confidence, 2),
        "abstained": reflection.abstained,
        "opinions": fit(opinions, _MAX_OPINIONS_CHARS)[0],
        "citations": [citation_json(one) for one in reflection.citations[:_MAX_CITATIONS]],
        "caveats": [one_line(caveat) for caveat in reflection.caveats],
        "stored": list(reflection.stored),
    }


def _reflection_text(reflection: Reflection) -> str:
    lines = [
        defang(reflection.answer, outside=False),
        *map(citation_text, reflection.citations[:_MAX_CITATIONS]),
    ]
    if reflection.author:
        lines.append(f"Confidence: {reflection.confidence:.2f}")
    return "\n".join([*lines, *(f"Note: {one_line(caveat)}" for caveat in reflection.caveats)])


def _learning_text(action: str, data: Object) -> str:
    if action == "status":
        written = "without asking" if data["automatic"] else "after a person approves them"
        return (
            f"{data['patterns']} patterns, {data['ripe']} ready to be proposed; "
            f"{data['promotions']} wait for a person; {data['rules']} rules in "
            f"{len(data['files'])} files. Rules are written {written}."
        )
    found: list[Any] = data["candidates"]
    lines = [f"Written: {path}" for path in data.get("written", [])]
    lines += [f"{len(found)} wait for a person (`holdfast promote`):"] if found else []
    lines += [f"- {c['id'][:12]} {c['kind']} {c['path']}: {one_line(c['text'])}" for c in found]
    lines += [f"{data['left_out']} more did not fit."] if data.get("left_out") else []
    return "\n".join(lines) or "Nothing waits for a person."
