"""What the tools answer: the same as data and as text.

Claude Code shows its model the data alone where there is any, other clients show the text, so
each says everything. A host cuts a result that is too long for it, so what is said is selected
to fit: whole records, best first, and how many more there are.
"""

from __future__ import annotations

from holdfast.app.reading import Reading, open_reading
from holdfast.app.results import LONGEST_RECORD, fit
from holdfast.app.tool import Object
from holdfast.errors import HoldfastError
from holdfast.interfaces.mcp import resources
from holdfast.interfaces.mcp.access_answers import failed
from holdfast.interfaces.mcp.offer import Ask
from holdfast.interfaces.mcp.opened import Opened
from holdfast.language import cut
from holdfast.model.knowledge import Network
from holdfast.model.query import Answer, Hit, Layer, Recalled
from holdfast.model.trust import Freshness, Status
from holdfast.recall.plan import Budget, Plan

_HITS = 20


class Answers:
    """Answers from the memory as it is now."""

    def __init__(self) -> None:
        self._reading: Opened[Reading] = Opened(open_reading)

    def reading(self) -> Reading:
        """The memory as it is now."""
        return self._reading.now()

    def close(self) -> None:
        """Let go of the files."""
        self._reading.close()

    def list_resources(self) -> list[Object]:
        """A handful of records to begin with."""
        reading = self.reading()
        return resources.list_resources(reading.reader, reading.bank_id())

    def read_resource(self, uri: str) -> Object:
        """A record by its URI."""
        reading = self.reading()
        return resources.read_resource(reading.reader, reading.bank_id(), uri)

    def call(self, name: str, arguments: Object, ask: Ask) -> Object:
        """The result of a tool. What the user can mend is told to the model as a result."""
        ask.progress("Searching memory")
        try:
            if name == "memory":
                return self._memory(arguments["question"])
            return self._recall(arguments)
        except HoldfastError as error:
            return failed(error)

    def _memory(self, question: str) -> Object:
        answer = self.reading().ask(question)
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
        data = {
            "answer": answer.answer,
            "confidence": answer.confidence.value,
            "abstained": answer.abstained,
            "citations": cited,
            "caveats": list(answer.caveats),
        }
        return _result(_answer_text(answer), data)

    def _recall(self, arguments: Object) -> Object:
        layers = (Layer(arguments["layer"]),) if "layer" in arguments else ()
        networks = (Network(arguments["network"]),) if "network" in arguments else ()
        budget = Budget(arguments.get("budget") or Budget.MID)
        branch = arguments.get("branch", "")
        plan = Plan(layers, _HITS, budget, networks=networks, branch=branch)
        reading = self.reading()
        found = reading.recall_by(arguments["query"], None, plan)
        hint = reading.no_bank() if reading.bank_id() == "" else ""
        hint = hint or reading.no_network(None, networks)
        return _recalled(found, hint)


def _answer_text(answer: Answer) -> str:
    lines = [answer.answer]
    for citation in answer.citations:
        when = citation.time[:10] or "undated"
        lines.append(f"[{citation.number}] {when} {citation.layer.value} {citation.uri}")
    if not answer.abstained:
        lines.append(f"Confidence: {answer.confidence.value} (how well the records cover it).")
    lines += [f"Note: {caveat}" for caveat in answer.caveats]
    return "\n".join(lines)


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
    notes += [hint] if hint else []
    lines = [_told(h) for h in hits]
    data = {"bank": found.bank, "abstained": found.abstained, "hits": hits, "notes": notes}
    return _result("\n\n".join([*lines, *notes]), data)


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
    if hit.corrected:
        item["corrected"] = hit.corrected
    if hit.shared:
        item["shared"] = hit.shared
    if hit.freshness is not Freshness.UNKNOWN:
        item["freshness"] = hit.freshness.value
    if hit.since:
        item["since"] = hit.since
    if hit.astray:
        item["astray"] = True
    return item


def _result(text: str, data: Object) -> Object:
    return {"content": [{"type": "text", "text": text}], "structuredContent": data}


def make_engine() -> Answers:
    """The engine of this server."""
    return Answers()
