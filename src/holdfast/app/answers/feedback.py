"""Feedback: a person says that an answer was useful, which confirms the records it cites, just as
the use of a record in a session does."""

from __future__ import annotations

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.core.context import Context
from holdfast.errors import InputError
from holdfast.model.curation import Action, Curation
from holdfast.model.ledgers.injections import RecordUse
from holdfast.model.research import ResearchStage
from holdfast.model.uris import parse_uri
from holdfast.research.journal_lines import answer_from_json
from holdfast.store.protocol import Reader

# Records that make one statement. Which part of an exchange was useful cannot be known.
_CONFIRMABLE_KINDS = ("fact", "memory", "turn")


def mark_useful(context: Context, id: str, who: str) -> int:
    """Record that the last answer of a research session was useful; returns the number of records
    that are confirmed by it. Doing it twice counts once."""
    store, now, actor = context.store, context.now(), context.actor(who)
    sessions = sessions_of(context.settings)
    name = sessions.find(id)
    answers = [line["answer"] for line in sessions.lines(name) if line.get("answer")]
    answer = answer_from_json(answers[-1]) if answers else None
    if answer is None or answer.abstained:
        raise InputError("There is no answer yet.", "Ask something first.")
    cited = [citation.uri for citation in answer.citations]
    confirmed = [(bank, uri) for uri in cited if (bank := _bank_of(store, uri))]
    with store.transaction():
        for bank, uri in confirmed:
            if any((use.record, use.turn) == (uri, "") for use in store.facts.uses(bank)):
                continue
            store.facts.put_uses(bank, [RecordUse(uri, name, "", now)])
            store.curation.append(Curation(0, bank, now, Action.VOUCH, uri, name, actor))
            store.progress.mark_changed(bank, "")
    line = {"time": now, "stage": ResearchStage.DONE.value, "text": "Found useful."}
    with sessions.open_session(name, follow=True) as session:
        if session is not None and not _already_noted(session.lines()):
            session.write({**line, "useful": True})
    context.after_change()
    return len(confirmed)


def _bank_of(reader: Reader, uri: str) -> str:
    """The bank of a record that can be confirmed, else ""."""
    named = parse_uri(uri)
    if named is None or named.kind not in _CONFIRMABLE_KINDS:
        return ""
    found = reader.records.find(None, named.kind, named.id, 1)
    return next((one.bank for one in found if one.id == named.id), "")


def _already_noted(lines: list[dict[str, object]]) -> bool:
    return bool(lines) and bool(lines[-1].get("useful"))
