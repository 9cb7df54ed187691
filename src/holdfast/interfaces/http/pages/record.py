"""One record of any kind: what it says, where it comes from, what rests on it and what people
decided about it; to correct, to forget and to bring back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse

from holdfast.app.anchoring import anchor_of
from holdfast.app.memory import Holdfast
from holdfast.capture.redact import Redactor
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.visit import Visit, Visiting
from holdfast.interfaces.ui.record import fields_of, words_of
from holdfast.interfaces.ui.words import day, link, session_link
from holdfast.language import cut
from holdfast.learn.curation import CORRECTABLE
from holdfast.model.anchors import Anchor
from holdfast.model.curation import Curation
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.path import describe_record
from holdfast.recall.trace import Trace, word_of
from holdfast.store.protocol import Record

router = APIRouter(prefix="/record")
_RAW = 4000
_BELOW = 100
_TITLE = 140
_NOTES = {
    "corrected": "Corrected. What it said before is kept below.",
    "forgotten": "Forgotten: it is left out of everything until you restore it.",
    "restored": "It is back.",
}
# These come out of a person's own file, or follow from others.
_FIXED = ("rule", "pattern", "claim")


class _Part(NamedTuple):
    uri: str
    word: str
    text: str
    time: str


class _Found(NamedTuple):
    trace: Trace
    bank: str
    anchor: Anchor
    place: str
    above: list[_Part]


@router.get("/{word}/{id:path}/place")
async def place(visit: Visiting, word: str, id: str) -> RedirectResponse:
    """Where a record lies: in its session if it has one, else its own page."""
    found = await visit.desk.read(lambda memory: _place(memory.show(uri(word, id)).record))
    return RedirectResponse(found or link(uri(word, id)), 303)


@router.get("/{word}/{id:path}")
async def record(visit: Visiting, word: str, id: str, note: str = "") -> HTMLResponse:
    """A record, or the word that it was put away."""
    name = uri(word, id)
    told = _NOTES.get(note, "")
    try:
        found = await visit.desk.read(lambda memory: _look(memory, name))
    except NotFoundError as error:
        return await _put_away(visit, word, id, error, told)
    trace = found.trace
    title, time = describe_record(trace.record)
    words = words_of(trace.record)
    if words and cut(title, _TITLE) in (cut(words, _TITLE), cut(words.split("\n")[0], _TITLE)):
        title = f"{trace.word.capitalize()} of {day(time)}"
    return visit.page(
        "any_record.html",
        title=cut(title, _TITLE) or name,
        note=told,
        uri=name,
        word=trace.word,
        time=time,
        record=trace.record,
        words=words,
        fields=fields_of(trace.record),
        trace=trace,
        below=[_part(one) for one in trace.below[:_BELOW]],
        left_out=max(0, len(trace.below) - _BELOW),
        above=found.above,
        bank=found.bank,
        anchor=found.anchor,
        place=found.place,
        correctable=trace.word in CORRECTABLE,
        forgettable=trace.word not in _FIXED,
    )


@router.post("/{word}/{id:path}/correct")
async def correct(visit: Visiting, word: str, id: str) -> RedirectResponse:
    """Say it anew."""
    form = await visit.form()
    text = form.get("text", "").replace("\r\n", "\n").strip()
    return await _decide(
        visit, word, id, "corrected", lambda m, name, b: m.correct(name, text, b, visit.who)
    )


@router.post("/{word}/{id:path}/forget")
async def forget(visit: Visiting, word: str, id: str) -> RedirectResponse:
    """Leave it out of everything."""
    await visit.form()
    return await _decide(
        visit, word, id, "forgotten", lambda m, name, b: m.forget(name, b, visit.who)
    )


@router.post("/{word}/{id:path}/restore")
async def restore(visit: Visiting, word: str, id: str) -> RedirectResponse:
    """Bring it back."""
    await visit.form()
    return await _decide(
        visit, word, id, "restored", lambda m, name, b: m.restore(name, b, visit.who)
    )


async def _decide(
    visit: Visit, word: str, id: str, note: str, act: Callable[[Holdfast, str, str], Curation]
) -> RedirectResponse:
    def decide(memory: Holdfast) -> str:
        target = memory.target(uri(word, id))
        act(memory, target.uri, target.bank)
        return target.uri

    name = await visit.desk.work(decide)
    return RedirectResponse(f"{link(name)}?note={note}", 303)


async def _put_away(
    visit: Visit, word: str, id: str, error: NotFoundError, note: str
) -> HTMLResponse:
    away = await visit.desk.read(lambda memory: memory.reader.put_away(None, word, id))
    back = any(one.gone and one.id == id for one in away)
    return visit.page(
        "put_away.html", 404, title="Not shown", error=error, uri=uri(word, id), back=back,
        note=note,
    )  # fmt: skip


def _look(memory: Holdfast, name: str) -> _Found:
    trace = memory.show(name)
    if trace.raw is not None:
        # The file is the user's own, but a page is seen by whoever looks over a shoulder.
        clean = Redactor(memory.settings.redact_patterns).redact(trace.raw.text[:_RAW]).text
        trace = trace._replace(raw=trace.raw._replace(text=clean))
    record = trace.record
    anchor = anchor_of(memory.reader, record)
    named = [parse_uri(one) for one in trace.above]
    above = [
        _part(found)
        for one in named
        if one
        for found in memory.reader.find(record.bank, one.word, one.id, 1)
    ]
    return _Found(trace, memory.bank_name(record.bank), anchor, _place(record), above)


def _place(record: Record) -> str:
    if isinstance(record, Turn):
        return session_link(record.session, record.seq)
    if isinstance(record, Exchange):
        return session_link(record.session, record.first_seq)
    if isinstance(record, Digest):
        return session_link(record.session)
    return session_link(record.id) if isinstance(record, Session) else ""


def _part(record: Record) -> _Part:
    text, time = describe_record(record)
    return _Part(uri(word_of(record), record.id), word_of(record), cut(text, _TITLE), time)
