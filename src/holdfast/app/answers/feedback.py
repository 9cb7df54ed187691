"""What a person found useful: the records that an answer rests on are borne out by it, as they are
when a session makes use of them."""

from __future__ import annotations

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.errors import InputError
from holdfast.model.curation import Action, Curation
from holdfast.model.injections import RecordUse
from holdfast.model.research import ResearchStage
from holdfast.model.uris import parse_uri
from holdfast.research.journal_lines import answer_from_json
from holdfast.settings import Settings
from holdfast.store.protocol import Store

# What states something that may hold: of an exchange nobody can tell which of its words helped.
_CONFIRMABLE_KINDS = ("fact", "memory", "turn")


class Feedback:
    """Somebody who says that an answer was of use."""

    def __init__(self, store: Store, settings: Settings, now: str, who: str) -> None:
        self._store = store
        self._settings = settings
        self._now = now
        self._who = who

    def mark_useful(self, id: str) -> int:
        """Note that the last answer of an investigation was of use; returns for how many records.
        Said twice it counts once."""
        sessions = sessions_of(self._settings)
        name = sessions.find(id)
        answers = [line["answer"] for line in sessions.lines(name) if line.get("answer")]
        answer = answer_from_json(answers[-1]) if answers else None
        if answer is None or answer.abstained:
            raise InputError("There is no answer to be of use.", "Ask something first.")
        known = [self._bank(cited.uri) for cited in answer.citations]
        told = [(bank, uri) for bank, uri in known if bank]
        with self._store.transaction():
            for bank, uri in told:
                if not any((u.record, u.turn) == (uri, "") for u in self._store.uses(bank)):
                    self._say(bank, uri, name)
        line = {"time": self._now, "stage": ResearchStage.DONE.value, "text": "Found useful."}
        with sessions.open_session(name, follow=True) as run:
            if run is not None and not _already_noted(run.lines()):
                run.write({**line, "useful": True})
        return len(told)

    def _say(self, bank: str, uri: str, name: str) -> None:
        self._store.put_uses(bank, [RecordUse(uri, name, "", self._now)])
        self._store.append_curation(Curation(0, bank, self._now, Action.VOUCH, uri, name, self._who))
        self._store.mark_changed(bank, "")

    def _bank(self, uri: str) -> tuple[str, str]:
        named = parse_uri(uri)
        if named is None or named.kind not in _CONFIRMABLE_KINDS:
            return "", uri
        found = self._store.find(None, named.kind, named.id, 1)
        return next((one.bank for one in found if one.id == named.id), ""), uri


def _already_noted(lines: list[dict[str, object]]) -> bool:
    return bool(lines) and bool(lines[-1].get("useful"))
