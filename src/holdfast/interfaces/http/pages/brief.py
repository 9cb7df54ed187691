"""The brief of the next session of a bank, line by line, with the forms to correct and forget what
stands in it; and what was injected into a session."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.brief.injection_outcomes import RecordOutcome, contradicting_turn, record_outcomes
from holdfast.errors import NotFoundError
from holdfast.framed_text import OWN_TAG
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.forms import Look, text_of
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown, ask
from holdfast.language import content_stems
from holdfast.learn.curation import CORRECTABLE_KINDS
from holdfast.model.bank import Bank
from holdfast.model.kinds import record_kind
from holdfast.model.ledgers.injections import Injection, InjectionUse
from holdfast.model.records import Session
from holdfast.operations.briefs import BriefLine, BriefText, brief_lines
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.origins import session_names
from holdfast.recall.ranking.hits import estimate_tokens
from holdfast.refine.rules.rule_roots import memory_file_stamps
from holdfast.sources.rule_locations import file_stamp

router = CheckedRouter()
# A turn that shares so many words with a line is about it.
_MIN_SHARED_WORDS = 2
# A line of a transcript, and all of one that is looked through for a brief.
_MAX_LINE_BYTES, _MAX_FILE_BYTES = 4_000_000, 400_000_000
# A brief within a string of JSON: its id, and its lines.
_BRIEF = re.compile(rb'<%b id=\\"([\w.-]+)\\">(.*?)</%b>' % ((OWN_TAG.encode(),) * 2), re.DOTALL)


@router.get("/brief")
async def brief(request: PageRequestDep, bank: str = "") -> HTMLResponse:
    """The brief of a bank; by default of the one with the latest session."""
    call = request.call

    def load(memory: Holdfast) -> Shown:
        banks = memory.reader.banks.all()
        chosen = memory.banks.get(bank) if bank else _latest(memory, banks)
        shown: Shown = {"banks": banks, "chosen": chosen, "brief": None}
        if chosen is None:
            return shown
        files = memory_file_stamps(memory.reader, chosen.id)
        state = (memory.reader.generation(), [file_stamp(file) for file in files])
        known = request.briefs.get(chosen.id)
        if known is None or known[0] != state:
            known = request.briefs[chosen.id] = (state, ask(memory, call, "brief", bank=chosen.id))
        found: BriefText = known[1]
        return {
            **shown,
            "brief": found,
            "lines": [(line, *_deeds(memory, chosen.id, line)) for line in found.lines],
            "tokens": estimate_tokens(found.text) if found.text else 0,
            "limit": memory.settings.brief.tokens,
        }

    return request.render("brief.html", title="Brief", **await request.pool.read(load))


def _latest(memory: Holdfast, banks: list[Bank]) -> Bank | None:
    """The bank that somebody worked in last."""
    last = [session.bank for session in memory.reader.sessions.latest(None, 1)]
    return next((bank for bank in banks if bank.id in last), next(iter(banks), None))


def _deeds(memory: Holdfast, bank: str, line: BriefLine) -> tuple[bool, str | None, str]:
    """Whether what a line is about can be forgotten, which words a correction replaces, if it can
    be corrected, and their fingerprint."""
    is_first = line.uri and line.text.startswith("- ")
    record = find_by_uri(memory.reader, bank, line.uri) if is_first else None
    if record is None or record_kind(record) == "rule":
        return False, None, ""
    if record_kind(record) not in CORRECTABLE_KINDS:
        return True, None, ""
    words = text_of(record)
    return True, words, Look(words).seen


@router.get("/sessions/{name}/injected")
async def injected(request: PageRequestDep, name: str) -> HTMLResponse:
    """The context that was injected into a session, line by line, and whether it was used."""

    def load(memory: Holdfast) -> Shown:
        session = find_session(memory, name)
        return {
            "title": session_title(memory, session),
            "session": session,
            "texts": _injected(memory, session),
        }

    return request.render("injected.html", **await request.pool.run(load))


def find_session(memory: Holdfast, name: str) -> Session:
    """The session with an id, ours or the host's own."""
    found = memory.reader.sessions.named(name)
    if not found:
        raise NotFoundError("There is no such session.", "It may be forgotten, or not read yet.")
    return found[0]


def session_title(memory: Holdfast, session: Session) -> str:
    """What a session is called."""
    return session_names(memory.reader, session.bank, [session.id]).get(session.id) or session.id


def _injected(memory: Holdfast, session: Session) -> list[Shown]:
    """What a session was told, in order, each line with what became of it. Subagents are told
    nothing. Of a text that the transcript does not have any more, the records are left."""
    if session.parent:
        return []
    injections = memory.store.injections.latest(session.bank, session.host)[::-1]
    texts = _texts(memory, session, {one.id.partition(".")[0] for one in injections})
    sessions = [session, *memory.reader.sessions.subagents(session.bank, session.id)]
    found: list[Shown] = []
    for one in injections:
        text = texts.get(one.id.partition(".")[0], "")
        lines = brief_lines(text, one.records)
        judged = bool(lines) and one.use is not InjectionUse.UNKNOWN
        outcomes = _outcomes(memory, one, sessions, lines) if judged else [None] * len(lines)
        tokens = estimate_tokens(text) if text else 0
        shown = list(zip(lines, outcomes, strict=True))
        found.append({"injection": one, "lines": shown, "tokens": tokens})
    return found


def _outcomes(
    memory: Holdfast, told: Injection, sessions: Sequence[Session], lines: Sequence[BriefLine]
) -> list[RecordOutcome | None]:
    """What the session did with each line: the strongest outcome of its record and of the turns
    behind it, which follow it in the list of records. The line that a turn contradicts is the one
    that it shares most words with; none if it shares too few with any."""
    known = record_outcomes(memory.store, told, sessions)
    found: list[RecordOutcome | None] = []
    for line in lines:
        is_first = line.text.startswith("- ") and line.uri in known
        behind = told.records[told.records.index(line.uri) + 1 :] if is_first else ()
        turns = takewhile(lambda name: "/turn/" in name, behind)
        group = [known[name] for name in (line.uri, *turns) if name in known] if is_first else []
        used = (one for one in group if one.use is not InjectionUse.IGNORED)
        found.append(next(used, group[0] if group else None))
    wrong = contradicting_turn(memory.store, told, sessions)
    if wrong is not None and found:
        said = content_stems(wrong.text)
        shared = [
            len(said & content_stems(line.text)) if outcome else 0
            for line, outcome in zip(lines, found, strict=True)
        ]
        if max(shared) >= _MIN_SHARED_WORDS:
            at = shared.index(max(shared))
            found[at] = RecordOutcome(InjectionUse.CONTRADICTED, wrong)
    return found


def _texts(memory: Holdfast, session: Session, briefs: set[str]) -> dict[str, str]:
    """The briefs that the transcript of a session has, by their ids, without secrets."""
    source, found = memory.reader.sources.get(session.source), dict[str, str]()
    if source is None or not briefs:
        return found
    with suppress(OSError, ValueError), Path(source.path).open("rb") as file:
        for line in iter(lambda: file.readline(_MAX_LINE_BYTES), b""):
            for id, inside in _BRIEF.findall(line):
                if (name := id.decode()) in briefs and name not in found:
                    # The tags stand on lines of their own.
                    found[name] = memory.context.redact(str(json.loads(b'"%b"' % inside)))
            if len(found) == len(briefs) or file.tell() > _MAX_FILE_BYTES:
                break
    return found
