"""The results of `MemoryTools` as JSON: an id within the layer, a URI, the text, and metadata."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.app.answers.tool import MAX_RECORD_CHARS, Object
from holdfast.app.search.hit_view import endings, remarks
from holdfast.framed_text import defang, outside_note
from holdfast.language import cut
from holdfast.model.knowledge import Rule
from holdfast.model.query import Hit, RetrieverReport
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.page_url import page_url
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader


def hit_result(reader: Reader, hit: Hit) -> Object:
    """A hit as JSON."""
    how = hit.how_it_ended
    ended = endings(hit) or ([f"No longer valid: {how}."] if how else [])
    where = {"sessionId": hit.session, "lineNumber": hit.source.line, "path": hit.source.path}
    notable = {
        "shared": hit.shared,
        "outside": outside_note(hit.text) if hit.is_from_outside else "",
        "status": remarks(hit).get("status"),
        "supersededBy": hit.superseded_by,
        "knowledge": remarks(hit).get("knowledge"),
    }
    metadata: Object = {"kind": hit.kind, "timestamp": hit.time, "trust": hit.trust.value}
    metadata |= {name: value for name, value in where.items() if value}
    metadata |= _record_metadata(find_by_uri(reader, hit.bank, hit.uri))
    metadata |= {name: value for name, value in notable.items() if value}
    return {
        "id": _result_id(hit, metadata),
        "uri": hit.uri,
        "content": defang(cut(hit.text, MAX_RECORD_CHARS), hit.is_from_outside),
        **({"ended": ended} if ended else {}),
        **({"weak": True} if hit.weak else {}),
        "score": round(hit.score, 4),
        "layer": hit.layer.value,
        "browseUrl": page_url(reader, hit.bank, hit.uri, hit.session),
        "metadata": metadata,
    }


def strategy_results(strategies: Sequence[RetrieverReport]) -> Object:
    """What each strategy found, how long it took, and its error."""
    results = [
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
        "strategiesAttempted": len(results),
        "strategiesSucceeded": sum(bool(s["success"]) for s in results),
        "strategyResults": results,
    }


def _record_metadata(record: Record | None) -> Object:
    """The metadata that only records of this kind have."""
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


def _result_id(hit: Hit, metadata: Object) -> str:
    """An id within the layer of the hit."""
    match hit.kind:
        case "turn":
            return f"transcript:{hit.session}:{metadata.get('messageId', 0)}"
        case "digest":
            return f"summary:{hit.session}"
        case "rule":
            return f"rules:{metadata.get('domain', '')}"
        case "commit":
            return f"git:commit:{hit.uri.rpartition('/')[2]}"
        case _:
            return f"{hit.kind}:{hit.uri.rpartition('/')[2]}"
