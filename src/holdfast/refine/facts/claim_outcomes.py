"""What became of guesses and causes after their exchange: borne out, or taken back.

Over all claims of a bank in the order of time: a person's yes or no, a commit, a later statement
of the same cause or its disproof, in the same session or any later one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.model.knowledge import Claim, ClaimKind, Life
from holdfast.model.trust import Status
from holdfast.model.uris import uri
from holdfast.refine.facts import hypotheses

_CAUSES = (ClaimKind.HYPOTHESIS, ClaimKind.FINDING)
_OPEN = (Status.HYPOTHESIS, Status.OBSERVED)
# Across sessions the words must agree better than within one.
_SHARED = 2
_SHARE = 0.5
# How much of a turn, or of an exchange, its claims must be for it to share their fate.
_OF_TURN = 0.5
_OF_EXCHANGE = 0.35


class ClaimOutcomes:
    """The lives of claims, as they are told in the order of time."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._claims = claims
        self._status = {claim.id: claim.status for claim in claims}
        self._lives: dict[str, list[Life]] = {claim.id: list(_own(claim)) for claim in claims}
        self._matter = {c.id: hypotheses.topic_stems(c.text) for c in claims if c.kind in _CAUSES}
        self._last: dict[str, Claim] = {}
        self._memories: list[Life] = []

    def apply_claims(self) -> None:
        """Let every claim have its effect on those before it."""
        open_causes: list[Claim] = []
        for claim in self._claims:
            if claim.kind is ClaimKind.AGREEMENT:
                self._agree(claim)
            elif claim.kind is ClaimKind.DISPROOF:
                self._disprove(claim, open_causes)
            elif claim.kind is ClaimKind.FINDING:
                self._find(claim, open_causes)
            if claim.kind in _CAUSES and self._status[claim.id] in _OPEN:
                open_causes.append(claim)
                self._last[claim.session] = claim
            open_causes = [c for c in open_causes if self._status[c.id] in _OPEN]

    def _agree(self, claim: Claim) -> None:
        """A yes, or a commit, bears out the last cause of its session."""
        last = self._last.get(claim.session)
        if last is None or last.seq >= claim.seq or self._status[last.id] not in _OPEN:
            return
        # A commit may be of anything: its message must speak of the cause.
        if claim.by_person or self._matter[last.id] & hypotheses.topic_stems(claim.text):
            self.change(last, claim, Status.VERIFIED)
            del self._last[claim.session]

    def _disprove(self, claim: Claim, open_causes: Iterable[Claim]) -> None:
        matter = hypotheses.topic_stems(claim.text)
        met = False
        for other in open_causes:
            if other.id != claim.id and _alike(self._matter[other.id], matter):
                self.change(other, claim, Status.RETRACTED)
                met = True
        last = self._last.get(claim.session)
        points_back = claim.by_person or len(matter) <= 1
        if met or not points_back or last is None or last.exchange == claim.exchange:
            return
        if self._status[last.id] in _OPEN and last.seq < claim.seq:
            self.change(last, claim, Status.RETRACTED)

    def _find(self, claim: Claim, open_causes: Iterable[Claim]) -> None:
        """A cause that is stated bears out an earlier guess at it."""
        for other in open_causes:
            guess = self._status[other.id] is Status.HYPOTHESIS
            if guess and _alike(self._matter[other.id], self._matter[claim.id]):
                self.change(other, claim, Status.VERIFIED)

    def change(self, claim: Claim, because: Claim, status: Status) -> None:
        """From the time of one claim on, another has a new status."""
        self.set_status(claim, because.time, status, uri("turn", because.turn))

    def set_status(self, claim: Claim, time: str, status: Status, because: str) -> None:
        """The same, for whatever reason."""
        self._status[claim.id] = status
        self._lives[claim.id].append(Life("claim", claim.id, time, status, because))

    def set_memory_status(self, id: str, time: str, status: Status, because: str) -> None:
        """The same for what was remembered."""
        self._memories.append(Life("memory", id, time, status, because))

    def status_changes(self) -> list[Life]:
        """The lives of all claims, and of the turns and exchanges that mostly consist of them."""
        found = [life for c in self._claims if _worth(c) for life in self._lives[c.id]]
        return [
            *found,
            *self._of_places("turn"),
            *self._of_places("exchange"),
            *self._memories,
        ]

    def _of_places(self, kind: str) -> list[Life]:
        """A turn or an exchange shares the fate of its claims where it says little else."""
        groups: dict[tuple[str, Status], list[tuple[Claim, Life]]] = {}
        for claim in self._claims:
            place = claim.turn if kind == "turn" else claim.exchange
            for life in self._lives[claim.id] if place and _worth(claim) else ():
                groups.setdefault((place, life.status), []).append((claim, life))
        needed = _OF_TURN if kind == "turn" else _OF_EXCHANGE
        found: list[Life] = []
        for (place, status), known in groups.items():
            part = sum(claim.share if kind == "turn" else claim.told for claim, _ in known)
            last = max((life for _, life in known), key=lambda life: (life.time, life.because))
            if part >= needed and status is not Status.OBSERVED:
                found.append(Life(kind, place, last.time, status, last.because))
        return found


def _worth(claim: Claim) -> bool:
    """Whether anybody asks for the life of such a claim."""
    return claim.kind in (*_CAUSES, ClaimKind.RULING, ClaimKind.DECISION)


def _own(claim: Claim) -> Iterable[Life]:
    """The life that its own exchange shows."""
    guess = claim.kind is ClaimKind.HYPOTHESIS
    first = Status.HYPOTHESIS if guess else Status.OBSERVED
    yield Life("claim", claim.id, claim.time, first, uri("turn", claim.turn))
    if claim.changed:
        yield Life("claim", claim.id, claim.changed, claim.status, claim.because)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    fewest = min(len(one), len(other))
    return shared >= min(_SHARED, fewest) and shared >= _SHARE * fewest > 0
