"""The results of operations as an agent gets them, as text and as data.

Every result is given twice, because Claude Code shows its model only the data and other clients
show only the text. A host cuts a result that is too long, so a result holds as many whole records
as fit, best first, and says how many were left out. What an operation has no shorter form for reads
as it does on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from holdfast.app.answers.tool import MAX_RECORD_CHARS, MAX_RESULT_CHARS, Object, fit
from holdfast.app.search.hit_view import citation_json, citation_text, short_json, short_text
from holdfast.framed_text import defang, defang_all, one_line
from holdfast.interfaces.mcp.server_spec import tool_result
from holdfast.language import counted, cut
from holdfast.model.opinions import Reflection
from holdfast.model.query import Answer
from holdfast.model.uris import uri
from holdfast.operations.decisions.curation import Judged, RecordDecision, StoredMemory
from holdfast.operations.finding import TeamReport
from holdfast.operations.operation import Operation
from holdfast.operations.running import result_text
from holdfast.operations.search import Recall
from holdfast.operations.shapes import result_json
from holdfast.recall.ranking.external_hits import RETRIEVER_PREFIX
from holdfast.research.answering.plugin_evidence import missing_replies
from holdfast.research.history.expertise import Expert


class ResultLimits(NamedTuple):
    """How much a result holds. More costs the agent's context, less may leave out what it needs;
    `fit` also bounds the whole result."""

    # Commits that show why a person is named.
    commits_per_person: int = 3
    # Characters of one record below an answer; the whole record is a resource.
    excerpt_chars: int = 400
    # Suggestions after a search that found nothing.
    suggestions: int = 8
    # Citations below a reflection.
    citations: int = 10
    # Opinions of a reflection, in characters of JSON: a share of what a whole result may have.
    opinions_chars: int = 10_000


_LIMITS = ResultLimits()
_UNDO = "A person can undo it."


def present(operation: Operation, result: Any, arguments: Mapping[str, Any]) -> Object:
    """The result of an operation as the result of a tool."""
    kind: Any = result.__class__
    shorter = _SHORTER.get(kind)
    if shorter is not None:
        return tool_result(*shorter(result))
    text = cut(result_text(operation, result, arguments).rstrip(), MAX_RESULT_CHARS)
    data: Any = defang_all(result_json(result))
    for name in [name for name in data if isinstance(data[name], list)]:
        data[name], left = fit(data[name])
        data |= {"left_out": left} if left else {}
    return tool_result(text, data)


def _answer(answer: Answer) -> tuple[str, Object]:
    data: Object = {
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
    lines = [defang(answer.answer, outside=False), *map(citation_text, answer.citations)]
    if not answer.abstained:
        lines.append(f"Confidence: {answer.confidence.value} (that this answers the question).")
    lines += [f"Note: {one_line(caveat)}" for caveat in answer.caveats]
    lines += [f"Session: {answer.session_id}"] if answer.session_id else []
    return "\n".join(lines), data


def _team(found: TeamReport) -> tuple[str, Object]:
    people = [_person(one) for one in found.people]
    evidence, _ = fit(short_json(hit, _LIMITS.excerpt_chars) for hit in found.evidence)
    text, data = _answer(found.whole_answer)
    lines = [text]
    lines += [f"Who knows: {p['name']}, {counted(p['commits'], 'commit')}" for p in people]
    lines += map(short_text, evidence)
    return "\n".join(lines), data | {"evidence": evidence, "people": people}


def _person(one: Expert) -> Object:
    return {
        "name": one_line(one.name),
        "commits": one.commits,
        "last": one.last,
        "areas": [one_line(area) for area in one.areas],
        "evidence": list(one.evidence)[: _LIMITS.commits_per_person],
    }


def _recall(found: Recall) -> tuple[str, Object]:
    """As many whole hits as fit."""
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
    notes += found.notes
    data = {"bank": found.bank, "abstained": found.abstained, "hits": hits, "notes": notes}
    return "\n\n".join([*map(short_text, hits), *notes]), data


def _reflection(reflection: Reflection) -> tuple[str, Object]:
    opinions = [
        {
            "uri": uri("memory", one.id),
            "what": one_line(one.what),
            "confidence": round(one.confidence, 2),
            "trend": one.trend.value,
        }
        for one in reflection.opinions
    ]
    citations = reflection.citations[: _LIMITS.citations]
    data: Object = {
        "answer": defang(reflection.answer, outside=False),
        "confidence": round(reflection.confidence, 2),
        "abstained": reflection.abstained,
        "opinions": fit(opinions, _LIMITS.opinions_chars)[0],
        "citations": list(map(citation_json, citations)),
        "caveats": [one_line(caveat) for caveat in reflection.caveats],
        "stored": list(reflection.stored),
    }
    lines = [defang(reflection.answer, outside=False), *map(citation_text, citations)]
    lines += [f"Confidence: {reflection.confidence:.2f}"] if reflection.author else []
    lines += [f"Note: {one_line(caveat)}" for caveat in reflection.caveats]
    return "\n".join(lines), data


def _stored(stored: StoredMemory) -> tuple[str, Object]:
    record = stored.record
    data = {"uri": stored.uri, "bank": stored.bank, "text": record.what}
    data |= {"trust": record.trust.value}
    return f"Remembered in {stored.bank} as {stored.uri}: {record.what}", data


def _decided(made: RecordDecision) -> tuple[str, Object]:
    decision = made.decision
    data = {"action": decision.action.value, "uri": decision.target, "who": decision.who}
    return f"Done: {decision.action.value} {decision.target}. {_UNDO}", data


def _judged(made: Judged) -> tuple[str, Object]:
    """What was judged, and for which of it what a person decided before still counts."""
    verdict = made.verdict.value
    data = {
        "verdict": verdict,
        "judged": [one.target for one in made.decided],
        "kept": list(made.kept),
    }
    words = f"{counted(len(made.decided), 'record')} judged {verdict}. {_UNDO}"
    if made.kept:
        words += f" What a person decided still counts for: {', '.join(made.kept)}."
    return words, data


_SHORTER: dict[type, Callable[[Any], tuple[str, Object]]] = {
    Answer: _answer,
    TeamReport: _team,
    Recall: _recall,
    Reflection: _reflection,
    StoredMemory: _stored,
    RecordDecision: _decided,
    Judged: _judged,
}
