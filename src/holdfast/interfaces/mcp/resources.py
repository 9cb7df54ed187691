"""Records as MCP resources: a few to start from, and any record that a result names.

Only records of the given bank are opened. Of the raw transcript line only its location is shown.
"""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from typing import NamedTuple, cast

from holdfast.app.answers.search_tool_results import record_text
from holdfast.app.answers.tool import MAX_RESULT_CHARS, Object
from holdfast.app.core.foreign_uris import resolve_uri
from holdfast.framed_text import defang, fence, one_line, outside_note
from holdfast.language import cut, truncate
from holdfast.model.kinds import is_from_outside, record_kind
from holdfast.model.records import Turn
from holdfast.model.uris import uri
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import Trace, trace
from holdfast.refine.core.passages import turn_text
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader


class ResourceLimits(NamedTuple):
    """How much is listed and shown. A client may show the whole list to its model."""

    # Records of each kind in the list.
    sessions: int = 5
    rules: int = 8
    concepts: int = 5
    # Characters of a title in the list.
    title_chars: int = 120
    # Records that a shown record is made of, and the characters of each.
    parts: int = 40
    part_chars: int = 300


_LIMITS = ResourceLimits()
_HIDDEN_FIELDS = ("bank", "id", "origin", "source")


def list_resources(reader: Reader, bank: str | None) -> list[Object]:
    """The latest sessions, the rules, and what the project is about."""
    if bank == "":
        return []
    latest = reader.sessions.latest(bank, _LIMITS.sessions)
    rules = reader.rules.all(bank)[: _LIMITS.rules] if bank else []
    concepts = reader.concepts.latest(bank, _LIMITS.concepts)
    return [
        *(_resource(reader.sessions.digest(s.bank, s.id) or s, "session", s.id) for s in latest),
        *(_resource(rule, "rule", rule.id) for rule in rules),
        *(_resource(one, "concept", one.id) for one in concepts),
    ]


def read_resource(reader: Reader, bank: str | None, name: str) -> Object:
    """A record as text, with the records above it and those it is made of."""
    found = trace(reader, bank, resolve_uri(reader, bank, name))
    own = uri(found.kind, found.record.id)
    text = cut("\n".join(_lines(own, found)), MAX_RESULT_CHARS)
    return {"contents": [{"uri": name, "mimeType": "text/plain", "text": text}]}


def _resource(record: Record, kind: str, id: str) -> Object:
    return {
        "uri": uri(kind, id),
        "name": f"{kind} {id[:12]}",
        "title": _title(record, _LIMITS.title_chars),
        "mimeType": "text/plain",
    }


def _title(record: Record, max_chars: int) -> str:
    words, when = describe_record(record)
    return one_line(truncate(f"{when[:10]} {words}", max_chars))


def _lines(own: str, found: Trace) -> list[str]:
    record = found.record
    outside = is_from_outside(record)
    lines = [own, *([one_line(found.note)] if found.note else [])]
    if outside:
        lines.append(f"({outside_note(record_text(record))})")
    if isinstance(record, Turn):
        lines += [f"{record.role.value} turn {record.seq}, {record.time}, {record.trust.value}"]
        lines += [fence(turn_text(record), outside)]
    else:
        lines += _fields(record, outside)
    if found.raw is not None:
        raw = found.raw
        where = f"{raw.path}:{raw.line}" if raw.line else raw.path
        lines.append(one_line(f"raw line: {where} ({raw.state.value})"))
    lines += [f"in: {', '.join(found.above)}"] if found.above else []
    lines += [f"made of {len(found.below)}:"] if found.below else []
    for part in found.below[: _LIMITS.parts]:
        title = _title(part, _LIMITS.part_chars)
        lines.append(f"- {uri(record_kind(part), part.id)} {title}")
    left = len(found.below) - _LIMITS.parts
    return [*lines, f"and {left} more"] if left > 0 else lines


def _fields(record: Record, outside: bool) -> list[str]:
    """A line for each field; a text of several lines is fenced below the name of its field."""
    lines: list[str] = []
    for field in fields(record):
        value = _field_text(getattr(record, field.name))
        if field.name in _HIDDEN_FIELDS or not value:
            continue
        value = defang(value, outside)
        is_text = "\n" in value
        words = f"\n{fence(value, outside)}" if is_text else f" {value}"
        lines.append(f"{field.name.replace('_', ' ')}:{words}")
    return lines


def _field_text(value: object) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return "; ".join(_field_text(item) for item in cast(tuple[object, ...], value))
    return "" if value is None else str(value)
