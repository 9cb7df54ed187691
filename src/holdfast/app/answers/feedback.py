"""Feedback: a person says that an answer was useful, which confirms the records it cites, just as
the use of a record in a session does."""

from __future__ import annotations

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.errors import InputError
from holdfast.model.curation import Action, Curation
from holdfast.model.ledgers.injections import RecordUse
from holdfast.model.research import ResearchStage
from holdfast.model.uris import parse_uri
from holdfast.research.journal_lines import answer_from_json
from holdfast.settings import Settings
from holdfast.store.protocol import Store

# Records that make one statement. Which part of an exchange was useful cannot be known.
_CONFIRMABLE_KINDS = ("fact", "memory", "turn")


class Feedback:
    """Records feedback in the name of one person."""

    def __init__(self, store: Store, settings: Settings, now: str, who: str) -> None:
        self._store = store
        self._settings = settings
        self._now = now
        self._who = who

    def mark_useful(self, id: str) -> int:
        """Record that the last answer of a research session was useful; returns the number of
        records that are confirmed by it. Doing it twice counts once."""
        sessions = sessions_of(self._settings)
        name = sessions.find(id)
        answers = [line["answer"] for line in sessions.lines(name) if line.get("answer")]
        answer = answer_from_json(answers[-1]) if answers else None
        if answer is None or answer.abstained:
            raise InputError("There is no answer to be of use.", "Ask something first.")
        uris = [citation.uri for citation in answer.citations]
        confirmed = [(bank, uri) for uri in uris if (bank := self._bank_of(uri))]
        with self._store.transaction():
            for bank, uri in confirmed:
                if not any((u.record, u.turn) == (uri, "") for u in self._store.uses(bank)):
                    self._confirm(bank, uri, name)
        line = {"time": self._now, "stage": ResearchStage.DONE.value, "text": "Found useful."}
        with sessions.open_session(name, follow=True) as session:
            if session is not None and not _already_noted(session.lines()):
                session.write({**line, "useful": True})
        return len(confirmed)

    def _confirm(self, bank: str, uri: str, session: str) -> None:
        self._store.put_uses(bank, [RecordUse(uri, session, "", self._now)])
        self._store.append_curation(
            Curation(0, bank, self._now, Action.VOUCH, uri, session, self._who)
        )
        self._store.mark_changed(bank, "")

    def _bank_of(self, uri: str) -> str:
        """The bank of a record that can be confirmed, else ""."""
        named = parse_uri(uri)
        if named is None or named.kind not in _CONFIRMABLE_KINDS:
            return ""
        found = self._store.find(None, named.kind, named.id, 1)
        return next((one.bank for one in found if one.id == named.id), "")


def _already_noted(lines: list[dict[str, object]]) -> bool:
    return bool(lines) and bool(lines[-1].get("useful"))
