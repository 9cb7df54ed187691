"""Records as resources: a handful to begin with, and any that a result names.

Only what belongs to the bank that is asked is opened, and of a raw line only where it lies.
"""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from typing import cast

from holdfast.app.answers.result_budget import MOST_CHARACTERS
from holdfast.app.answers.tool import Object
from holdfast.app.core.foreign_uris import resolve
from holdfast.language import cut
from holdfast.model.records import Session, Turn
from holdfast.model.uris import uri
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import Trace, trace, word_of
from holdfast.refine.core.passages import turn_text
from holdfast.store.protocol import Reader, Record

_SESSIONS, _RULES, _CONCEPTS = 5, 8, 5
_TITLE = 120
_BELOW = 40
_PART = 300
_UNSAID = ("bank", "id", "origin", "source")


def list_resources(reader: Reader, bank: str | None) -> list[Object]:
    """The latest sessions, the rules, and what the project is about."""
    if bank == "":
        return []
    latest = reader.sessions(bank, _SESSIONS)
    sessions = [_of(_summed_up(reader, one), "session", one.id) for one in latest]
    rules = [_of(rule, "rule") for rule in reader.rules(bank)[:_RULES]] if bank else []
    concepts = [_of(concept, "concept") for concept in reader.concepts(bank, _CONCEPTS)]
    return [*sessions, *rules, *concepts]


def read_resource(reader: Reader, bank: str | None, name: str) -> Object:
    """A record, what it stands in, and what it is made of."""
    found = trace(reader, bank, resolve(reader, bank, name))
    own = uri(found.word, found.record.id)
    text = cut("\n".join(_lines(own, found)), MOST_CHARACTERS)
    return {"contents": [{"uri": name, "mimeType": "text/plain", "text": text}]}


def _summed_up(reader: Reader, session: Session) -> Record:
    return reader.digest_of(session.bank, session.id) or session


def _of(record: Record, kind: str, id: str = "") -> Object:
    title = cut(" ".join(_title(record).split()), _TITLE)
    return {
        "uri": uri(kind, id or record.id),
        "name": f"{kind} {(id or record.id)[:12]}",
        "title": title,
        "mimeType": "text/plain",
    }


def _title(record: Record) -> str:
    words, when = describe_record(record)
    return f"{when[:10]} {words}".strip()


def _lines(own: str, found: Trace) -> list[str]:
    record = found.record
    lines = [own, *([found.note] if found.note else [])]
    if isinstance(record, Turn):
        lines += [f"{record.role.value} turn {record.seq}, {record.time}, {record.trust.value}"]
        lines += ["", turn_text(record), ""]
    else:
        lines += _fields(record)
    if found.raw is not None:
        raw = found.raw
        lines.append(f"raw line: {raw.path}:{raw.line} ({raw.state.value})")
    lines += [f"in: {', '.join(found.above)}"] if found.above else []
    lines += [f"made of {len(found.below)}:"] if found.below else []
    for part in found.below[:_BELOW]:
        words = cut(" ".join(_title(part).split()), _PART)
        lines.append(f"- {uri(word_of(part), part.id)} {words}")
    left = len(found.below) - _BELOW
    return [*lines, f"and {left} more"] if left > 0 else lines


def _fields(record: Record) -> list[str]:
    told: list[str] = []
    for field in fields(record):
        value = _plain(getattr(record, field.name))
        if field.name not in _UNSAID and value:
            told.append(f"{field.name.replace('_', ' ')}: {value}")
    return told


def _plain(value: object) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return "; ".join(_plain(item) for item in cast(tuple[object, ...], value))
    return "" if value is None else str(value)
