"""The page of one record of any kind: its text, its sources, what is derived from it and what was
decided about it, with the forms to correct, forget and restore it."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse

from holdfast.app.memory import Holdfast
from holdfast.app.search.code_freshness import confirmations, whole_anchor
from holdfast.app.views.catalogue import KIND_BY_SECTION
from holdfast.app.views.record_view import RecordView, correctable_text, fingerprint, open_record
from holdfast.capture.redact import Redactor
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.pages.memory import TABS, MemoryQuery
from holdfast.interfaces.http.pages.page_request import PageRequest, PageRequestDep
from holdfast.interfaces.ui.formatting import day, link, session_link
from holdfast.interfaces.ui.notes import note_of
from holdfast.interfaces.ui.record_fields import fields_of, main_text
from holdfast.language import truncate
from holdfast.learn.curation import CORRECTABLE_KINDS, Target
from holdfast.model.anchors import CodeAnchor
from holdfast.model.curation import Action, Curation
from holdfast.model.kinds import record_kind
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import Trace, decisions_about
from holdfast.store.protocol import Record

router = APIRouter(prefix="/record")
# Characters of the raw transcript line, which can be megabytes.
_MAX_RAW_CHARS = 4000
# Records that a record is made of; the rest is counted.
_MAX_PARTS = 100
_MAX_TITLE_CHARS = 140
# These come from a file of the user, or follow from other records.
_NOT_FORGETTABLE = ("rule", "pattern", "claim")


class _RelatedRecord(NamedTuple):
    uri: str
    kind: str
    text: str
    time: str


class _RecordView(NamedTuple):
    trace: Trace
    bank: str
    anchor: CodeAnchor
    place: str
    above: list[_RelatedRecord]
    opened: RecordView | None
    held: Curation | None


@router.get("/{word}/{id:path}/place")
async def place(request: PageRequestDep, word: str, id: str) -> RedirectResponse:
    """Redirect to a record in its session, or to its own page if it has none."""
    found = await request.pool.read(lambda memory: _session_url(memory.show(uri(word, id)).record))
    return RedirectResponse(found or link(uri(word, id)), 303)


@router.get("/{word}/{id:path}")
async def record(request: PageRequestDep, word: str, id: str, note: str = "") -> HTMLResponse:
    """A record, or the page of one that is not shown any more."""
    name = uri(word, id)
    try:
        found = await request.pool.read(lambda memory: _load(memory, name))
    except NotFoundError:
        return await _hidden_record_page(request, name, note)
    trace, opened = found.trace, found.opened
    if opened is not None:
        tab = _tab(opened)
        query = MemoryQuery(tab=tab)
        return request.render(
            "record.html", title=opened.item.word.capitalize(), opened=opened, query=query,
            tabs=TABS, names={trace.record.bank: found.bank}, note=note_of(note),
        )  # fmt: skip
    title, time = describe_record(trace.record)
    words = main_text(trace.record)
    if words and truncate(title, _MAX_TITLE_CHARS) in (
        truncate(words, _MAX_TITLE_CHARS),
        truncate(words.split("\n")[0], _MAX_TITLE_CHARS),
    ):
        title = f"{trace.kind.capitalize()} of {day(time)}"
    own = uri(trace.kind, trace.record.id)
    replaced = correctable_text(trace.record)
    return request.render(
        "any_record.html",
        title=truncate(title, _MAX_TITLE_CHARS) or own,
        note=note_of(note),
        uri=own,
        word=trace.kind,
        time=time,
        record=trace.record,
        words=words,
        replaced=replaced,
        seen=fingerprint(replaced),
        held=found.held,
        fields=fields_of(trace.record),
        trace=trace,
        below=[_related(one) for one in trace.below[:_MAX_PARTS]],
        left_out=max(0, len(trace.below) - _MAX_PARTS),
        above=found.above,
        bank=found.bank,
        anchor=found.anchor,
        place=found.place,
        correctable=trace.kind in CORRECTABLE_KINDS,
        forgettable=trace.kind not in _NOT_FORGETTABLE,
    )


def _tab(opened: RecordView) -> str:
    """The tab of the memory page that lists a record."""
    if opened.trace.beliefs:
        return "opinions"
    return next(
        tab
        for tab, word in KIND_BY_SECTION.items()
        if word == opened.item.word and tab != "opinions"
    )


async def _hidden_record_page(request: PageRequest, name: str, note: str) -> HTMLResponse:
    """The page of a record that is not shown, with what was decided about it. It can be restored
    unless it was erased, or forgotten together with another record."""

    def load(memory: Holdfast) -> tuple[Target, list[Curation], bool]:
        found = memory.curation.target(name)
        known = memory.reader.curation_state(found.bank, found.kind, found.id)
        log = decisions_about(memory.reader.curations(found.bank), found.uri)
        erased = any(entry.action is Action.PURGE for entry in log)
        return found, log, known is not None and known.is_hidden and not erased

    found, log, back = await request.pool.read(load)
    return request.render(
        "away.html", 404, title="Not shown", target=found, log=log, back=back, note=note_of(note)
    )


def _load(memory: Holdfast, name: str) -> _RecordView:
    trace = memory.show(name)
    if trace.raw is not None:
        # The transcript file has no redaction, and other people may see the page.
        clean = (
            Redactor(memory.settings.redact_patterns).redact(trace.raw.text[:_MAX_RAW_CHARS]).text
        )
        trace = trace._replace(raw=trace.raw._replace(text=clean))
    record = trace.record
    opened = open_record(memory, trace)
    if opened is not None:
        return _RecordView(
            trace, memory.context.bank_name(record.bank), CodeAnchor(), "", [], opened, opened.held
        )
    anchor = whole_anchor(memory.reader, record)
    held = confirmations(memory.reader, record.bank).get(uri(trace.kind, record.id))
    named = [parse_uri(one) for one in trace.above]
    above = [
        _related(found)
        for one in named
        if one
        for found in memory.reader.find(record.bank, one.kind, one.id, 1)
    ]
    place = _session_url(record)
    return _RecordView(
        trace, memory.context.bank_name(record.bank), anchor, place, above, None, held
    )


def _session_url(record: Record) -> str:
    if isinstance(record, Turn):
        return session_link(record.session, record.seq)
    if isinstance(record, Exchange):
        return session_link(record.session, record.first_seq)
    if isinstance(record, Digest):
        return session_link(record.session)
    return session_link(record.id) if isinstance(record, Session) else ""


def _related(record: Record) -> _RelatedRecord:
    text, time = describe_record(record)
    return _RelatedRecord(
        uri(record_kind(record), record.id),
        record_kind(record),
        truncate(text, _MAX_TITLE_CHARS),
        time,
    )
