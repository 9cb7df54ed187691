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
from holdfast.model.imports import ImportedRecord
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Kind
from holdfast.model.query import Layer, Passage, RecordFilter, matches_path
from holdfast.model.records import Digest, Exchange
from holdfast.model.team import Commit
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.engine import rank
from holdfast.recall.lookup.path import describe_record
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
# Kinds of imported records that are no observations.
_SUMMARY, _PROMPT = "summary", "prompt"
_NO_OBSERVATIONS = (_SUMMARY, _PROMPT)
_Filtered = Exchange | Commit | ImportedRecord
RecordTest = Callable[[Passage, Record], bool]


class _TimeSpan(NamedTuple):
    """A span of time; `is_default` if it starts where it does only because of `DEFAULT_DAYS`."""

    since: str
    until: str
    is_default: bool = False

    def contains(self, time: str) -> bool:
        return self.since <= time and (not self.until or time < self.until)

    def count_left_out(self, left: int) -> str:
        """What to tell of so many records outside of the span, if nobody asked for it; else ""."""
        if not left or not self.is_default:
            return ""
        return f"{left} more are outside of the last {DEFAULT_DAYS} days: ask with days 0."


class SearchTools(ReadOnlyMemory):
    """The tools, for one memory. The arguments of every handler were checked before."""

    offered = SEARCH_TOOLS

    def handlers(self) -> dict[str, Callable[[Object], Object]]:
        return {
            "search_observations": self._observations,
            "search_sessions": lambda given: self._search(
                given, (Layer.SUMMARIES, Layer.OBSERVATIONS), _is_session
            ),
            "search_user_prompts": lambda given: self._search(
                given, (Layer.TRANSCRIPTS, Layer.OBSERVATIONS), _is_prompt
            ),
            "find_by_concept": self._by_concept,
            "find_by_file": self._by_file,
            "find_by_type": lambda given: self._find(
                given, [RecordFilter(type=type) for type in _as_list(given["type"])]
            ),
            "get_recent_context": self._recent,
            "get_context_timeline": self._timeline,
            "get_timeline_by_query": self._timeline_by_query,
        }

    def _observations(self, given: Object) -> Object:
        types, files = _as_list(given.get("type")), _as_list(given.get("files"))
        concepts = [word.lower() for word in _as_list(given.get("concepts"))]

        def wanted(passage: Passage, record: Record) -> bool:
            if isinstance(record, ImportedRecord) and record.kind in _NO_OBSERVATIONS:
                return False
            if not (types or files or concepts):
                return True
            if isinstance(record, ImportedRecord):
                touched, keywords, type = record.files, record.labels, record.type
            elif isinstance(record, Exchange):
                touched = (*record.files_modified, *record.files_read)
                keywords, type = record.keywords, record.type.value
            else:
                return False
            known = " ".join(keywords).lower()
            return (
                (not types or type in types)
                and (
                    not files or any(matches_path(path, file) for path in touched for file in files)
                )
                and (not concepts or any(word in known for word in concepts))
            )

        return self._search(given, (Layer.OBSERVATIONS,), wanted)

    def _search(self, given: Object, layers: tuple[Layer, ...], wanted: RecordTest) -> Object:
        bank = self.bank(given.get("project", ""))
        span = self._span(given)
        kinds = read_kinds([given["kind"]] if "kind" in given else [])
        found = self._ranked(bank, given["query"], layers, wanted, kinds)
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
        file = relative_to_project(self._banks, given["filePath"]).strip()
        result = self._find(given, [RecordFilter(file)])
        sessions: dict[str, Object] = {}
        for bank, session in result.pop("touched"):
            digest = self._reader.sessions.digest(bank, session)
            if digest is not None:
                sessions.setdefault(session, index_entry(self._reader, digest))
        return result | {"sessions": fit(sessions.values(), _MAX_FILE_SESSION_CHARS)[0]}

    def _by_concept(self, given: Object) -> Object:
        """Those whose keywords name the concept, then those that are about it in other words."""
        concept = given["concept"]
        return self._find(given, [RecordFilter(concept=concept.strip())], concept)

    def _find(self, given: Object, filters: Sequence[RecordFilter], meaning: str = "") -> Object:
        """The exchanges, imported records and commits that match, latest first; then the exchanges
        and imported records that a search for `meaning` finds."""
        bank = self.bank(given.get("project", ""))
        span = self._span(given)
        found: list[_Filtered] = []
        for filter in filters:
            found += self._reader.records.filter(bank, filter, _MAX_FILTERED)
            found += self._reader.imports.filter(bank, filter, _MAX_FILTERED)
        whole = sorted(found, key=_start_time, reverse=True)
        whole += self._by_meaning(bank, meaning, whole) if meaning.strip() else []
        inside = [record for record in whole if span.contains(_start_time(record))]
        if given.get("orderBy") == "date_asc":
            inside.reverse()
        result = self._page(given, bank, inside, span, len(whole) - len(inside))
        if filters[0].file:
            result["touched"] = [(r.bank, r.session) for r in inside if isinstance(r, Exchange)]
        return result

    def _by_meaning(
        self, bank: str | None, meaning: str, known: Sequence[_Filtered]
    ) -> list[_Filtered]:
        """The exchanges and imported observations that a search finds beside the known ones."""
        names = {(record.bank, record.id) for record in known}
        ranked = self._ranked(bank, meaning, (Layer.OBSERVATIONS,), _is_labelled)
        return [
            record
            for _, record in ranked
            if isinstance(record, Exchange | ImportedRecord)
            and (record.bank, record.id) not in names
        ]

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
        return result | self._notes(bank, span.count_left_out(left))

    def _recent(self, given: Object) -> Object:
        bank = self.bank(given.get("project", ""))
        limit = given.get("limit", DEFAULT_SESSIONS)
        summaries: list[Record] = [
            digest
            for passage in self._reader.passages.recent(bank, "digest", limit)
            for digest in self._reader.records.find(passage.bank, "digest", passage.id, 1)
        ]
        summaries += self._reader.imports.latest(bank, _SUMMARY, limit)
        summaries.sort(key=lambda record: describe_record(record)[1], reverse=True)
        sessions: list[Object] = []
        for record in summaries[:limit]:
            entry = index_entry(self._reader, record, True)
            done = self._done_in_session(record)
            entry["observations"] = [index_entry(self._reader, one) for one in done]
            sessions.append(entry)
        return _fitted(sessions) | self._notes(bank)

    def _done_in_session(self, summary: Record) -> Sequence[Record]:
        """The latest exchanges of a digest's session, or observations of an imported summary's."""
        if isinstance(summary, Digest):
            exchanges = self._reader.sessions.exchanges(summary.bank, summary.session)
            return exchanges[-_MAX_SESSION_EXCHANGES:]
        if not isinstance(summary, ImportedRecord) or not summary.session:
            return ()
        found = self._reader.imports.in_session(summary.bank, summary.session)
        done = [one for one in found if one.kind not in _NO_OBSERVATIONS]
        return [one for one in done if one.program == summary.program][:_MAX_SESSION_EXCHANGES][
            ::-1
        ]

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
        left = len(every) - len(found)
        if given.get("mode", MODES[0]) == MODES[1] or not found:
            page = {"limit": given.get("limit", DEFAULT_SUGGESTIONS)}
            result = self._page(page, bank, found, span, left)
            result["notes"] = [
                *result.get("notes", []),
                *(["Call get_context_timeline with the uri of one as anchor."] if found else []),
            ]
            return {"query": given["query"], "mode": MODES[1], **result}
        around = self._around(given, bank, found[0], span.count_left_out(left))
        return {"query": given["query"], "mode": MODES[0]} | around

    def _around(self, given: Object, bank: str | None, anchor: Any, note: str = "") -> Object:
        depths = (given.get(f"depth_{side}", DEFAULT_DEPTH) for side in ("before", "after"))
        found = timeline(self._reader, bank, anchor, (), *depths)
        fitted = _fitted([event_entry(self._reader, event) for event in found.events])
        return {"anchor": found.anchor, **fitted, **self._notes(bank, *found.notes, note)}

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


def _start_time(record: _Filtered) -> str:
    return describe_record(record)[1]


def _is_session(passage: Passage, record: Record) -> bool:
    return isinstance(record, Digest) or (
        isinstance(record, ImportedRecord) and record.kind == _SUMMARY
    )


def _is_prompt(passage: Passage, record: Record) -> bool:
    if isinstance(record, ImportedRecord):
        return record.kind == _PROMPT
    return passage.role == "user"


def _is_labelled(passage: Passage, record: Record) -> bool:
    return isinstance(record, Exchange) or (
        isinstance(record, ImportedRecord) and record.kind not in _NO_OBSERVATIONS
    )


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
