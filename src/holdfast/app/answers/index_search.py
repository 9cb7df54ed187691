"""Search with progressive disclosure: an index first, then what is worth reading.

Every entry has a URI, a date, and what it costs to read in full. By default only the last ninety
days are looked at; where there is more from before, that is told. Nothing here can write.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from holdfast.app.answers.index_entries import event_entry, index_entry
from holdfast.app.answers.index_search_tools import (
    DEFAULT_DAYS,
    DEFAULT_DEPTH,
    DEFAULT_LIMIT,
    DEFAULT_SESSIONS,
    DEFAULT_SUGGESTIONS,
    MODES,
    SEARCH_TOOLS,
)
from holdfast.app.answers.read_only_memory import ReadOnlyMemory
from holdfast.app.answers.result_budget import fit
from holdfast.app.answers.tool import Object
from holdfast.app.core.backends import open_read_only
from holdfast.app.core.context import current_folder
from holdfast.app.core.foreign_uris import resolve_uri
from holdfast.errors import InputError
from holdfast.model.query import Layer, Passage, RecordFilter
from holdfast.model.records import Digest, Exchange
from holdfast.model.team import Commit
from holdfast.recall.core.plan import Budget, Plan
from holdfast.recall.engine import rank
from holdfast.recall.lookup.filters import matches_path
from holdfast.recall.lookup.timeline import KINDS, read_anchor, timeline
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.settings import Settings, load_settings
from holdfast.store.protocol import Record

_MAX_CANDIDATES = 200
_MAX_FILTERED = 1000
_IMPORTED_NUMBER = re.compile(r"(S?)(\d+)")
_IMPORTED_SCHEME = "claude-mem://"
RecordTest = Callable[[Passage, Record], bool]


class _Span(NamedTuple):
    """A time that is looked at; `older` where it begins only because of the usual window."""

    since: str
    until: str
    older: bool = False

    def holds(self, time: str) -> bool:
        return self.since <= time and (not self.until or time < self.until)


class IndexSearch(ReadOnlyMemory):
    """The tools, over one memory."""

    offered = SEARCH_TOOLS

    def handlers(self) -> dict[str, Callable[[Object], Object]]:
        return {
            "search_observations": self._observations,
            "search_sessions": self._sessions,
            "search_user_prompts": self._prompts,
            "find_by_concept": lambda given: self._found(given, concept=given["concept"]),
            "find_by_file": self._by_file,
            "find_by_type": self._by_type,
            "get_recent_context": self._recent,
            "get_context_timeline": self._timeline,
            "get_timeline_by_query": self._timeline_by_query,
        }

    def _observations(self, given: Object) -> Object:
        types, files = _as_list(given.get("type")), _as_list(given.get("files"))
        concepts = [word.lower() for word in _as_list(given.get("concepts"))]

        def wanted(passage: Passage, record: Record) -> bool:
            if not (types or files or concepts):
                return True
            if not isinstance(record, Exchange):
                return False
            touched = (*record.files_modified, *record.files_read)
            known = " ".join(record.keywords).lower()
            return (
                (not types or record.type.value in types)
                and (
                    not files or any(matches_path(path, file) for path in touched for file in files)
                )
                and (not concepts or any(word in known for word in concepts))
            )

        return self._searched(given, Layer.OBSERVATIONS, wanted)

    def _sessions(self, given: Object) -> Object:
        return self._searched(given, Layer.SUMMARIES, lambda passage, record: _is_digest(record))

    def _prompts(self, given: Object) -> Object:
        return self._searched(
            given, Layer.TRANSCRIPTS, lambda passage, record: passage.role == "user"
        )

    def _searched(self, given: Object, layer: Layer, wanted: RecordTest) -> Object:
        bank = self.bank(given.get("project", ""))
        span = self._span(given)
        found = self._ranked(bank, given["query"], layer, wanted)
        inside = [(p, record) for p, record in found if span.holds(p.time)]
        order = given.get("orderBy", "relevance")
        if order != "relevance":
            inside.sort(key=lambda one: one[0].time, reverse=order == "date_desc")
        left = len(found) - len(inside)
        return self._told(given, bank, [record for _, record in inside], span, left)

    def _ranked(
        self, bank: str | None, query: str, layer: Layer | None, wanted: RecordTest
    ) -> list[tuple[Passage, Record]]:
        """What speaks of a query, best first."""
        layers = (layer,) if layer else ()
        plan = Plan(layers, _MAX_CANDIDATES, Budget.HIGH)
        ranking = rank(self._reader, bank, query, plan, self._now, self._load_model())
        chosen: list[tuple[Passage, Record]] = []
        for candidate in ranking.relevant:
            p = candidate.passage
            for record in self._reader.find(p.bank, p.kind, p.id, 1):
                if wanted(p, record):
                    chosen.append((p, record))
        return chosen

    def _by_file(self, given: Object) -> Object:
        path: str = given["filePath"]
        if os.path.isabs(path):  # noqa: PTH117 - a slash at the end must stay
            root = self._banks.project(current_folder()).root
            path = path.removeprefix(root.rstrip("/") + "/")
        told = self._found(given, file=path)
        sessions: dict[str, Object] = {}
        for bank, session in told.pop("touched"):
            digest = self._reader.digest_of(bank, session)
            if digest is not None:
                sessions.setdefault(session, index_entry(self._reader, digest))
        return told | {"sessions": fit(sessions.values(), 5_000)[0]}

    def _by_type(self, given: Object) -> Object:
        return self._found(given, types=_as_list(given["type"]))

    def _found(
        self, given: Object, concept: str = "", file: str = "", types: Sequence[str] = ("",)
    ) -> Object:
        bank = self.bank(given.get("project", ""))
        span = self._span(given)
        whole = self._sift(bank, concept, file, types)
        inside = [record for record in whole if span.holds(_start_time(record))]
        if given.get("orderBy") == "date_asc":
            inside.reverse()
        told = self._told(given, bank, inside, span, len(whole) - len(inside))
        if file:
            told["touched"] = [(r.bank, r.session) for r in inside if isinstance(r, Exchange)]
        return told

    def _sift(
        self, bank: str | None, concept: str, file: str, types: Sequence[str]
    ) -> list[Exchange | Commit]:
        """Everything that passes, the latest first."""
        found: list[Exchange | Commit] = []
        for type in types:
            made = self._reader.filter_records(
                bank, RecordFilter(file.strip(), concept.strip(), type), _MAX_FILTERED
            )
            found += made
        return sorted(found, key=_start_time, reverse=True)

    def _told(
        self, given: Object, bank: str | None, records: Sequence[Record], span: _Span, left: int
    ) -> Object:
        first = given.get("offset", 0)
        page = records[first : first + given.get("limit", DEFAULT_LIMIT)]
        full = given.get("format") == "full"
        items, more = fit(index_entry(self._reader, record, full) for record in page)
        tokens = sum(item["tokens"] for item in items)
        told: Object = {
            "format": "full" if full else "index",
            "total": len(records),
            "items": items,
            "tokens_in_full": tokens,
        }
        told |= {"left_out": more} if more else {}
        older = (
            f"{left} more are outside of the last {DEFAULT_DAYS} days: ask with days 0."
            if left
            else ""
        )
        return told | self._notes(bank, older if span.older else "")

    def _recent(self, given: Object) -> Object:
        bank = self.bank(given.get("project", ""))
        sessions: list[Object] = []
        for passage in self._reader.recent_passages(
            bank, "digest", given.get("limit", DEFAULT_SESSIONS)
        ):
            for digest in self._reader.find(passage.bank, "digest", passage.id, 1):
                made = index_entry(self._reader, digest, True)
                exchanges = self._reader.exchanges(passage.bank, passage.session)
                made["observations"] = [index_entry(self._reader, one) for one in exchanges[-20:]]
                sessions.append(made)
        kept, left = fit(sessions)
        told: Object = {"items": kept, "total": len(sessions)}
        return told | ({"left_out": left} if left else {}) | self._notes(bank)

    def _timeline(self, given: Object) -> Object:
        bank = self.bank(given.get("project", ""))
        text = _anchor_uri(given["anchor"])
        anchor = read_anchor(self._reader, bank, resolve_uri(self._reader, bank, text))
        return self._around(given, bank, anchor)

    def _timeline_by_query(self, given: Object) -> Object:
        bank = self.bank(given.get("project", ""))
        span = self._span(given)
        every = self._ranked(bank, given["query"], None, lambda p, r: p.kind in KINDS)
        found = [record for p, record in every if p.time and span.holds(p.time)]
        if given.get("mode", MODES[0]) == MODES[1] or not found:
            page = {"limit": given.get("limit", DEFAULT_SUGGESTIONS)}
            told = self._told(page, bank, found, span, len(every) - len(found))
            told["notes"] = [
                *told.get("notes", []),
                *(["Call get_context_timeline with the uri of one as anchor."] if found else []),
            ]
            return {"query": given["query"], "mode": MODES[1], **told}
        return {"query": given["query"], "mode": MODES[0]} | self._around(given, bank, found[0])

    def _around(self, given: Object, bank: str | None, anchor: Any) -> Object:
        before, after = (
            given.get("depth_before", DEFAULT_DEPTH),
            given.get("depth_after", DEFAULT_DEPTH),
        )
        told = timeline(self._reader, bank, anchor, (), before, after)
        items, left = fit(event_entry(self._reader, event) for event in told.events)
        made: Object = {"anchor": told.anchor, "items": items, "total": len(told.events)}
        return made | ({"left_out": left} if left else {}) | self._notes(bank, *told.notes)

    def _span(self, given: Object) -> _Span:
        span: Object = given.get("dateRange", {})
        since, until = _read_time(span.get("start")), _read_time(span.get("end"), True)
        days = given.get("days", DEFAULT_DAYS)
        if since or not days:
            return _Span(since, until)
        start = datetime.fromisoformat(until or self._now()) - timedelta(days=days)
        return _Span(_format_time(start), until, "days" not in given)


def open_index_search(settings: Settings | None = None, bank: str = "") -> IndexSearch:
    """Search in this user's memory, or in that of the given settings."""
    chosen = settings or load_settings()
    return IndexSearch(open_read_only(chosen), chosen, bank)


def _as_list(value: Any) -> list[str]:
    return [] if not value else [value] if isinstance(value, str) else list(value)


def _is_digest(record: Record) -> bool:
    return isinstance(record, Digest)


def _start_time(record: Exchange | Commit) -> str:
    return record.started if isinstance(record, Exchange) else record.time


def _anchor_uri(anchor: Any) -> str:
    """An anchor as a name: a number is that of an observation in imported data, S and a number
    that of a session."""
    text = str(anchor).strip()
    found = _IMPORTED_NUMBER.fullmatch(text)
    if found is None or len(text) > 12:
        return text
    return f"{_IMPORTED_SCHEME}{'session' if found[1] else 'observation'}/{found[2]}"


def _read_time(value: Any, end: bool = False) -> str:
    """A date as people or programs give it; the end of a day is the end of all of it."""
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        span = read_iso_span(value)
        return span.end if end else span.first
    try:
        return _format_time(datetime.fromtimestamp(value / 1000, UTC))
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"{value} is not a date.", "Give milliseconds since 1970.") from error


def _format_time(moment: datetime) -> str:
    told = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return told.replace("+00:00", "Z")
