"""`SearchTools`: tools that return an index of records first, and texts only on request.

Every entry has a URI, a date, and the tokens that reading it costs. By default only the last ninety
days are searched; a note says how much older there is. Nothing here can write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from holdfast.app.answers.read_only_memory import ReadOnlyMemory
from holdfast.app.answers.search_tool_list import (
    DEFAULT_DAYS,
    DEFAULT_DEPTH,
    DEFAULT_LIMIT,
    DEFAULT_SESSIONS,
    DEFAULT_SUGGESTIONS,
    MODES,
    SEARCH_TOOLS,
)
from holdfast.app.answers.search_tool_results import event_entry, index_entry
from holdfast.app.answers.tool import Object, fit
from holdfast.app.core.context import relative_to_project
from holdfast.app.core.foreign_uris import resolve_uri
from holdfast.errors import InputError
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Kind
from holdfast.model.query import Layer, Passage, RecordFilter
from holdfast.model.records import Digest, Exchange
from holdfast.model.team import Commit
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.engine import rank
from holdfast.recall.lookup.filters import matches_path
from holdfast.recall.lookup.timeline import KINDS, read_anchor, timeline
from holdfast.recall.query.iso_dates import read_iso_span
from holdfast.regex import regex
from holdfast.store.across_tables.lookup import Record
from holdfast.times import format_time

# Ranked candidates of a query, before filters by type, file, time and so on are applied; with
# fewer, a narrow filter may find nothing although something matches.
_MAX_CANDIDATES = 200
# The most records that a filter by concept, file or type returns.
_MAX_FILTERED = 1000
# The latest exchanges that are listed with each session of the recent context.
_MAX_SESSION_EXCHANGES = 20
# Characters for the sessions that are listed along with the results for a file.
_MAX_FILE_SESSION_CHARS = 5_000
# A number with more characters is not one of an imported record.
_MAX_NUMBER_CHARS = 12
_IMPORTED_NUMBER = regex(r"(S?)(\d+)")
_IMPORTED_SCHEME = "claude-mem://"
RecordTest = Callable[[Passage, Record], bool]


class _TimeSpan(NamedTuple):
    """A span of time; `is_default` if it starts where it does only because of `DEFAULT_DAYS`."""

    since: str
    until: str
    is_default: bool = False

    def contains(self, time: str) -> bool:
        return self.since <= time and (not self.until or time < self.until)


class SearchTools(ReadOnlyMemory):
    """The tools, for one memory. The arguments of every handler were checked before."""

    offered = SEARCH_TOOLS

    def handlers(self) -> dict[str, Callable[[Object], Object]]:
        return {
            "search_observations": self._observations,
            "search_sessions": lambda given: self._search(
                given, Layer.SUMMARIES, lambda passage, record: isinstance(record, Digest)
            ),
            "search_user_prompts": lambda given: self._search(
                given, Layer.TRANSCRIPTS, lambda passage, record: passage.role == "user"
            ),
            "find_by_concept": lambda given: self._find(given, concept=given["concept"]),
            "find_by_file": self._by_file,
            "find_by_type": lambda given: self._find(given, types=_as_list(given["type"])),
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

        return self._search(given, Layer.OBSERVATIONS, wanted)

    def _search(self, given: Object, layer: Layer, wanted: RecordTest) -> Object:
        bank = self.bank(given.get("project", ""))
        span = self._span(given)
        kinds = read_kinds([given["kind"]] if "kind" in given else [])
        found = self._ranked(bank, given["query"], (layer,), wanted, kinds)
        inside = [(p, record) for p, record in found if span.contains(p.time)]
        order = given.get("orderBy", "relevance")
        if order != "relevance":
            inside.sort(key=lambda one: one[0].time, reverse=order == "date_desc")
        left = len(found) - len(inside)
        return self._page(given, bank, [record for _, record in inside], span, left)

    def _ranked(
        self,
        bank: str | None,
        query: str,
        layers: tuple[Layer, ...],
        wanted: RecordTest,
        kinds: tuple[Kind, ...] = (),
    ) -> list[tuple[Passage, Record]]:
        """The relevant records for a query that pass a test, best first; with `kinds` only
        knowledge of these kinds."""
        plan = RecallPlan(layers, _MAX_CANDIDATES, Budget.HIGH, knowledge=kinds)
        ranking = rank(self._reader, bank, query, plan, self._now, self._load_model())
        chosen: list[tuple[Passage, Record]] = []
        for candidate in ranking.relevant:
            p = candidate.passage
            for record in self._reader.records.find(p.bank, p.kind, p.id, 1):
                if wanted(p, record):
                    chosen.append((p, record))
        return chosen

    def _by_file(self, given: Object) -> Object:
        result = self._find(given, file=relative_to_project(self._banks, given["filePath"]))
        sessions: dict[str, Object] = {}
        for bank, session in result.pop("touched"):
            digest = self._reader.sessions.digest(bank, session)
            if digest is not None:
                sessions.setdefault(session, index_entry(self._reader, digest))
        return result | {"sessions": fit(sessions.values(), _MAX_FILE_SESSION_CHARS)[0]}

    def _find(
        self, given: Object, concept: str = "", file: str = "", types: Sequence[str] = ("",)
    ) -> Object:
        """The exchanges and commits that match, latest first."""
        bank = self.bank(given.get("project", ""))
        span = self._span(given)
        filters = [RecordFilter(file.strip(), concept.strip(), type) for type in types]
        found = [r for f in filters for r in self._reader.records.filter(bank, f, _MAX_FILTERED)]
        whole = sorted(found, key=_start_time, reverse=True)
        inside = [record for record in whole if span.contains(_start_time(record))]
        if given.get("orderBy") == "date_asc":
            inside.reverse()
        result = self._page(given, bank, inside, span, len(whole) - len(inside))
        if file:
            result["touched"] = [(r.bank, r.session) for r in inside if isinstance(r, Exchange)]
        return result

    def _page(
        self, given: Object, bank: str | None, records: Sequence[Record], span: _TimeSpan, left: int
    ) -> Object:
        first = given.get("offset", 0)
        page = records[first : first + given.get("limit", DEFAULT_LIMIT)]
        full = given.get("format") == "full"
        items, more = fit(index_entry(self._reader, record, full) for record in page)
        result: Object = {
            "format": "full" if full else "index",
            "total": len(records),
            "items": items,
            "tokens_in_full": sum(item["tokens"] for item in items),
        }
        result |= {"left_out": more} if more else {}
        older = f"{left} more are outside of the last {DEFAULT_DAYS} days: ask with days 0."
        return result | self._notes(bank, older if left and span.is_default else "")

    def _recent(self, given: Object) -> Object:
        bank = self.bank(given.get("project", ""))
        sessions: list[Object] = []
        for passage in self._reader.passages.recent(
            bank, "digest", given.get("limit", DEFAULT_SESSIONS)
        ):
            for digest in self._reader.records.find(passage.bank, "digest", passage.id, 1):
                entry = index_entry(self._reader, digest, True)
                exchanges = self._reader.sessions.exchanges(passage.bank, passage.session)
                entry["observations"] = [
                    index_entry(self._reader, one) for one in exchanges[-_MAX_SESSION_EXCHANGES:]
                ]
                sessions.append(entry)
        return _fitted(sessions) | self._notes(bank)

    def _timeline(self, given: Object) -> Object:
        bank = self.bank(given.get("project", ""))
        text = _anchor_uri(given["anchor"])
        anchor = read_anchor(self._reader, bank, resolve_uri(self._reader, bank, text))
        return self._around(given, bank, anchor)

    def _timeline_by_query(self, given: Object) -> Object:
        bank = self.bank(given.get("project", ""))
        span = self._span(given)
        every = self._ranked(bank, given["query"], (), lambda p, r: p.kind in KINDS)
        found = [record for p, record in every if p.time and span.contains(p.time)]
        if given.get("mode", MODES[0]) == MODES[1] or not found:
            page = {"limit": given.get("limit", DEFAULT_SUGGESTIONS)}
            result = self._page(page, bank, found, span, len(every) - len(found))
            result["notes"] = [
                *result.get("notes", []),
                *(["Call get_context_timeline with the uri of one as anchor."] if found else []),
            ]
            return {"query": given["query"], "mode": MODES[1], **result}
        return {"query": given["query"], "mode": MODES[0]} | self._around(given, bank, found[0])

    def _around(self, given: Object, bank: str | None, anchor: Any) -> Object:
        depths = (given.get(f"depth_{side}", DEFAULT_DEPTH) for side in ("before", "after"))
        found = timeline(self._reader, bank, anchor, (), *depths)
        fitted = _fitted([event_entry(self._reader, event) for event in found.events])
        return {"anchor": found.anchor, **fitted, **self._notes(bank, *found.notes)}

    def _span(self, given: Object) -> _TimeSpan:
        span: Object = given.get("dateRange", {})
        since, until = _read_time(span.get("start")), _read_time(span.get("end"), True)
        days = given.get("days", DEFAULT_DAYS)
        if since or not days:
            return _TimeSpan(since, until)
        try:
            start = datetime.fromisoformat(until or self._now()) - timedelta(days=days)
        except OverflowError:  # before the first year of the calendar
            return _TimeSpan("", until)
        return _TimeSpan(format_time(start), until, "days" not in given)


def _fitted(entries: Sequence[Object]) -> Object:
    """The entries that fit into one result."""
    items, left = fit(entries)
    result: Object = {"items": items, "total": len(entries)}
    return result | ({"left_out": left} if left else {})


def _as_list(value: Any) -> list[str]:
    return [] if not value else [value] if isinstance(value, str) else list(value)


def _start_time(record: Exchange | Commit) -> str:
    return record.started if isinstance(record, Exchange) else record.time


def _anchor_uri(anchor: Any) -> str:
    """The anchor of a timeline as a URI or text. A number is that of an imported observation, "S"
    and a number that of an imported session."""
    text = str(anchor).strip()
    found = _IMPORTED_NUMBER.fullmatch(text)
    if found is None or len(text) > _MAX_NUMBER_CHARS:
        return text
    return f"{_IMPORTED_SCHEME}{'session' if found[1] else 'observation'}/{found[2]}"


def _read_time(value: Any, end: bool = False) -> str:
    """A time from a date, or from milliseconds since 1970; with `end` the end of a date."""
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        span = read_iso_span(value)
        return span.end if end else span.first
    try:
        return format_time(datetime.fromtimestamp(value / 1000, UTC))
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"{value} is not a date.", "Give milliseconds since 1970.") from error
