"""Drafts of records to share with others: which can be shared, as which text, without secrets.

Only records that say something by themselves are shared: summaries, facts, patterns, memories. Raw
turns are not. Home folders are cut off paths. What others share is imported in `share_intake`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from holdfast.capture.redact import Redactor
from holdfast.errors import InputError
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Concept, Fact, Memory, Network, Pattern
from holdfast.model.records import Digest, Exchange, Session
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import ENDED_STATUSES, Status, Trust
from holdfast.model.uris import uri
from holdfast.recall.lookup.trace import find_record
from holdfast.regex import regex
from holdfast.sources.share_format import share_key, strip_hidden
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader
from holdfast.times import format_time

# What others still read; also bounds the size of a shared file.
MAX_TEXT_CHARS = 12_000
_MAX_FILES = 100
# Kinds that cannot be shared: why, and what to do instead.
_NOT_SHARABLE = {
    "turn": ("A turn is raw text.", "Share the exchange it is in; `holdfast show` names it."),
    "claim": ("A claim is one sentence.", "Share the exchange or the fact that it is in."),
    "commit": ("A commit is in the repository.", "Others have it as soon as you push it."),
    "pull": ("A pull request is on its host.", "Send others its address."),
    "issue": ("An issue is on its host.", "Send others its address."),
    "remark": ("A remark is on the host of its thread.", "Send others its address."),
    "rule": ("A rule is a part of a file.", "Commit that file: everybody has it then."),
    "entity": ("An entity is only a name.", "Share what is known about it."),
    "shared": ("This was shared by somebody else.", "Everybody who pulls has it already."),
}
_HOME_FOLDERS = regex(
    r"(?:(?<![\w.])/home|(?<![\w.])/Users|[A-Za-z]:\\+Users)[/\\]+[^/\\\s'\"`:;,)]+"
)
# Folders that Claude Code names after a path, such as `-home-ann-proj`.
_HOME_SLUGS = regex(r"(?<=[/\\])-(?:home|Users)-[A-Za-z0-9_.]+(?=-)")
_ROOT_HOME = regex(r"(?<![\w.])/root(?=/)")


class TextCleaner(NamedTuple):
    """Removes secrets and home folders from texts that leave the machine. `root` is the folder
    that paths become relative to."""

    redactor: Redactor
    root: str = ""

    def clean(self, text: str) -> str:
        """The text without secrets and home folders."""
        return self.redact(text)[0]

    def redact(self, text: str) -> tuple[str, int]:
        """The same, and how many secrets were removed."""
        if len(self.root) > 1:
            text = re.sub(rf"(?<![\w.]){re.escape(self.root)}[/\\]", "", text)
        home = str(Path.home())
        if len(home) > 1:
            text = re.sub(rf"(?<![\w.]){re.escape(home)}(?![\w.-])", "~", text)
        text = _ROOT_HOME.sub("~", _HOME_SLUGS.sub("-~", _HOME_FOLDERS.sub("~", text)))
        redacted = self.redactor.redact(strip_hidden(text))
        return redacted.text, sum(redacted.counts.values())


class Draft(NamedTuple):
    """A record to share, and how many secrets were removed from it."""

    shared: SharedRecord
    redacted: int


class Sharer(NamedTuple):
    """Who shares, when, with which note to the reader, and for whom."""

    name: str
    email: str
    now: str
    note: str = ""
    scope: Scope = Scope.PROJECT


def draft_shares(
    reader: Reader, bank: str, names: Iterable[str], cleaner: TextCleaner, sharer: Sharer
) -> list[Draft]:
    """The drafts of some records; InputError for one that cannot be shared."""
    records: dict[str, Record] = {}
    for name in names:
        for record in _parts(reader, find_record(reader, bank, name)):
            records[uri(record_kind(record), record.id)] = record
    return [_draft(record, cleaner, sharer) for record in records.values()]


def _parts(reader: Reader, record: Record) -> list[Record]:
    """The records to share for a record: of a session its digest and exchanges, else the record
    itself."""
    if isinstance(record, Session):
        digest = reader.sessions.digest(record.bank, record.id)
        parts: list[Record] = [
            *([digest] if digest else []),
            *reader.sessions.exchanges(record.bank, record.id),
        ]
        if not parts:
            raise InputError(
                f"{uri('session', record.id)} contains nothing to share.", "Share something else."
            )
        return parts
    kind = record_kind(record)
    if kind in _NOT_SHARABLE:
        why, remedy = _NOT_SHARABLE[kind]
        raise InputError(f"{uri(kind, record.id)} cannot be shared. {why}", remedy)
    status = getattr(record, "status", Status.OBSERVED)
    if status in ENDED_STATUSES:
        raise InputError(
            f"{uri(kind, record.id)} is no longer valid: it is {status.value}.",
            "Share what replaced it; `holdfast show` names that.",
        )
    return [record]


def _draft(record: Record, cleaner: TextCleaner, sharer: Sharer) -> Draft:
    origin = uri(record_kind(record), record.id)
    text, time, files = _text_of(record)
    clean, redacted = cleaner.redact(text)
    note, redacted_in_note = cleaner.redact(sharer.note.strip())
    trust: Trust = getattr(record, "trust", Trust.EXTERNAL)
    shared = SharedRecord(
        record.bank, share_key(sharer.email, origin), "", record_kind(record), _shorten(clean),
        sharer.name, sharer.email, sharer.now, origin, time, Trust.TEAM, trust,
        tuple(dict.fromkeys(cleaner.clean(file) for file in files))[:_MAX_FILES], note,
        scope=sharer.scope,
    )  # fmt: skip
    return Draft(shared, redacted + redacted_in_note)


def _shorten(text: str) -> str:
    """The text with its paragraphs, cut at a word if it is too long."""
    text = text.strip()
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS].rpartition(' ')[0]}…"


def _text_of(record: Record) -> tuple[str, str, tuple[str, ...]]:
    """The text of a record, its time, and the files it is about."""
    match record:
        case Fact():
            text = f"{record.problem}\n\n{record.content}" if record.problem else record.content
            return text, record.validity.learned, record.files
        case Memory():
            return _memory_text(record), record.when, ()
        case Exchange():
            facts = "\n".join(f"- {fact}" for fact in record.facts)
            parts = dict.fromkeys((record.title, record.summary, record.details, facts))
            text = "\n\n".join(part.strip() for part in parts if part.strip())
            return text, record.started, record.files_modified
        case Digest():
            return _digest_text(record), record.started, ()
        case Concept():
            return f"{record.name}\n\n{record.summary}", record.updated, record.files
        case Pattern():
            times = f"Said {record.occurrences} times, by {', '.join(record.authors) or 'nobody'}."
            return f"{record.content}\n\n{times}", record.last, record.files
        case _:
            raise InputError("This cannot be shared.", "Share a fact, a memory or an exchange.")


def _memory_text(memory: Memory) -> str:
    is_opinion = memory.network is Network.OPINION and memory.confidence is not None
    opinion_note = f" (an opinion, {memory.confidence:.2f} sure)" if is_opinion else ""
    why = f"\n\nWhy: {memory.why}" if memory.why else ""
    return f"{memory.what}{opinion_note}{why}"


def _digest_text(digest: Digest) -> str:
    sections = (
        ("Request", (digest.request,)),
        ("Completed", digest.completed),
        ("Learned", digest.learned),
        ("Next", digest.next_steps),
    )
    return "\n\n".join(f"{name}: {item}" for name, items in sections for item in items if item)


def dated_after(shared: SharedRecord, known: SharedRecord | None) -> SharedRecord:
    """The record, dated after the known version of it even if the clock went back, so that it
    wins."""
    if known is None or shared.shared > known.shared:
        return shared
    time = datetime.fromisoformat(known.shared) + timedelta(milliseconds=1)
    return replace(shared, shared=format_time(time))


def same_content(one: SharedRecord, other: SharedRecord) -> bool:
    """Whether two versions of a record differ in nothing but their time."""
    return _content(one) == _content(other)


def _content(shared: SharedRecord) -> tuple[object, ...]:
    s = shared
    return s.id, s.kind, s.text, s.author, s.time, s.lineage, s.files, s.note, s.gone, s.scope
