"""Finding work by filters: the file it touched, its concept, its type, its time."""

from __future__ import annotations

from holdfast.errors import InputError
from holdfast.model.forge import Pull
from holdfast.model.imports import ImportedRecord
from holdfast.model.query import RecordFilter
from holdfast.model.records import Exchange
from holdfast.model.team import Commit
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.store.protocol import Reader

Work = Exchange | Commit | Pull | ImportedRecord


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


def matching_work(reader: Reader, bank: str | None, filter: RecordFilter, limit: int) -> list[Work]:
    """The records that match a filter, the latest first. A folder may be given without its final
    slash."""
    records = _passing(reader, bank, filter, limit)
    if not records and filter.file and not filter.file.endswith("/"):
        records = _passing(reader, bank, filter._replace(file=f"{filter.file}/"), limit)
    return records


def _passing(reader: Reader, bank: str | None, filter: RecordFilter, limit: int) -> list[Work]:
    records: list[Work] = [*reader.records.filter(bank, filter, limit)]
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


def _time(record: Work) -> str:
    return describe_record(record)[1]
