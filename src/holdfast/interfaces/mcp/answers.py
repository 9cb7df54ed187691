"""What the tools answer: the same as data and as text.

Claude Code shows its model the data alone where there is any, other clients show the text, so
each says everything. A host cuts a result that is too long for it, so what is said is selected
to fit: whole records, best first, and how many more there are.
"""

from __future__ import annotations

import json

from holdfast.app.asking import identity
from holdfast.app.reading import Reading, open_reading
from holdfast.errors import HoldfastError
from holdfast.interfaces.mcp.wire import Object
from holdfast.language import cut
from holdfast.model.query import Answer, Hit, Layer, Recalled
from holdfast.model.trust import Freshness, Status
from holdfast.recall.plan import Budget, Plan
from holdfast.settings import load_settings

# Claude Code saves what is longer than 50,000 characters to a file, and asks its service to count
# what may be over half of 25,000 tokens. Data and text, each by itself, stay below both.
MOST_CHARACTERS = 30_000
LONGEST_HIT = 4_000
_HITS = 20


class Answers:
    """An open memory, and opened anew when it comes into being or is replaced."""

    def __init__(self) -> None:
        self._reading: Reading | None = None
        self._seen: tuple[int, int] | None = None

    def reading(self) -> Reading:
        """The memory as it is now."""
        settings = load_settings()
        seen = identity(settings.database)
        if self._reading is None or seen != self._seen:
            self.close()
            self._reading, self._seen = open_reading(settings), seen
        return self._reading

    def close(self) -> None:
        """Let go of the files."""
        if self._reading is not None:
            self._reading.close()
            self._reading = None

    def call(self, name: str, arguments: dict[str, str]) -> Object:
        """The result of a tool. What the user can mend is told to the model as a result."""
        try:
            if name == "memory":
                return self._memory(arguments["question"])
            return self._recall(arguments)
        except HoldfastError as error:
            text = f"{error.message} {error.remedy}".strip()
            return {"content": [{"type": "text", "text": text}], "isError": True}

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

    def _recall(self, arguments: dict[str, str]) -> Object:
        layers = (Layer(arguments["layer"]),) if "layer" in arguments else ()
        plan = Plan(layers, _HITS, Budget(arguments.get("budget") or Budget.MID))
        reading = self.reading()
        found = reading.recall_by(arguments["query"], None, plan)
        hint = reading.no_bank() if reading.bank_id() == "" else ""
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
    hits: list[Object] = []
    room = MOST_CHARACTERS
    for hit in found.hits:
        item = _hit(hit)
        room -= len(json.dumps(item, ensure_ascii=False))
        if room < 0:
            break
        hits.append(item)
    notes: list[str] = []
    if found.abstained:
        notes.append("Nothing in memory speaks of this.")
        if found.suggestions:
            notes.append(f"You might ask about: {', '.join(found.suggestions[:8])}.")
    left = len(found.hits) - len(hits)
    if left:
        notes.append(f"{left} more were found; ask more narrowly, or with a layer.")
    notes += [hint] if hint else []
    lines = [f"{h['time'][:10]} {h['kind']}, {h['trust']}: {h['uri']}\n{h['text']}" for h in hits]
    data = {"bank": found.bank, "abstained": found.abstained, "hits": hits, "notes": notes}
    return _result("\n\n".join([*lines, *notes]), data)


def _hit(hit: Hit) -> Object:
    """A hit in as few words as tell it; what is ordinary goes without saying."""
    item: Object = {
        "uri": hit.uri,
        "kind": hit.kind,
        "time": hit.time or "undated",
        "trust": hit.trust.value,
        "text": cut(hit.text, LONGEST_HIT),
    }
    if hit.status is not Status.OBSERVED:
        item["status"] = hit.status.value
    if hit.superseded_by:
        item["superseded_by"] = hit.superseded_by
    if hit.supersedes:
        item["supersedes"] = list(hit.supersedes)
    if hit.corrected:
        item["corrected"] = hit.corrected
    if hit.freshness is not Freshness.UNKNOWN:
        item["freshness"] = hit.freshness.value
    return item


def _result(text: str, data: Object) -> Object:
    return {"content": [{"type": "text", "text": text}], "structuredContent": data}
