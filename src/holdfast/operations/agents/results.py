"""The results of operations as an agent gets them, as text and as data.

Every result is given twice: agents read the text, and programs the data. A host cuts a result that
is too long, so a result holds as many whole records as fit, best first, and says how many were left
out. What an operation has no shorter form for reads as it does on the command line.

Claude Code saves a result of more than 50,000 characters to a file, and has its service count the
tokens of one that may exceed half of 25,000 tokens. Results stay below both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from holdfast.app.search.hit_view import citation_text, short_json, short_text
from holdfast.framed_text import defang, defang_all, fence, one_line, outside_note
from holdfast.language import counted, cut
from holdfast.model.kinds import is_from_outside
from holdfast.model.opinions import Reflection
from holdfast.model.query import Answer
from holdfast.model.trust import Trust
from holdfast.operations.decisions.curation import Judged, RecordDecision, StoredMemory
from holdfast.operations.finding import MAX_RECORD_CHARS, Finding, Found, record_text
from holdfast.operations.history import TeamReport
from holdfast.operations.operation import Operation
from holdfast.operations.records import ShownRecord
from holdfast.operations.running import result_text
from holdfast.operations.search import Recall
from holdfast.operations.shapes import result_json
from holdfast.recall.core.plan import Strategy
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.page_url import page_url
from holdfast.recall.lookup.timeline import Event, Timeline
from holdfast.recall.ranking.external_hits import RETRIEVER_PREFIX
from holdfast.recall.ranking.hits import estimate_tokens
from holdfast.research.answering.plugin_evidence import missing_replies
from holdfast.store.protocol import Reader

Object = dict[str, Any]
# The JSON of all records of a result.
MAX_RESULT_CHARS = 30_000


# Of what is below an answer: characters of a record, citations, and suggestions to ask for.
_EXCERPT_CHARS, _MAX_CITATIONS, _MAX_SUGGESTIONS = 400, 10, 8
_UNDO = "A person can undo it."


def present(
    reader: Reader, operation: Operation, result: Any, arguments: Mapping[str, Any]
) -> tuple[str, Object]:
    """The result of an operation as the text and the data of a tool's result."""
    kind: Any = result.__class__
    if kind in _SHORTER:
        return _SHORTER[kind](result)
    if kind in _WITH_RECORDS:
        return _WITH_RECORDS[kind](reader, result)
    if kind is ShownRecord and result.raw is not None:
        # Of the raw line only where it is: it has what was left out of the record on purpose.
        result = result._replace(raw=result.raw._replace(text=""))
    if kind in _TEXTS:
        text = _TEXTS[kind](result)
    else:
        text = cut(result_text(operation, result, arguments).rstrip(), MAX_RESULT_CHARS)
        is_record = kind is ShownRecord
        text = fence(text, is_from_outside(result.record)) if is_record else defang(text, False)
    data: Any = _safe(result_json(result))
    if kind in (Answer, TeamReport):
        # By the names that other memories' tools use; a search that fails raises an error instead.
        data |= {"searchedLayers": data["layers_searched"], "success": True}
    for name in [name for name in data if isinstance(data[name], list)]:
        data[name], left = fit(data[name])
        data |= {"left_out": left} if left else {}
    return text, data


