"""How the steps of an investigation are written down, and read again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from holdfast.model.query import Answer, Citation, Confidence, Cost, Layer
from holdfast.model.research import Event
from holdfast.model.trust import Trust
from holdfast.model.uris import parse_uri
from holdfast.research.session_journal import ASKED, Line
from holdfast.store.protocol import Reader

_LONG = 4000
THEIRS = "(what a plugin or a server said is not kept)"
_AFAR = "holdfast://remote/"
GONE = "(not shown: the record was forgotten or erased)"


def question_line(time: str, question: str, reads: str, key: str) -> Line:
    """The line that a question begins with."""
    read = {"reads": reads} if reads else {}
    return {"time": time, "stage": ASKED, "question": question, **read, "key": key}


def event_line(event: Event, time: str, clean: Callable[[str], str], key: str = "") -> Line:
    """A step as a line; what it does not have is left out."""
    line: Line = {
        "time": time, "stage": event.stage.value, "round": event.round,
        "text": clean(event.text[:_LONG]), "query": clean(event.query[:_LONG]),
        "found": event.found,
        "uris": list(event.uris),
    }  # fmt: skip
    told = {name: value for name, value in line.items() if value not in ("", 0, [])}
    if event.answer is not None:
        kept = without_foreign_quotes(event.answer)
        told["answer"] = answer_to_json(kept, clean)
        if kept is event.answer:
            told["key"] = key  # what is not kept whole cannot be given again
    return told


def without_foreign_quotes(answer: Answer) -> Answer:
    """An answer without what plugins and servers said: that is shown, and never kept."""
    theirs = [
        cited
        for cited in answer.citations
        if cited.layer is Layer.PROVIDERS or cited.uri.startswith(_AFAR)
    ]
    if not theirs:
        return answer
    marks = [f"[{cited.number}]" for cited in theirs]
    lines = answer.answer.split("\n")
    return replace(
        answer,
        answer="\n".join(THEIRS if any(m in line for m in marks) else line for line in lines),
        citations=tuple(
            cited._replace(excerpt=THEIRS) if cited in theirs else cited
            for cited in answer.citations
        ),
    )


def answer_to_json(answer: Answer, clean: Callable[[str], str] = lambda text: text) -> Line:
    """An answer as JSON can hold it, in the shape of `ask --json`."""
    return {
        "question": clean(answer.question[:_LONG]),
        "answer": answer.answer,
        "confidence": answer.confidence.value,
        "abstained": answer.abstained,
        "source": answer.source,
        "citations": [
            {**cited._asdict(), "layer": cited.layer.value, "trust": cited.trust.value}
            for cited in answer.citations
        ],
        "layers_searched": [layer.value for layer in answer.layers_searched],
        "caveats": list(answer.caveats),
        "session_id": answer.session_id,
        "cost": answer.cost._asdict(),
    }


def answer_from_json(line: Mapping[str, Any]) -> Answer:
    """The answer that was spelled."""
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
        cost=Cost(**line["cost"]),
    )


def mask_removed_records(reader: Reader, lines: list[Line]) -> list[Line]:
    """Lines without the words of records that are not shown any more: what an answer quotes of
    them, and queries and caveats that may have been made of them."""
    told: list[Line] = []
    gone: set[str] = set()
    for line in lines:
        if line.get("stage") == ASKED:
            gone = set()
        gone |= {name for name in _named(line) if not _is_there(reader, name)}
        told.append(_masked(line, gone) if gone else line)
    return told


def _named(line: Line) -> list[str]:
    cited = cast(Line, line.get("answer") or {}).get("citations", [])
    return [*line.get("uris", []), *(one["uri"] for one in cited)]


def _is_there(reader: Reader, name: str) -> bool:
    known = parse_uri(name)
    return known is None or bool(reader.find(None, known.word, known.id, 1))


def _masked(line: Line, gone: set[str]) -> Line:
    told = {**line, "query": GONE} if line.get("query") and line.get("round", 1) > 1 else line
    answer = cast(Line, line.get("answer") or {})
    if not answer:
        return told
    cited = cast(list[Line], answer["citations"])
    hidden = [f"[{one['number']}]" for one in cited if one["uri"] in gone]
    said = str(answer["answer"]).split("\n")
    kept = [
        GONE if any(mark in part for mark in hidden) or not part.endswith("]") else part
        for part in said
    ]
    masked = [{**one, "excerpt": GONE} if one["uri"] in gone else one for one in cited]
    whole = {**answer, "answer": "\n".join(kept), "citations": masked, "caveats": [GONE]}
    return {**told, "answer": whole}
