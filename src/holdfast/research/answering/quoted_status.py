"""The status of what an answer quotes: superseded, retracted, or an unconfirmed guess.

A long record may contain one sentence that no longer holds. So each quoted sentence is compared
with what is known to have ended (`Hit.ended`) and with the claims of its turn, exchange or session,
besides the status of the record as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.framed_text import quote
from holdfast.language import shared_fraction, stem, truncate, words
from holdfast.model.fact_history import status_change_at
from holdfast.model.knowledge import Claim, EndedSentence, Fact, StatusChange
from holdfast.model.query import Hit
from holdfast.model.records import Exchange
from holdfast.model.trust import Status
from holdfast.store.protocol import Reader

# What a sentence of such a status counts for, against 1 for any other. What no longer holds is
# quoted only where nothing else answers; a guess, or what was amended, only gives way to what is as
# good.
_WEIGHTS = {
    Status.SUPERSEDED: 0.4,
    Status.RETRACTED: 0.4,
    Status.HYPOTHESIS: 0.9,
    Status.AMENDED: 0.9,
}
_LABELS = {
    Status.AMENDED: " (amended since)",
    Status.SUPERSEDED: " (superseded)",
    Status.RETRACTED: " (retracted since)",
    Status.HYPOTHESIS: " (a guess, not confirmed)",
}
# A sentence is a claim if they share this part of the shorter one's stems.
_SAME_CLAIM = 0.75


def claim_statuses(
    reader: Reader, bank: str, claims: Iterable[Claim], as_of: str = ""
) -> dict[str, StatusChange]:
    """The last status of claims by their id, at a time; without those that never had one."""
    histories: dict[str, list[StatusChange]] = {}
    for period in reader.facts.status_changes(bank, [("claim", claim.id) for claim in claims]):
        histories.setdefault(period.id, []).append(period)
    last = {id: status_change_at(periods, as_of) for id, periods in histories.items()}
    return {id: period for id, period in last.items() if period is not None}


class QuotedStatuses:
    """The claims of the records that an answer may quote, with their status at a time."""

    def __init__(self, reader: Reader, hits: Sequence[Hit], as_of: str) -> None:
        self._reader = reader
        self.as_of = as_of
        self._claims: dict[str, list[tuple[frozenset[str], StatusChange]]] = {}
        for hit in hits:
            if hit.kind in ("turn", "exchange", "digest"):
                self._claims[hit.uri] = self._read_claims(hit)

    def _read_claims(self, hit: Hit) -> list[tuple[frozenset[str], StatusChange]]:
        """The stems of a hit's claims that have a status worth a caveat, with that status."""
        claims = self._claims_of(hit)
        statuses = claim_statuses(self._reader, hit.bank, claims, self.as_of)
        return [
            (_stems(claim.text), statuses[claim.id])
            for claim in claims
            if claim.id in statuses and statuses[claim.id].status in _WEIGHTS
        ]

    def _claims_of(self, hit: Hit) -> list[Claim]:
        id = hit.uri.rpartition("/")[2]
        if hit.kind == "turn":
            return self._reader.facts.claims(hit.bank, turns=[id])
        records = self._reader.records.find(hit.bank, hit.kind, id, 1)
        session = next((str(getattr(record, "session", "")) for record in records), "")
        claims = self._reader.facts.claims(hit.bank, session) if session else []
        if records and isinstance(records[0], Exchange):
            claims = [claim for claim in claims if claim.exchange == id]
        return claims

    def ending(self, hit: Hit, sentence: str) -> EndedSentence | None:
        """How what a sentence of a hit says has ended; None if that is not known to have."""
        stems = _stems(sentence)
        said = [
            one for one in hit.ended if shared_fraction(stems, _stems(one.sentence)) >= _SAME_CLAIM
        ]
        return max(said, key=lambda one: one.ended, default=None)

    def _claim_status(self, hit: Hit, sentence: str) -> StatusChange | None:
        """The status of the claim that a sentence makes."""
        stems = _stems(sentence)
        for claim_stems, period in self._claims.get(hit.uri, ()):
            if shared_fraction(stems, claim_stems) >= _SAME_CLAIM:
                return period
        return None

    def status(self, hit: Hit, sentence: str) -> Status:
        """The status of a sentence of a hit."""
        if (ending := self.ending(hit, sentence)) is not None:
            return ending.reason.status
        if hit.status in _WEIGHTS:
            return hit.status
        period = self._claim_status(hit, sentence)
        return period.status if period else hit.status

    def weight(self, hit: Hit, sentence: str) -> float:
        """What the sentence counts for, from 0 to 1."""
        return _WEIGHTS.get(self.status(hit, sentence), 1.0)

    def label(self, hit: Hit, sentence: str) -> str:
        """Its status, to be written behind the sentence; "" if there is nothing to say."""
        if (ending := self.ending(hit, sentence)) is not None:
            return f" (no longer valid: {ending.label})"
        return _LABELS.get(self.status(hit, sentence), "")

    def caveats(self, quoted: Iterable[tuple[Hit, str]]) -> list[str]:
        """For each quoted sentence: what holds instead of it, and what it replaced."""
        notes: list[str] = []
        for number, (hit, sentence) in enumerate(quoted, start=1):
            status = self.status(hit, sentence)
            period = self._claim_status(hit, sentence)
            because = hit.superseded_by or (period.because if period else "")
            if (ending := self.ending(hit, sentence)) is not None:
                now = self._describe(hit.bank, ending.instead) if ending.instead else ""
                instead = f"; the current statement is {now}" if now else ""
                # The line that it is about has the reason.
                notes.append(f"[{number}] was {ending.end}{instead}.")
            elif status is Status.SUPERSEDED:
                instead = self._describe(hit.bank, because)
                notes.append(f"[{number}] is no longer valid: {instead}.")
            elif status is Status.RETRACTED:
                notes.append(f"[{number}] was retracted{f': see {because}' if because else ''}.")
            elif status is Status.AMENDED:
                notes.append(f"[{number}] was amended: {self._describe(hit.bank, because)}.")
            elif status is Status.HYPOTHESIS:
                notes.append(f"[{number}] is an unconfirmed guess.")
            notes += [f"[{number}] {self._replaces(hit.bank, name)}." for name in hit.supersedes]
        return list(dict.fromkeys(notes))

    def _replaces(self, bank: str, name: str) -> str:
        """What a fact did to the fact of a URI, which holds in part if it was amended."""
        found = self._reader.records.find(bank, "fact", name.rpartition("/")[2], 1)
        amended = any(isinstance(f, Fact) and f.status is Status.AMENDED for f in found)
        return f"{'amends' if amended else 'replaces'} {self._describe(bank, name)}"

    def _describe(self, bank: str, name: str) -> str:
        """The fact of a URI in a few words; its URI if it is no fact."""
        for record in (
            self._reader.records.find(bank, "fact", name.rpartition("/")[2], 1) if name else ()
        ):
            if isinstance(record, Fact):
                day = record.validity.since[:10]
                return f"{quote(truncate(record.content, 160))} ({day}, {name})"
        return f"see {name}" if name else "it was superseded"


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text))
