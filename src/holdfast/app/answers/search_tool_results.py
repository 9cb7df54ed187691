"""Records as index entries: URI, title, time, and the tokens that reading the record costs."""

from __future__ import annotations

from holdfast.app.answers.tool import MAX_RECORD_CHARS, Object
from holdfast.app.search.hit_view import ended_lines
from holdfast.framed_text import defang, one_line, outside_note
from holdfast.language import cut, truncate
from holdfast.model.imports import ImportedRecord
from holdfast.model.kinds import is_from_outside, knowledge_kind, record_kind
from holdfast.model.knowledge import Fact, Memory, Rule
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.trust import Status
from holdfast.model.uris import uri
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.timeline import Event
from holdfast.recall.ranking.hits import estimate_tokens
from holdfast.refine.core.passages import imported_text, turn_text
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

# Keeps an entry to about one line; a title is a hint, the text can be read in full.
_MAX_TITLE_CHARS = 160
# Tools and files that are listed with a session.
_MAX_LISTED = 20


def index_entry(reader: Reader, record: Record, full: bool = False) -> Object:
    """A record as an entry; with `full` including its text."""
    title, time = describe_record(record)
    text = record_text(record)
    if full and isinstance(record, Digest):
        text = "\n".join((text, *_work_lines(reader, record)))
    outside = is_from_outside(record)
    note = outside_note(f"{title}\n{text}") if outside else ""
    title, text = one_line(title), defang(cut(text, MAX_RECORD_CHARS), outside)
    entry: Object = {
        "uri": uri(record_kind(record), record.id),
        "kind": record_kind(record),
        "type": _type(record),
        "title": truncate(title, _MAX_TITLE_CHARS),
        "time": time,
        "tokens": estimate_tokens(text),
    }
    entry |= {"outside": note} if note else {}
    says = knowledge_kind(record)
    entry |= {"knowledge": says.value} if says else {}
    session = getattr(record, "session", "")
    host = reader.sessions.get(record.bank, session) if session else None
    entry |= {"session": host.host} if host else {}
    if isinstance(record, ImportedRecord):
        entry |= {"origin": record.origin, "program": record.program}
        entry |= {"session": session} if session else {}
    trust = getattr(record, "trust", None)
    entry |= {"trust": trust.value} if trust is not None else {}
    status = getattr(record, "status", Status.OBSERVED)
    entry |= {"status": status.value} if status is not Status.OBSERVED else {}
    ended = RecordEndings(reader).of(record, f"{title}\n\n{text}" if full else title)
    entry |= {"ended": ended_lines(time, ended)} if ended else {}
    subtitle = _subtitle(record, title) if full else ""
    entry |= {"subtitle": truncate(one_line(subtitle), _MAX_TITLE_CHARS)} if subtitle else {}
    return entry | ({"text": text} if full else {})


def event_entry(reader: Reader, event: Event) -> Object:
    """An event of a timeline as an entry."""
    record = find_by_uri(reader, event.bank, event.uri)
    entry = index_entry(reader, record) if record else {"uri": event.uri, "tokens": 0}
    entry |= {"kind": event.kind, "time": event.time, "title": one_line(event.title)}
    entry |= {"note": one_line(event.note)} if event.note else {}
    return entry | ({"anchor": True} if event.anchor else {})


def record_text(record: Record) -> str:
    """The whole text of a record."""
    match record:
        case Turn():
            return turn_text(record)
        case Exchange():
            parts = [record.title, record.summary, record.details, *record.facts]
            files = (*record.files_modified, *record.files_read)
            parts += [f"Keywords: {', '.join(record.keywords)}"] if record.keywords else []
            parts += [f"Files: {', '.join(files)}"] if files else []
            return "\n".join(part for part in parts if part)
        case Digest():
            return "\n".join(_digest_lines(record))
        case Memory():
            return "\n".join(part for part in (record.what, record.where, record.why) if part)
        case Fact():
            return "\n".join(part for part in (record.problem, record.content) if part)
        case Rule():
            return f"{record.heading}\n{record.text}"
        case ImportedRecord():
            about = (
                ("Labels", [label for label in record.labels if label != record.type]),
                ("Files", record.files),
            )
            lines = [f"{name}: {', '.join(texts)}" for name, texts in about if texts]
            return "\n".join((imported_text(record), *lines))
        case _:
            title, _ = describe_record(record)
            body = getattr(record, "body", "")
            return f"{title}\n{body}".strip()


def _work_lines(reader: Reader, digest: Digest) -> list[str]:
    """What a session took: messages of each side, uses of each tool, and the files it changed."""
    counts = reader.turns.counts(digest.bank, digest.session)
    said = [f"{number} {role}" for role, tool, number in counts if not tool]
    used = [f"{tool} {number}" for _, tool, number in counts if tool]
    exchanges = reader.sessions.exchanges(digest.bank, digest.session)
    changed = dict.fromkeys(file for x in exchanges for file in x.files_modified)
    return [
        f"{name}: {', '.join(texts)}"
        for name, texts in (
            ("Messages", said),
            ("Tools", used[:_MAX_LISTED]),
            ("Files changed", list(changed)[:_MAX_LISTED]),
        )
        if texts
    ]


def _digest_lines(digest: Digest) -> list[str]:
    lines = [f"Request: {digest.request}", f"Outcome: {digest.outcome.value}"]
    for name in ("investigated", "learned", "completed", "next_steps"):
        items: tuple[str, ...] = getattr(digest, name)
        if items:
            lines.append(f"{name.replace('_', ' ').capitalize()}: {'; '.join(items)}")
    return [*lines, f"Topics: {', '.join(digest.topics)}"] if digest.topics else lines


def _subtitle(record: Record, title: str) -> str:
    """What an exchange came to, or how the text of an imported record begins, in one line."""
    if not isinstance(record, Exchange | ImportedRecord):
        return ""
    text = record.summary if isinstance(record, Exchange) else record.text
    line = text.strip().partition("\n")[0]
    return "" if line == title else line


def _type(record: Record) -> str:
    match record:
        case Exchange():
            return record.type.value
        case Digest():
            return record.outcome.value
        case Memory():
            return record.network.value
        case Fact():
            return record.kind.value
        case Turn():
            return record.role.value
        case ImportedRecord():
            return record.type
        case _:
            return record_kind(record)