def _safe(value: Any) -> Any:
    """A JSON value that cannot imitate a host. Text from outside has no tag, and is marked."""
    if isinstance(value, list):
        return [_safe(one) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return defang_all(value)
    fields = {name: one for name, one in cast("Object", value).items() if one != ""}
    outside = fields.get("trust") == Trust.EXTERNAL or any(map(fields.get, ("shared", "provider")))
    made = {
        name: defang_all(one, True) if outside and isinstance(one, str) else _safe(one)
        for name, one in fields.items()
    }
    return made | ({"outside": outside_note(fields["text"])} if outside and "text" in made else {})


def fit(items: Iterable[Object], max_chars: int = MAX_RESULT_CHARS) -> tuple[list[Object], int]:
    """The first items whose JSON fits, and how many are left out."""
    fitting: list[Object] = []
    left, room = 0, max_chars
    for item in items:
        room -= 0 if left else len(json.dumps(item, ensure_ascii=False))
        if left or room < 0:
            left += 1
        else:
            fitting.append(item)
    return fitting, left


def _answer(answer: Answer) -> str:
    lines = [defang(answer.answer, outside=False), *map(citation_text, answer.citations)]
    if not answer.abstained:
        lines.append(f"Confidence: {answer.confidence.value} (that this answers the question).")
    lines += [f"Note: {one_line(caveat)}" for caveat in answer.caveats]
    lines += [f"Session: {answer.session_id}"] if answer.session_id else []
    return "\n".join(lines)


def _team(found: TeamReport) -> str:
    lines = [_answer(found.whole_answer)]
    lines += [
        f"Who knows: {one_line(one.name)}, {counted(one.commits, 'commit')}" for one in found.people
    ]
    evidence, _ = fit(short_json(hit, _EXCERPT_CHARS) for hit in found.evidence)
    return "\n".join([*lines, *map(short_text, evidence)])


def _reflection(reflection: Reflection) -> str:
    cited = reflection.citations[:_MAX_CITATIONS]
    lines = [defang(reflection.answer, outside=False), *map(citation_text, cited)]
    lines += [f"Confidence: {reflection.confidence:.2f}"] if reflection.author else []
    return "\n".join([*lines, *(f"Note: {one_line(caveat)}" for caveat in reflection.caveats)])


def _recall(reader: Reader, found: Recall) -> tuple[str, Object]:
    """As many whole hits as fit. Programs get more of each than an agent reads."""
    hits, left = fit(short_json(hit, MAX_RECORD_CHARS) for hit in found.hits)
    notes = [f"Confidence: {found.confidence.value}."] if found.confidence else []
    if found.abstained:
        only_weak = " These are only loosely related." if found.hits else ""
        notes.append(f"No record clearly answers this.{only_weak}")
        if found.suggestions:
            words = one_line(", ".join(found.suggestions[:_MAX_SUGGESTIONS]))
            notes.append(f"You might ask about: {words}.")
    if left:
        notes.append(f"{left} more were found; ask more narrowly, or with a layer.")
    notes += map(one_line, missing_replies(found.strategies, RETRIEVER_PREFIX))
    notes += [
        f"{one.name}: {one_line(one.problem) or 'it took too long'}"
        for one in found.strategies
        if one.name in tuple(Strategy) and (one.problem or one.timed_out)
    ]
    notes += found.notes
    text = "\n\n".join([*map(short_text, hits), *notes])
    banks = {one.name: one.id for one in reader.banks.all()}
    for short, hit in zip(hits, found.hits, strict=False):
        short |= {"layer": hit.layer.value, "score": round(hit.score, 4), "session": hit.session}
        if hit.bank in banks:
            short["browse_url"] = page_url(reader, banks[hit.bank], hit.uri, hit.session)
    data = {"bank": found.bank, "abstained": found.abstained, "hits": hits, "notes": notes}
    if found.confidence:
        data |= {"confidence": found.confidence.value, "fallbacks": list(found.fallbacks)}
        data |= {"strategies": result_json(found.strategies)}
    return text, data | ({"left_out": left} if left else {})


def _found(found: Found) -> tuple[str, Object]:
    """Number, day, type and title in one line, URI and cost in the next; then the words of the
    record, in a fence."""
    items, left = fit(_without_empty(result_json(one)) for one in found.findings)
    cost = sum(one.tokens for one in found.findings)
    lines = [f"{len(items)} of {found.total}; all of it in full: about {cost} tokens"]
    for number, one in enumerate(found.findings[: len(items)], 1):
        marks = [one.type, "" if one.status == "observed" else one.status.value]
        lines += _entry(f"{number}.", one, marks, one.outside, one.tokens)
        lines += [f"   {line}" for line in _fenced(one.text, bool(one.outside))]
    lines = lines if items else ["Nothing was found."]
    lines += [f"{left} more did not fit; ask for less at once."] if left else []
    lines += [f"Note: {one_line(note)}" for note in found.notes]
    data = {"bank": found.bank, "total": found.total, "findings": defang_all(items)}
    data |= {"tokens_in_full": cost, "notes": list(found.notes)}
    return "\n".join(lines), data | ({"left_out": left} if left else {})


def _timeline(reader: Reader, found: Timeline) -> tuple[str, Object]:
    """Events in the order of time, each as an entry; a mark before the anchor."""
    items, left = fit(_without_empty(result_json(one)) for one in found.events)
    banks = {one.name: one.id for one in reader.banks.all()}
    lines = [f"Around {found.anchor}:"] if found.anchor else []
    for one in found.events[: len(items)]:
        record = find_by_uri(reader, banks.get(one.bank, one.bank), one.uri)
        text = record_text(reader, record) if record is not None else ""
        outside = outside_note(text) if record is not None and is_from_outside(record) else ""
        mark = "▶" if one.anchor else "-"
        lines += _entry(mark, one, [one.kind, one.note], outside, estimate_tokens(text))
    lines = lines if items else ["Nothing was found."]
    lines += [f"{left} more did not fit; ask for less at once."] if left else []
    lines += [f"Note: {one_line(note)}" for note in found.notes]
    data = defang_all(result_json(found)) | {"events": defang_all(items)}
    return "\n".join(lines), data | ({"left_out": left} if left else {})


def _entry(
    mark: str, one: Finding | Event, marks: Sequence[str], outside: str, tokens: int
) -> list[str]:
    """A record as lines of an index: when it was and what it is, then its URI and its cost."""
    day = one.time[:16].replace("T", " ") or "undated"
    note = f" ({outside})" if outside else ""
    head = one_line(f"{day} [{', '.join(filter(None, marks))}] {one.title}{note}")
    lines = [f"{mark} {head}", f"   {one_line(one.uri)} (~{tokens} tokens)"]
    return [*lines, f"   no longer valid: {one_line(one.ended)}"] if one.ended else lines


def _fenced(text: str, outside: bool) -> list[str]:
    return fence(text, outside).split("\n") if text else []


def _without_empty(fields: Object) -> Object:
    return {name: value for name, value in fields.items() if value not in ("", None, [])}


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


_TEXTS: dict[type, Callable[[Any], str]] = {
    Answer: _answer,
    TeamReport: _team,
    Reflection: _reflection,
}
_SHORTER: dict[type, Callable[[Any], tuple[str, Object]]] = {
    Found: _found,
    StoredMemory: _stored,
    RecordDecision: _decided,
    Judged: _judged,
}
# Those that are shown with what else is known of their records.
_WITH_RECORDS: dict[type, Callable[[Reader, Any], tuple[str, Object]]] = {
    Recall: _recall,
    Timeline: _timeline,
}
