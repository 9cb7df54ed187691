"""The engine of `holdfast mcp`: the tools that read. `main_write_tools` has those that write.

Every result is given twice, as data and as text, because Claude Code shows its model only the data
and other clients show only the text. A host cuts a result that is too long, so a result holds as
many whole records as fit, best first, and says how many were left out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple, cast

from holdfast.app.answers.ask import AskOptions
from holdfast.app.answers.tool import MAX_RECORD_CHARS, Object, fit
from holdfast.app.memory import Holdfast
from holdfast.app.search.hit_view import citation_json, citation_text, short_json, short_text
from holdfast.errors import HoldfastError, InputError
from holdfast.framed_text import defang, one_line
from holdfast.interfaces.mcp import resources
from holdfast.interfaces.mcp.memory_source import MemorySource, ReopeningMemory, open_existing
from holdfast.interfaces.mcp.server_spec import CallContext, tool_error, tool_result
from holdfast.language import counted
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Kind, Network
from holdfast.model.query import Answer, Layer, RecallResult
from holdfast.model.research import ResearchEvent
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.ranking.external_hits import RETRIEVER_PREFIX
from holdfast.research.answering.plugin_evidence import missing_replies
from holdfast.research.history.expertise import Expert

if TYPE_CHECKING:
    from holdfast.interfaces.mcp.main_write_tools import WriteTools


class ResultLimits(NamedTuple):
    """How much a result holds. More costs the agent's context, less may leave out what it needs;
    `fit` also bounds the whole result."""

    # Records of `memory_recall`.
    hits: int = 20
    # Records below an answer of `team_query`, where the call sets no limit.
    evidence: int = 10
    # Commits that show why a person is named.
    commits_per_person: int = 3
    # Characters of one record below an answer; the whole record is a resource.
    excerpt_chars: int = 400
    # Suggestions after a search that found nothing.
    suggestions: int = 8


_LIMITS = ResultLimits()
_ANY_NETWORK = "all"


class MainEngine:
    """Answers from a memory, about one bank: `bank`, or that of the current folder.

    `reading` and `write_tools` are given where somebody else holds the memory open; otherwise it is
    opened at the first call, and again when the file was replaced.
    """

    def __init__(
        self,
        reading: MemorySource | None = None,
        write_tools: WriteTools | None = None,
        bank: str | None = None,
    ) -> None:
        self._source: MemorySource = reading or ReopeningMemory(open_existing)
        self._write_tools = write_tools
        self._bank = bank
        # A shared server does not ask remotes: it would do so with its own keys for any client.
        self._ask_remotes = reading is None
        self._handlers: dict[str, Callable[[Object, CallContext], Object]] = {
            "memory": self._ask,
            "memory_recall": self._recall,
            "team_query": self._ask_team,
        }

    def reading(self) -> Holdfast:
        """The memory, opened now if need be."""
        return self._source.current()

    def close(self) -> None:
        self._source.close()
        if self._write_tools is not None:
            self._write_tools.close()

    def list_resources(self) -> list[Object]:
        return []

    def read_resource(self, uri: str) -> Object:
        reading = self.reading()
        return resources.read_resource(reading.reader, reading.context.bank_id(self._bank), uri)

    def call(self, name: str, arguments: Object, context: CallContext) -> Object:
        """The result of a tool. An error becomes a result too, so that the model reads it."""
        try:
            handler = self._handlers.get(name) or self._load_write_tools().handlers[name]
            return handler(arguments, context)
        except HoldfastError as error:
            return tool_error(error)

    def _load_write_tools(self) -> WriteTools:
        """The tools that write, imported at the first use because that takes longer."""
        if self._write_tools is None:
            from holdfast.interfaces.mcp.main_write_tools import WriteTools

            self._write_tools = WriteTools()
        return self._write_tools

    def _ask(self, arguments: Object, context: CallContext) -> Object:
        """The answer to a question. The id of the research session is reported before it starts, so
        that it can be followed; cancelling the call cancels the research."""
        kinds = _kinds(arguments)
        question = arguments["question"]
        options = AskOptions(question, self._bank, remotes=self._ask_remotes, kinds=kinds)
        investigation = self.reading().answers.investigate(options, arguments.get("session_id", ""))
        context.on_cancel(lambda: investigation.sessions.cancel(investigation.id))
        context.progress(f"Session {investigation.id}")
        with closing(cast(Generator[ResearchEvent], iter(investigation))) as events:
            for event in events:
                if event.answer is not None:
                    return tool_result(_answer_text(event.answer), _answer_data(event.answer))
                if context.cancelled.is_set():
                    break
                context.progress(event.text)
        raise InputError("The question was cancelled.", "Ask it again.")

    def _ask_team(self, arguments: Object, context: CallContext) -> Object:
        context.progress("Asking the team's history")
        limit = arguments.get("limit", _LIMITS.evidence)
        found = self.reading().answers.team_query(arguments["question"], self._bank, limit)
        people = [_person_json(one) for one in found.people]
        evidence, _ = fit(short_json(hit, _LIMITS.excerpt_chars) for hit in found.evidence[:limit])
        data = _answer_data(found.answer) | {"evidence": evidence, "people": people}
        lines = [_answer_text(found.answer)]
        lines += [f"Who knows: {p['name']}, {counted(p['commits'], 'commit')}" for p in people]
        lines += map(short_text, evidence)
        return tool_result("\n".join(lines), data)

    def _recall(self, arguments: Object, context: CallContext) -> Object:
        context.progress("Searching memory")
        layers = (Layer(arguments["layer"]),) if "layer" in arguments else ()
        kind = arguments.get("type", _ANY_NETWORK)
        networks = (Network(kind),) if kind != _ANY_NETWORK else ()
        budget = Budget(arguments.get("budget") or Budget.MID)
        plan = RecallPlan(
            layers, _LIMITS.hits, budget, networks=networks, branch=arguments.get("branch", "")
        )
        plan = plan._replace(remotes=self._ask_remotes, knowledge=_kinds(arguments), weak=True)
        reading = self.reading()
        found = reading.search.recall_with_plan(arguments["query"], self._bank, plan)
        hint = reading.context.missing_bank_hint(reading.context.bank_id(self._bank))
        hint = hint or reading.search.missing_networks_hint(self._bank, networks)
        hint = hint or reading.search.missing_kinds_hint(self._bank, plan.knowledge)
        return _recall_result(found, hint)


def _kinds(arguments: Object) -> tuple[Kind, ...]:
    return read_kinds([arguments["kind"]] if "kind" in arguments else [])


def _answer_data(answer: Answer) -> Object:
    return {
        "answer": defang(answer.answer, outside=False),
        "confidence": answer.confidence.value,
        "abstained": answer.abstained,
        **({"weak": True} if answer.weak else {}),
        "source": answer.source,
        "citations": [citation_json(citation) for citation in answer.citations],
        "caveats": [one_line(caveat) for caveat in answer.caveats],
        "session_id": answer.session_id,
        # By the names that other memories' tools use; a search that fails raises an error instead.
        "searchedLayers": [layer.value for layer in answer.layers_searched],
        "success": True,
    } | ({"cost": answer.cost._asdict()} if answer.cost.tokens else {})


def _answer_text(answer: Answer) -> str:
    lines = [defang(answer.answer, outside=False), *map(citation_text, answer.citations)]
    if not answer.abstained:
        lines.append(f"Confidence: {answer.confidence.value} (that this answers the question).")
    lines += [f"Note: {one_line(caveat)}" for caveat in answer.caveats]
    lines += [f"Session: {answer.session_id}"] if answer.session_id else []
    return "\n".join(lines)


def _person_json(one: Expert) -> Object:
    return {
        "name": one_line(one.name),
        "commits": one.commits,
        "last": one.last,
        "areas": [one_line(area) for area in one.areas],
        "evidence": list(one.evidence)[: _LIMITS.commits_per_person],
    }


def _recall_result(found: RecallResult, hint: str) -> Object:
    """The result of a recall: as many whole hits as fit."""
    hits, left = fit(short_json(hit, MAX_RECORD_CHARS) for hit in found.hits)
    notes: list[str] = []
    if found.abstained:
        only_weak = " These are only loosely related." if found.hits else ""
        notes.append(f"No record clearly answers this.{only_weak}")
        if found.suggestions:
            words = one_line(", ".join(found.suggestions[: _LIMITS.suggestions]))
            notes.append(f"You might ask about: {words}.")
    if left:
        notes.append(f"{left} more were found; ask more narrowly, or with a layer.")
    notes += map(one_line, missing_replies(found.strategies, RETRIEVER_PREFIX))
    notes += [hint] if hint else []
    data = {"bank": found.bank, "abstained": found.abstained, "hits": hits, "notes": notes}
    return tool_result("\n\n".join([*map(short_text, hits), *notes]), data)
