"""What leaves the memory for others to see: which records can, in which words, without secrets.

Only records that say something by themselves are shared: what sums up, what is known, what a
person remembered. Raw turns stay here. Paths into somebody's home lose the home.
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
from holdfast.model.knowledge import Concept, Fact, Memory, Network, Pattern
from holdfast.model.records import Digest, Exchange, Session
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.recall.lookup.trace import find_record, kind_of
from holdfast.regex import regex
from holdfast.sources.share_format import share_key, strip_hidden
from holdfast.store.protocol import Reader, Record

MAX_TEXT_CHARS = 12_000
_FILES = 100
_OVER = (Status.SUPERSEDED, Status.RETRACTED)
_INSTEAD = {
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
_HOMES = regex(r"(?:(?<![\w.])/home|(?<![\w.])/Users|[A-Za-z]:\\+Users)[/\\]+[^/\\\s'\"`:;,)]+")
_SLUGS = regex(r"(?<=[/\\])-(?:home|Users)-[A-Za-z0-9_.]+(?=-)")
_ROOT = regex(r"(?<![\w.])/root(?=/)")


class TextCleaner(NamedTuple):
    """Where a text comes from and what must not go with it: rules of redaction, and the folder
    that paths are relative to."""

    redactor: Redactor
    root: str = ""

    def clean(self, text: str) -> str:
        """A text that may leave."""
        return self.redact(text)[0]

    def redact(self, text: str) -> tuple[str, int]:
        """The same, and how much was taken out of it as secret."""
        if len(self.root) > 1:
            text = re.sub(rf"(?<![\w.]){re.escape(self.root)}[/\\]", "", text)
        home = str(Path.home())
        if len(home) > 1:
            text = re.sub(rf"(?<![\w.]){re.escape(home)}(?![\w.-])", "~", text)
        text = _ROOT.sub("~", _SLUGS.sub("-~", _HOMES.sub("~", text)))
        redacted = self.redactor.redact(strip_hidden(text))
        return redacted.text, sum(redacted.taken.values())


class Draft(NamedTuple):
    """What is to be shared, and how many secrets were taken out of it once more."""

    shared: SharedRecord
    redacted: int


class Sharer(NamedTuple):
    """In whose name, when, with which word to the reader, and for whom."""

    name: str
    email: str
    now: str
    note: str = ""
    scope: Scope = Scope.PROJECT


def draft_shares(
    reader: Reader, bank: str, names: Iterable[str], words: TextCleaner, sharer: Sharer
) -> list[Draft]:
    """What sharing some records comes to; an error for one that cannot be shared."""
    records: dict[str, Record] = {}
    for name in names:
        for record in _parts(reader, find_record(reader, bank, name)):
            records[uri(kind_of(record), record.id)] = record
    return [_drafted(record, words, sharer) for record in records.values()]


def _parts(reader: Reader, record: Record) -> list[Record]:
    """A session is shared as its digest and its exchanges."""
    if isinstance(record, Session):
        digest = reader.digest_of(record.bank, record.id)
        parts: list[Record] = [
            *([digest] if digest else []),
            *reader.exchanges(record.bank, record.id),
        ]
        if not parts:
            raise InputError(
                f"{uri('session', record.id)} holds nothing to share.", "Share something else."
            )
        return parts
    word = kind_of(record)
    if word in _INSTEAD:
        why, remedy = _INSTEAD[word]
        raise InputError(f"{uri(word, record.id)} cannot be shared. {why}", remedy)
    status = getattr(record, "status", Status.OBSERVED)
    if status in _OVER:
        raise InputError(
            f"{uri(word, record.id)} does not hold any more: it is {status.value}.",
            "Share what holds in its place; `holdfast show` names it.",
        )
    return [record]


def _drafted(record: Record, words: TextCleaner, sharer: Sharer) -> Draft:
    origin = uri(kind_of(record), record.id)
    text, time, files = _told(record)
    clean, taken = words.redact(text)
    note, more = words.redact(sharer.note.strip())
    trust: Trust = getattr(record, "trust", Trust.EXTERNAL)
    shared = SharedRecord(
        record.bank, share_key(sharer.email, origin), "", kind_of(record), _shortened(clean),
        sharer.name, sharer.email, sharer.now, origin, time, Trust.TEAM, trust,
        tuple(dict.fromkeys(words.clean(file) for file in files))[:_FILES], note,
        scope=sharer.scope,
    )  # fmt: skip
    return Draft(shared, taken + more)


def _shortened(text: str) -> str:
    """A text with its paragraphs, ended where it grows too long for others to read."""
    text = text.strip()
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS].rpartition(' ')[0]}…"


def _told(record: Record) -> tuple[str, str, tuple[str, ...]]:
    """A record in words, when it was, and the files it is about."""
    match record:
        case Fact():
            said = f"{record.problem}\n\n{record.content}" if record.problem else record.content
            return said, record.validity.learned, record.files
        case Memory():
            return _of_memory(record), record.when, ()
        case Exchange():
            facts = "\n".join(f"- {fact}" for fact in record.facts)
            parts = dict.fromkeys((record.title, record.summary, record.details, facts))
            said = "\n\n".join(part.strip() for part in parts if part.strip())
            return said, record.started, record.files_modified
        case Digest():
            return _of_digest(record), record.started, ()
        case Concept():
            return f"{record.name}\n\n{record.summary}", record.updated, record.files
        case Pattern():
            times = f"Said {record.occurrences} times, by {', '.join(record.authors) or 'nobody'}."
            return f"{record.content}\n\n{times}", record.last, record.files
        case _:
            raise InputError("This cannot be shared.", "Share a fact, a memory or an exchange.")


def _of_memory(memory: Memory) -> str:
    sure = f" (an opinion, {memory.confidence:.2f} sure)" if memory.confidence is not None else ""
    kind = sure if memory.network is Network.OPINION else ""
    why = f"\n\nWhy: {memory.why}" if memory.why else ""
    return f"{memory.what}{kind}{why}"


def _of_digest(digest: Digest) -> str:
    sections = (
        ("Request", (digest.request,)),
        ("Completed", digest.completed),
        ("Learned", digest.learned),
        ("Next", digest.next_steps),
    )
    return "\n\n".join(f"{name}: {item}" for name, items in sections for item in items if item)


def dated_after(shared: SharedRecord, known: SharedRecord | None) -> SharedRecord:
    """A record dated so that it holds against what was said of the same before, whatever the
    clock says."""
    if known is None or shared.shared > known.shared:
        return shared
    moment = datetime.fromisoformat(known.shared) + timedelta(milliseconds=1)
    time = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return replace(shared, shared=time)


def same_content(one: SharedRecord, other: SharedRecord) -> bool:
    """Whether two say the same of the same, whenever it was."""
    return _said(one) == _said(other)


def _said(shared: SharedRecord) -> tuple[object, ...]:
    s = shared
    return s.id, s.kind, s.text, s.author, s.time, s.lineage, s.files, s.note, s.gone, s.scope
