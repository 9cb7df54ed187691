"""What became of what an answer quotes: superseded, taken back, or still a guess.

A long record may hold one sentence that does not hold any more. So the very sentence is looked
up among the claims of its turn or exchange, besides the status of the record as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.language import cut, stem, words
from holdfast.model.fact_history import status_at
from holdfast.model.knowledge import Claim, Fact, Life
from holdfast.model.query import Hit
from holdfast.model.records import Exchange
from holdfast.model.trust import Status
from holdfast.store.protocol import Reader

_WORTH = {Status.SUPERSEDED: 0.4, Status.RETRACTED: 0.4, Status.HYPOTHESIS: 0.9}
_MARKS = {
    Status.SUPERSEDED: " (superseded)",
    Status.RETRACTED: " (taken back since)",
    Status.HYPOTHESIS: " (a guess, not confirmed)",
}
_SAME = 0.75


class QuotedStatuses:
    """The claims of the records that an answer may quote, and how they stood at a time."""

    def __init__(self, reader: Reader, hits: Sequence[Hit], as_of: str) -> None:
        self._reader = reader
        self._as_of = as_of
        self._claims: dict[str, list[tuple[frozenset[str], Life]]] = {}
        for hit in hits:
            if hit.kind in ("turn", "exchange", "digest"):
                self._claims[hit.uri] = self._of(hit)

    def _of(self, hit: Hit) -> list[tuple[frozenset[str], Life]]:
        """What a hit claims, with its last status that is worth telling."""
        claims = self._claims_of(hit)
        lives: dict[str, list[Life]] = {}
        for life in self._reader.lives(hit.bank, [("claim", claim.id) for claim in claims]):
            lives.setdefault(life.id, []).append(life)
        found: list[tuple[frozenset[str], Life]] = []
        for claim in claims:
            last = status_at(lives.get(claim.id, ()), self._as_of)
            if last is not None and last.status in _WORTH:
                found.append((_roots(claim.text), last))
        return found

    def _claims_of(self, hit: Hit) -> list[Claim]:
        id = hit.uri.rpartition("/")[2]
        if hit.kind == "turn":
            return self._reader.claims(hit.bank, turns=[id])
        records = self._reader.find(hit.bank, hit.kind, id, 1)
        session = next((str(getattr(record, "session", "")) for record in records), "")
        claims = self._reader.claims(hit.bank, session) if session else []
        if records and isinstance(records[0], Exchange):
            claims = [claim for claim in claims if claim.exchange == id]
        return claims

    def _life(self, hit: Hit, sentence: str) -> Life | None:
        own = _roots(sentence)
        for claimed, life in self._claims.get(hit.uri, ()):
            fewest = min(len(own), len(claimed))
            if fewest and len(own & claimed) >= _SAME * fewest:
                return life
        return None

    def status(self, hit: Hit, sentence: str) -> Status:
        """How a sentence of a hit stands."""
        if hit.status in _WORTH:
            return hit.status
        life = self._life(hit, sentence)
        return life.status if life else hit.status

    def weight(self, hit: Hit, sentence: str) -> float:
        """How much less it counts for that."""
        return _WORTH.get(self.status(hit, sentence), 1.0)

    def label(self, hit: Hit, sentence: str) -> str:
        """How to say so beside the sentence."""
        return _MARKS.get(self.status(hit, sentence), "")

    def caveats(self, quoted: Iterable[tuple[Hit, str]]) -> list[str]:
        """What holds in place of what is quoted, and what it replaced."""
        notes: list[str] = []
        for number, (hit, sentence) in enumerate(quoted, start=1):
            status = self.status(hit, sentence)
            life = self._life(hit, sentence)
            because = hit.superseded_by or (life.because if life else "")
            if status is Status.SUPERSEDED:
                notes.append(f"[{number}] does not hold any more: {self._told(hit.bank, because)}.")
            elif status is Status.RETRACTED:
                notes.append(f"[{number}] was taken back{f': see {because}' if because else ''}.")
            elif status is Status.HYPOTHESIS:
                notes.append(f"[{number}] is a guess that nothing has confirmed.")
            for name in hit.supersedes:
                notes.append(f"[{number}] replaces {self._told(hit.bank, name)}.")
        return list(dict.fromkeys(notes))

    def _told(self, bank: str, name: str) -> str:
        for record in self._reader.find(bank, "fact", name.rpartition("/")[2], 1) if name else ():
            if isinstance(record, Fact):
                day = record.validity.since[:10]
                return f"{cut(record.content, 160).rstrip('.')} ({day}, {name})"
        return f"see {name}" if name else "it was superseded"


def _roots(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text))
