"""The lines of a research session's journal: how events and answers are written and read again.

The journal file itself is in `session_journal`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from holdfast.lazy_dataclass import replace
from holdfast.model.query import Answer, Citation, Confidence, Layer, ModelCost
from holdfast.model.research import ResearchEvent
from holdfast.model.to_json import to_jsonable
from holdfast.model.trust import Trust
from holdfast.model.uris import parse_uri
from holdfast.research.session_journal import ASKED, Line
from holdfast.store.protocol import Reader

# Characters of a text that a journal keeps; nobody reads a longer question again.
_MAX_CHARS = 4000
_FOREIGN_TEXT = "(what a plugin or a server said is not kept)"
_REMOVED_TEXT = "(not shown: the record was forgotten or erased)"
_REMOTE_PREFIX = "holdfast://remote/"


def question_line(time: str, question: str, reads: str, key: str) -> Line:
    """The line of a question; `reads` is the question as completed, if that differs."""
    read = {"reads": reads} if reads else {}
    return {"time": time, "stage": ASKED, "question": question, **read, "key": key}


def event_line(event: ResearchEvent, time: str, clean: Callable[[str], str], key: str = "") -> Line:
    """The line of an event, without empty values."""
    line: Line = {
        "time": time, "stage": event.stage.value, "round": event.round,
        "text": clean(event.text[:_MAX_CHARS]), "query": clean(event.query[:_MAX_CHARS]),
        "found": event.found,
        "uris": list(event.uris),
    }  # fmt: skip
    line = {name: value for name, value in line.items() if value not in ("", 0, [])}
    if event.answer is not None:
        stored = without_foreign_quotes(event.answer)
        line["answer"] = to_jsonable(replace(stored, question=clean(stored.question[:_MAX_CHARS])))
        if stored is event.answer:
            line["key"] = key  # only an answer that is stored whole can be given again
    return line


def without_foreign_quotes(answer: Answer) -> Answer:
    """An answer without what plugins and servers said: that is shown once and never stored."""
    foreign = [
        cited
        for cited in answer.citations
        if cited.layer is Layer.PROVIDERS or cited.uri.startswith(_REMOTE_PREFIX)
    ]
    if not foreign:
        return answer
    marks = [f"[{cited.number}]" for cited in foreign]
    lines = answer.answer.split("\n")
    return replace(
        answer,
        answer="\n".join(
            _FOREIGN_TEXT if any(mark in line for mark in marks) else line for line in lines
        ),
        citations=tuple(
            cited._replace(excerpt=_FOREIGN_TEXT) if cited in foreign else cited
            for cited in answer.citations
        ),
    )


def answer_from_json(line: Mapping[str, Any]) -> Answer:
    """The answer of a journal line, as `to_jsonable` made it."""
    cited = [
        Citation(**one)._replace(layer=Layer(one["layer"]), trust=Trust(one["trust"]))
        for one in cast(list[dict[str, Any]], line["citations"])
    ]
    return Answer(
        question=line["question"],
        answer=line["answer"],
        confidence=Confidence(line["confidence"]),
        abstained=line["abstained"],
        source=line["source"],
        citations=tuple(cited),
        layers_searched=tuple(Layer(name) for name in line["layers_searched"]),
        caveats=tuple(line["caveats"]),
        session_id=line["session_id"],
        cost=ModelCost(**line["cost"]),
        weak=line.get("weak", False),
    )


def mask_removed_records(reader: Reader, lines: list[Line]) -> list[Line]:
    """Journal lines without the words of records that were forgotten or erased since: quotes of
    them in answers, and queries and caveats that may have been made from them."""
    masked: list[Line] = []
    removed: set[str] = set()
    for line in lines:
        if line.get("stage") == ASKED:
            removed = set()
        removed |= {name for name in _uris_in(line) if not _exists(reader, name)}
        masked.append(_mask(line, removed) if removed else line)
    return masked


def _uris_in(line: Line) -> list[str]:
    cited = cast(Line, line.get("answer") or {}).get("citations", [])
    return [*line.get("uris", []), *(one["uri"] for one in cited)]


def _exists(reader: Reader, name: str) -> bool:
    known = parse_uri(name)
    return known is None or bool(reader.records.find(None, known.kind, known.id, 1))


def _mask(line: Line, removed: set[str]) -> Line:
    if line.get("query") and line.get("round", 1) > 1:
        line = {**line, "query": _REMOVED_TEXT}
    answer = cast(Line, line.get("answer") or {})
    if not answer:
        return line
    cited = cast(list[Line], answer["citations"])
    marks = [f"[{one['number']}]" for one in cited if one["uri"] in removed]
    # A part without a citation at its end continues another one, which may be removed.
    parts = [
        _REMOVED_TEXT if any(mark in part for mark in marks) or not part.endswith("]") else part
        for part in str(answer["answer"]).split("\n")
    ]
    citations = [
        {**one, "excerpt": _REMOVED_TEXT} if one["uri"] in removed else one for one in cited
    ]
    masked = {
        **answer,
        "answer": "\n".join(parts),
        "citations": citations,
        "caveats": [_REMOVED_TEXT],
    }
    return {**line, "answer": masked}
