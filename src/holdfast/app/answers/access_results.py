"""What the data access layer finds, as its tools give it: a name in its layer, a URI that opens it,
the words, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.app.answers.access_tools import STRATEGIES
from holdfast.app.answers.result_budget import MAX_RECORD_CHARS
from holdfast.app.answers.tool import Object
from holdfast.language import truncate
from holdfast.model.knowledge import Rule
from holdfast.model.query import Hit, Strategy
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.trust import Status
from holdfast.model.uris import parse_uri
from holdfast.research.answering.answer import browse_url
from holdfast.store.protocol import Reader, Record


def hit_result(reader: Reader, one: Hit) -> Object:
    """A hit, as the tools give it."""
    named = parse_uri(one.uri)
    found = reader.find(one.bank, one.kind, named.id, 1) if named else []
    record = found[0] if found else None
    metadata: Object = {"kind": one.kind, "timestamp": one.time, "trust": one.trust.value}
    metadata |= {"sessionId": one.session} if one.session else {}
    metadata |= {"lineNumber": one.source.line} if one.source.line else {}
    metadata |= {"path": one.source.path} if one.source.path else {}
    metadata |= _record_metadata(record)
    metadata |= {"status": one.status.value} if one.status is not Status.OBSERVED else {}
    metadata |= {"supersededBy": one.superseded_by} if one.superseded_by else {}
    return {
        "id": _result_id(one, metadata),
        "uri": one.uri,
        "content": truncate(one.text, MAX_RECORD_CHARS),
        "score": round(one.score, 4),
        "layer": one.layer.value,
        "browseUrl": browse_url(reader, one),
        "metadata": metadata,
    }


def confidence(hits: Sequence[Hit]) -> str:
    """How many strategies agree on the best."""
    ways = max((len(set(one.why) & set(STRATEGIES)) for one in hits[:3]), default=0)
    return "none" if not hits else "high" if ways > 2 else "medium" if ways == 2 else "low"


def strategy_results(strategies: Sequence[Strategy]) -> Object:
    """How each way to search fared."""
    fared = [
        {
            "strategy": s.name,
            "resultCount": s.found,
            "duration": s.ms,
            "success": not (s.timed_out or s.problem),
            **({"error": s.problem or "it took too long"} if s.problem or s.timed_out else {}),
        }
        for s in strategies
    ]
    return {
        "strategiesAttempted": len(fared),
        "strategiesSucceeded": sum(bool(s["success"]) for s in fared),
        "strategyResults": fared,
    }


def _record_metadata(record: Record | None) -> Object:
    """What else is known of a record, by its kind."""
    match record:
        case Turn():
            return {"messageId": record.seq, "role": record.role.value}
        case Exchange():
            return {"messageId": record.first_seq, "type": record.type.value}
        case Digest():
            return {"topics": list(record.topics), "outcome": record.outcome.value}
        case Rule():
            return {"domain": record.domain, "file": record.path}
        case _:
            return {}


def _result_id(one: Hit, metadata: Object) -> str:
    """The name of a result in the layer it is of."""
    match one.kind:
        case "turn":
            return f"transcript:{one.session}:{metadata.get('messageId', 0)}"
        case "digest":
            return f"summary:{one.session}"
        case "rule":
            return f"rules:{metadata.get('domain', '')}"
        case "commit":
            return f"git:commit:{one.uri.rpartition('/')[2]}"
        case _:
            return f"{one.kind}:{one.uri.rpartition('/')[2]}"
