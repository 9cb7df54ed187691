"""The audit: compares what is remembered with the code of today."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.app.search.code_freshness import CodeFreshness
from holdfast.model.anchors import FileFreshness
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import ClaimKind
from holdfast.model.query import RecordFilter
from holdfast.model.records import Exchange, ExchangeType
from holdfast.model.trust import ENDED_STATUSES, Freshness
from holdfast.model.uris import uri
from holdfast.recall.links.anchors import subject_of
from holdfast.recall.lookup.path import describe_record
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

# Records of one kind per bank that an audit looks at; more are left out.
_MAX_RECORDS = 5000
# Files that an audit reads on disk at most: it runs on a person's command and may take seconds.
_MAX_FILE_CHECKS = 20_000
_DECISION_KINDS = (ClaimKind.RULING, ClaimKind.DECISION)


class StaleRecord(NamedTuple):
    """A record whose code changed since: a summary in `since`, and the files, most changed
    first."""

    uri: str
    kind: str
    title: str
    time: str
    freshness: Freshness
    since: str
    files: tuple[FileFreshness, ...]
    bank: str = ""


class Audit(NamedTuple):
    """The records whose code changed, the most changed first, and how many there are in all
    (`outdated`); how many records are fresh, name files that are in no git history that was read
    (`unknown`), or name no file. `histories` counts the repositories that were read."""

    bank: str = ""
    stale: tuple[StaleRecord, ...] = ()
    outdated: int = 0
    fresh: int = 0
    unknown: int = 0
    about_no_file: int = 0
    histories: int = 0


def audit(reader: Reader, bank: str | None, file: str = "") -> Audit:
    """Compare facts, memories, decisions and rules with the code; with `file` (a path, its end, or
    a folder/) only those that name it."""
    code = CodeFreshness(reader, _MAX_FILE_CHECKS)
    stale: list[tuple[int, StaleRecord]] = []
    fresh = unknown = about_no_file = 0
    banks = [bank] if bank is not None else [known.id for known in reader.banks.all()]
    for record in (record for id in banks for record in _records(reader, id)):
        subject = subject_of(reader, record)
        if file and not any(_matches_path(file, path) for path in subject.files):
            continue
        if not subject.files or not subject.time:
            about_no_file += 1
            continue
        found, kind = code.of(record), record_kind(record)
        if found.freshness is Freshness.UNKNOWN and code.last_confirmation(record) is None:
            unknown += 1
        elif found.freshness in (Freshness.FRESH, Freshness.UNKNOWN):
            fresh += 1
        else:
            one = StaleRecord(
                uri(kind, record.id), kind, describe_record(record)[0], subject.time,
                found.freshness, found.description, found.affected_files, record.bank,
            )  # fmt: skip
            stale.append((sum(f.lines for f in found.files), one))
    stale.sort(key=lambda pair: (-_severity(pair[1]), -pair[0], pair[1].uri))
    histories = sum(len(reader.git.repositories(id)) for id in banks)
    shown = tuple(one for _, one in stale)
    return Audit("", shown, len(shown), fresh, unknown, about_no_file, histories)


def _severity(one: StaleRecord) -> int:
    """Deleted code is worse than changed code, and renamed code is the least."""
    return {Freshness.GONE: 2, Freshness.CHANGED: 1}.get(one.freshness, 0)


def _records(reader: Reader, bank: str) -> Iterator[Record]:
    yield from (fact for fact in reader.facts.all(bank) if fact.status not in ENDED_STATUSES)
    yield from reader.rules.all(bank)
    yield from reader.memories.remembered(bank, _MAX_RECORDS)
    yield from (
        m
        for m in reader.memories.retained(bank, limit=_MAX_RECORDS)
        if m.status not in ENDED_STATUSES
    )
    yield from _decisions(reader, bank)


def _decisions(reader: Reader, bank: str) -> Iterator[Exchange]:
    """The exchanges in which something was decided."""
    decided = {
        claim.exchange for claim in reader.facts.claims(bank) if claim.kind in _DECISION_KINDS
    }
    filtered = reader.records.filter(
        bank, RecordFilter(type=ExchangeType.DECISION.value), _MAX_RECORDS
    )
    seen = {x.id: x for x in filtered if isinstance(x, Exchange)}
    for id in sorted(decided - seen.keys())[:_MAX_RECORDS]:
        for found in reader.records.find(bank, "exchange", id, 1):
            if isinstance(found, Exchange):
                seen[found.id] = found
    yield from seen.values()


def _matches_path(wanted: str, path: str) -> bool:
    """Whether one path is the other or its end, or lies in the folder."""
    wanted, path = wanted.removeprefix("./"), path.replace("\\", "/")
    if wanted.endswith("/"):
        return path.startswith(wanted) or f"/{wanted}" in path
    return path == wanted or path.endswith(f"/{wanted}") or wanted.endswith(f"/{path}")
