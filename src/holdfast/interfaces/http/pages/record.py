"""The page of one record of any kind: its text, its sources, what is derived from it and what was
decided about it, with the forms to correct, forget and restore it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fastapi.responses import HTMLResponse, RedirectResponse

from holdfast.app.memory import Holdfast
from holdfast.app.search.code_freshness import confirmations, whole_anchor
from holdfast.app.views.catalogue import KIND_BY_SECTION
from holdfast.app.views.record_view import RecordView, correctable_text, fingerprint, open_record
from holdfast.app.views.verdict_view import VerdictViews
from holdfast.capture.redact import Redactor
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.core.page_urls import session_url
from holdfast.interfaces.http.pages.memory import TABS, MemoryQuery
from holdfast.interfaces.http.pages.page_request import PageRequest, PageRequestDep, Shown
from holdfast.interfaces.ui.formatting import link, split_heading
from holdfast.interfaces.ui.notes import NOTES
from holdfast.interfaces.ui.record_fields import fields_of, main_text
from holdfast.language import truncate
from holdfast.learn.curation import CORRECTABLE_KINDS, Target
from holdfast.model.curation import Action, Curation
from holdfast.model.kinds import record_kind
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.lookup.origins import Named, Origin, origins
from holdfast.recall.lookup.path import describe_record
from holdfast.recall.lookup.trace import Trace, decisions_about
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/record")
# Characters of the raw transcript line, which can be megabytes.
_MAX_RAW_CHARS = 4000
# Records that a record is made of; the rest is counted.
_MAX_PARTS = 100
_MAX_TITLE_CHARS = 140
# A heading that is the text of its record may be longer: below this, it is all of it.
_MAX_HEADING_CHARS = 320
# These come from a file of the user, or follow from other records.
_NOT_FORGETTABLE = ("rule", "pattern", "claim")


@router.get("/{word}/{id:path}/place")
async def place(request: PageRequestDep, word: str, id: str) -> RedirectResponse:
    """Redirect to a record in its session, or to its own page if it has none."""
    name = uri(word, id)
    found = await request.pool.read(lambda memory: session_url(memory.show(name).record))
    return RedirectResponse(found or link(name), 303)


@router.get("/{word}/{id:path}")
async def record(request: PageRequestDep, word: str, id: str, note: str = "") -> HTMLResponse:
    """A record, or the page of one that is not shown any more."""
    name = uri(word, id)
    try:
        template, shown = await request.pool.read(lambda memory: _load(memory, name))
    except NotFoundError:
        return await _hidden_record_page(request, name, note)
    return request.render(template, note=NOTES.get(note), **shown)


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
        known = memory.reader.curation.state(found.bank, found.kind, found.id)
        log = decisions_about(memory.reader.curation.log(found.bank), found.uri)
        erased = any(entry.action is Action.PURGE for entry in log)
        return found, log, known is not None and known.is_hidden and not erased

    found, log, back = await request.pool.read(load)
    return request.render(
        "hidden_record.html",
        404,
        title="Not shown",
        target=found,
        log=log,
        back=back,
        note=NOTES.get(note),
    )


def _load(memory: Holdfast, name: str) -> tuple[str, Shown]:
    """The template of a record, and what it shows."""
    trace = memory.show(name)
    if trace.raw is not None:
        # The transcript file has no redaction, and other people may see the page.
        clean = (
            Redactor(memory.settings.redact_patterns).redact(trace.raw.text[:_MAX_RAW_CHARS]).text
        )
        trace = trace._replace(raw=trace.raw._replace(text=clean))
    bank = memory.context.bank_name(trace.record.bank)
    opened = open_record(memory, trace)
    verdict = VerdictViews(memory, trace.record.bank).of(trace.record)
    if opened is None:
        shown = {"bank": bank, "verdict": verdict, **_trace_view(memory.reader, trace)}
        return "any_record.html", shown
    item, refs = opened.item, (*opened.speaks_for, *opened.against)
    heading, rest = split_heading(
        item.title if item.word == "concept" else item.text or item.title, _MAX_HEADING_CHARS
    )
    return "record.html", {
        "title": heading,
        "rest": item.text if item.word == "concept" else rest,
        "origins": _origins(memory.reader, item.bank, [item.uri, *(ref.uri for ref in refs)]),
        "opened": opened,
        "verdict": verdict,
        "query": MemoryQuery(tab=_tab(opened)),
        "tabs": TABS,
        "names": {trace.record.bank: bank},
    }


def _trace_view(reader: Reader, trace: Trace) -> Shown:
    record, own = trace.record, uri(trace.kind, trace.record.id)
    title, time = describe_record(record)
    words = main_text(record)
    replaced = correctable_text(record)
    above = [
        _related(found)
        for named in filter(None, map(parse_uri, trace.above))
        for found in reader.records.find(record.bank, named.kind, named.id, 1)
    ]
    below = [_related(one) for one in trace.below[:_MAX_PARTS]]
    places = _origins(reader, record.bank, [own, *(one["uri"] for one in (*above, *below))])
    for part in (*above, *below):
        if part["kind"] == "session":
            part["text"] = places[part["uri"]].title or part["text"]
    return {
        "title": truncate(title, _MAX_HEADING_CHARS) or own,
        "uri": own,
        "word": trace.kind,
        "time": time,
        "record": record,
        "words": words,
        "replaced": replaced,
        "seen": fingerprint(replaced),
        "held": confirmations(reader, record.bank).get(own),
        "fields": fields_of(record),
        "trace": trace,
        "below": below,
        "origins": places,
        "left_out": max(0, len(trace.below) - _MAX_PARTS),
        "above": above,
        "anchor": whole_anchor(reader, record),
        "place": session_url(record),
        "correctable": trace.kind in CORRECTABLE_KINDS,
        "forgettable": trace.kind not in _NOT_FORGETTABLE,
    }


def _origins(reader: Reader, bank: str, uris: Iterable[str]) -> Mapping[str, Origin]:
    return origins(reader, [Named(bank, uri) for uri in uris])


def _related(record: Record) -> Shown:
    text, time = describe_record(record)
    kind = record_kind(record)
    short = truncate(text, _MAX_TITLE_CHARS)
    return {"uri": uri(kind, record.id), "kind": kind, "text": short, "time": time}
