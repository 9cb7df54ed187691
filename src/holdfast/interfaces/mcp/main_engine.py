"""What answers `holdfast mcp`: the same as data and as text.

Claude Code shows its model the data alone where there is any, other clients show the text, so
each says everything. A host cuts a result that is too long for it, so what is said is selected
to fit: whole records, best first, and how many more there are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, cast

from holdfast.app.answers.ask import Wish
from holdfast.app.answers.research_sessions import Investigation
from holdfast.app.answers.result_budget import LONGEST_RECORD, fit
from holdfast.app.answers.tool import Object
from holdfast.app.search.old_recall import Reading, open_reading
from holdfast.errors import HoldfastError, InputError
from holdfast.interfaces.mcp import resources
from holdfast.interfaces.mcp.memory_source import MemorySource, ReopeningMemory
from holdfast.interfaces.mcp.server_spec import CallContext
from holdfast.interfaces.mcp.tool_results import tool_error, tool_result
from holdfast.language import cut
from holdfast.model.knowledge import Network
from holdfast.model.query import Answer, Hit, Layer, Recalled
from holdfast.model.research import Event
from holdfast.model.trust import Freshness, Status
from holdfast.recall.core.plan import Budget, Plan
from holdfast.recall.ranking.remote_hits import ARM
from holdfast.research.answering.plugin_evidence import missing_replies
from holdfast.research.history.expertise import Expert

_HITS = 20
_EVIDENCE = 10
_COMMITS = 3
_EXCERPT = 400
_ALL = "all"
_WRITING = ("memory_reflect", "remember", "learn", "auto_learn")


class MainEngine:
    """Answers from the memory as it is now: of the bank of the folder we stand in, or of one that
    is named."""

    def __init__(
        self, reading: MemorySource[Reading] | None = None, writing: Any = None, bank: str | None = None
    ) -> None:
        self._reading: MemorySource[Reading] = reading or ReopeningMemory(open_reading)
        self._writing = writing
        self._bank = bank
        # A server that asks other servers in the name of whoever asks it would ask for strangers.
        self._remotes = reading is None
        self._run: dict[str, Callable[[Object, CallContext], Object]] = {
            "memory": self._memory,
            "memory_recall": self._recall,
            "team_query": self._team,
        }

    def reading(self) -> Reading:
        """The memory as it is now."""
        return self._reading.current()

    def close(self) -> None:
        """Let go of the files."""
        self._reading.close()
        if self._writing is not None:
            self._writing.close()

    def list_resources(self) -> list[Object]:
        """A handful of records to begin with."""
        reading = self.reading()
        return resources.list_resources(reading.reader, reading.bank_id(self._bank))

    def read_resource(self, uri: str) -> Object:
        """A record by its URI."""
        reading = self.reading()
        return resources.read_resource(reading.reader, reading.bank_id(self._bank), uri)

    def call(self, name: str, arguments: Object, ask: CallContext) -> Object:
        """The result of a tool. What the user can mend is told to the model as a result."""
        try:
            if name in _WRITING:
                return self._writer().call(name, arguments, ask)
            return self._run[name](arguments, ask)
        except HoldfastError as error:
            return tool_error(error)

    def _writer(self) -> Any:
        """What can also write, loaded when it is first wanted: it takes longer."""
        if self._writing is None:
            from holdfast.interfaces.mcp import main_write_tools

            self._writing = main_write_tools.WriteTools()
        return self._writing

    def _memory(self, given: Object, ask: CallContext) -> Object:
        """The answer of an investigation, which has a name before it begins; it ends when nobody
        waits for it any more."""
        wish = Wish(given["question"], self._bank, remotes=self._remotes)
        investigation = Investigation(self.reading(), wish, given.get("session_id", ""))
        ask.on_cancel(lambda: investigation.sessions.cancel(investigation.id))
        ask.progress(f"Session {investigation.id}")
        with closing(cast(Generator[Event], iter(investigation))) as events:
            for event in events:
                if event.answer is not None:
                    return tool_result(_answer_text(event.answer), _answer_data(event.answer))
                if ask.cancelled.is_set():
                    break
                ask.progress(event.text)
        raise InputError("The question was taken back.", "Ask it again.")

    def _team(self, given: Object, ask: CallContext) -> Object:
        ask.progress("Asking the team's history")
        limit = given.get("limit", _EVIDENCE)
        told = self.reading().team_query(given["question"], self._bank, limit)
        people = [_person(one) for one in told.people]
        shown = (hit for hit in told.evidence[:limit])
        evidence, _ = fit(_hit(hit) | {"text": cut(hit.text, _EXCERPT)} for hit in shown)
        data = _answer_data(told.answer) | {"evidence": evidence, "people": people}
        lines = [_answer_text(told.answer)]
        lines += [f"Who knows: {p['name']}, {p['commits']} commits" for p in people]
        lines += [_told(hit) for hit in evidence]
        return tool_result("\n".join(lines), data)

    def _recall(self, given: Object, ask: CallContext) -> Object:
        ask.progress("Searching memory")
        layers = (Layer(given["layer"]),) if "layer" in given else ()
        kind = given.get("type", _ALL)
        networks = (Network(kind),) if kind != _ALL else ()
        budget = Budget(given.get("budget") or Budget.MID)
        plan = Plan(layers, _HITS, budget, networks=networks, branch=given.get("branch", ""))
        plan = plan._replace(remotes=self._remotes)
        reading = self.reading()
        found = reading.recall_by(given["query"], self._bank, plan)
        hint = reading.no_bank(reading.bank_id(self._bank))
        hint = hint or reading.no_network(self._bank, networks)
        return _recalled(found, hint)


def make_engine() -> MainEngine:
    """The engine of this server."""
    return MainEngine()


def _answer_data(answer: Answer) -> Object:
    cited = [
        {
            "uri": citation.uri,
            "layer": citation.layer.value,
            "time": citation.time,
            "trust": citation.trust.value,
            "excerpt": citation.excerpt,
        }
        for citation in answer.citations
    ]
    return {
        "answer": answer.answer,
        "confidence": answer.confidence.value,
        "abstained": answer.abstained,
        "citations": cited,
        "caveats": list(answer.caveats),
        "session_id": answer.session_id,
    } | ({"cost": answer.cost._asdict()} if answer.cost.tokens else {})


def _answer_text(answer: Answer) -> str:
    lines = [answer.answer]
    for citation in answer.citations:
        when = citation.time[:10] or "undated"
        lines.append(f"[{citation.number}] {when} {citation.layer.value} {citation.uri}")
    if not answer.abstained:
        lines.append(f"Confidence: {answer.confidence.value} (how well the records cover it).")
    lines += [f"Note: {caveat}" for caveat in answer.caveats]
    lines += [f"Session: {answer.session_id}"] if answer.session_id else []
    return "\n".join(lines)


def _person(one: Expert) -> Object:
    return {
        "name": one.name,
        "commits": one.commits,
        "last": one.last,
        "areas": list(one.areas),
        "evidence": list(one.evidence)[:_COMMITS],
    }


def _recalled(found: Recalled, hint: str) -> Object:
    """As many whole hits as fit."""
    hits, left = fit(_hit(hit) for hit in found.hits)
    notes: list[str] = []
    if found.abstained:
        notes.append("Nothing in memory speaks of this.")
        if found.suggestions:
            notes.append(f"You might ask about: {', '.join(found.suggestions[:8])}.")
    if left:
        notes.append(f"{left} more were found; ask more narrowly, or with a layer.")
    notes += missing_replies(found.strategies, ARM)
    notes += [hint] if hint else []
    lines = [_told(h) for h in hits]
    data = {"bank": found.bank, "abstained": found.abstained, "hits": hits, "notes": notes}
    return tool_result("\n\n".join([*lines, *notes]), data)


def _told(hit: Object) -> str:
    since = f" (code since then: {hit['since']})" if "since" in hit else ""
    return f"{hit['time'][:10]} {hit['kind']}, {hit['trust']}: {hit['uri']}{since}\n{hit['text']}"


def _hit(hit: Hit) -> Object:
    """A hit in as few words as tell it; what is ordinary goes without saying."""
    item: Object = {
        "uri": hit.uri,
        "kind": hit.kind,
        "time": hit.time or "undated",
        "trust": hit.trust.value,
        "text": cut(hit.text, LONGEST_RECORD),
    }
    if hit.status is not Status.OBSERVED:
        item["status"] = hit.status.value
    if hit.superseded_by:
        item["superseded_by"] = hit.superseded_by
    if hit.supersedes:
        item["supersedes"] = list(hit.supersedes)
    said = {"corrected": hit.corrected, "shared": hit.shared, "imported": hit.imported}
    said |= {"agent": hit.agent}
    item |= {name: text for name, text in (said | {"server": hit.provider}).items() if text}
    if hit.freshness is not Freshness.UNKNOWN:
        item["freshness"] = hit.freshness.value
    if hit.since:
        item["since"] = hit.since
    if hit.astray:
        item["astray"] = True
    return item
