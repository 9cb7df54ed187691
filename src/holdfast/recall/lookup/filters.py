"""Finding work by filters: the file it touched, its concept, its type, its time."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.errors import InputError
from holdfast.model.forge import Pull
from holdfast.model.imports import ImportedRecord
from holdfast.model.kinds import record_kind
from holdfast.model.query import RecordFilter
from holdfast.model.records import Exchange
from holdfast.model.team import Commit
from holdfast.model.uris import uri
from holdfast.recall.lookup.endings import RecordEndings
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.store.protocol import Reader

_Work = Exchange | Commit | Pull | ImportedRecord


@dataclass(frozen=True, slots=True)
class Finding:
    """An exchange, a commit, a pull request or an imported record that matches a filter. `type` is
    the type of the exchange, "commit", the state of the pull request, or what the other program
    called it; `files` are those it changed (of an imported record, those it names), `files_read`
    those an exchange only read."""

    uri: str
    kind: str
    time: str
    type: str
    title: str
    files: tuple[str, ...]
    files_read: tuple[str, ...]
    session: str
    bank: str
    # How its title ended, if that does not hold any more.
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What matches a filter, the latest first; `more` tells that the limit left some out."""

    bank: str
    filter: RecordFilter
    findings: tuple[Finding, ...]
    more: bool = False


def make_filter(
    file: str = "", concept: str = "", type: str = "", since: str = "", until: str = ""
) -> RecordFilter:
    """A filter from options: dates as ISO 8601, `until` including the whole day or month."""
    given = RecordFilter(file.strip(), concept.strip(), type, since.strip(), until.strip())
    if not any(given):
        raise InputError(
            "At least one filter is needed.",
            "Filter by file, concept, type, since or until.",
        )
    return given._replace(
        since=read_iso_span(given.since).first if given.since else "",
        until=read_iso_span(given.until).end if given.until else "",
    )


def find_work(reader: Reader, bank: str | None, filter: RecordFilter, limit: int = 20) -> Found:
    """The exchanges and imported records that match a filter, and for a file also commits and pull
    requests."""
    records = _passing(reader, bank, filter, limit + 1)
    if not records and filter.file and not filter.file.endswith("/"):
        filter = filter._replace(file=f"{filter.file}/")
        records = _passing(reader, bank, filter, limit + 1)
    findings = tuple(_finding(reader, record) for record in records[:limit])
    return Found(bank or "", filter, findings, len(records) > limit)


def _passing(reader: Reader, bank: str | None, filter: RecordFilter, limit: int) -> list[_Work]:
    records: list[_Work] = [*reader.records.filter(bank, filter, limit)]
    records += reader.imports.filter(bank, filter, limit)
    if filter.file and not (filter.concept or filter.type):
        records += reader.forge.pulls_touching(bank, filter, limit)
    return sorted(records, key=_time, reverse=True)


def commits_touching(
    reader: Reader, bank: str | None, filter: RecordFilter, limit: int
) -> tuple[list[Commit], str]:
    """The commits that touched a file or a folder, the latest first, and the path as it was
    understood: a folder may be given without its final slash."""
    for file in dict.fromkeys((filter.file, filter.file.rstrip("/") + "/")):
        sifted = reader.records.filter(bank, filter._replace(file=file), limit)
        commits = [record for record in sifted if isinstance(record, Commit)]
        if commits:
            return commits, file
    return [], filter.file


def _time(record: _Work) -> str:
    return describe_record(record)[1]


def _finding(reader: Reader, record: _Work) -> Finding:
    kind, (title, time) = record_kind(record), describe_record(record)
    name = uri(kind, record.id)
    if isinstance(record, Exchange):
        session = reader.sessions.get(record.bank, record.session)
        host, type = session.host if session else record.session, record.type.value
        files, read = record.files_modified, record.files_read
        ended = RecordEndings(reader).label(record, title)
        return Finding(name, kind, time, type, title, files, read, host, record.bank, ended)
    if isinstance(record, ImportedRecord):
        files, host = record.files, record.session
        return Finding(name, kind, time, record.type, title, files, (), host, record.bank)
    type = record.state.value if isinstance(record, Pull) else "commit"
    ended = RecordEndings(reader).label(record, title)
    return Finding(name, kind, time, type, title, record.files, (), "", record.bank, ended)
