"""What became of guessed and stated causes after their exchange: verified, or retracted.

Goes over all claims of a bank in order of time. A cause is verified by a person's yes, a commit or
a later statement of the same cause, and retracted by a no or a disproof, in the same session or in
any later one. What the exchange itself shows of its claims is in `claims`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.model.knowledge import Claim, ClaimKind, StatusChange
from holdfast.model.trust import Status
from holdfast.model.uris import uri
from holdfast.refine.facts import hypotheses

_CAUSES = (ClaimKind.HYPOTHESIS, ClaimKind.FINDING)
_OPEN = (Status.HYPOTHESIS, Status.OBSERVED)


class OutcomeLimits(NamedTuple):
    """When claims are about the same cause, and when a status spreads to the text around it."""

    # Share of common topic stems. Higher than within an exchange (`claims`), because later
    # sessions talk about other problems in similar words.
    min_shared_topic: float = 0.5
    # A turn or an exchange gets the status of its claims if these make up at least this share of
    # its text. Lower values mark long texts for a single sentence. An exchange counts only what
    # its title, summary and facts repeat, so its share is smaller.
    min_share_of_turn: float = 0.5
    min_share_of_exchange: float = 0.35


_LIMITS = OutcomeLimits()


class ClaimOutcomes:
    """Tracks the status of every claim of a bank over time."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        """`claims` are all claims of a bank in order of time."""
        self._claims = claims
        self._status = {claim.id: claim.status for claim in claims}
        self._changes: dict[str, list[StatusChange]] = {
            claim.id: list(_initial_status(claim)) for claim in claims
        }
        self._topics = {c.id: hypotheses.topic_stems(c.text) for c in claims if c.kind in _CAUSES}
        self._last_cause: dict[str, Claim] = {}
        self._memory_changes: list[StatusChange] = []

    def apply_claims(self) -> None:
        """Apply the effect of each claim to the claims before it."""
        open_causes: list[Claim] = []
        for claim in self._claims:
            if claim.kind is ClaimKind.AGREEMENT:
                self._agree(claim)
            elif claim.kind is ClaimKind.DISPROOF:
                self._disprove(claim, open_causes)
            elif claim.kind is ClaimKind.FINDING:
                self._verify_guesses(claim, open_causes)
            if claim.kind in _CAUSES and self._status[claim.id] in _OPEN:
                open_causes.append(claim)
                self._last_cause[claim.session] = claim
            open_causes = [c for c in open_causes if self._status[c.id] in _OPEN]

    def _agree(self, claim: Claim) -> None:
        """A person's yes, or a commit, verifies the last open cause of its session."""
        last = self._last_cause.get(claim.session)
        if last is None or last.seq >= claim.seq or self._status[last.id] not in _OPEN:
            return
        # A commit may be about anything: its message must share a topic stem with the cause.
        if claim.by_person or self._topics[last.id] & hypotheses.topic_stems(claim.text):
            self._change(last, claim, Status.VERIFIED)
            del self._last_cause[claim.session]

    def _disprove(self, claim: Claim, open_causes: Iterable[Claim]) -> None:
        """A disproof retracts the open causes it is about. If it names none (`that was not it`), it
        retracts the last cause of its session."""
        topic = hypotheses.topic_stems(claim.text)
        matched = False
        for other in open_causes:
            if other.id != claim.id and _same_cause(self._topics[other.id], topic):
                self._change(other, claim, Status.RETRACTED)
                matched = True
        last = self._last_cause.get(claim.session)
        points_back = claim.by_person or len(topic) <= 1
        if matched or not points_back or last is None or last.exchange == claim.exchange:
            return
        if self._status[last.id] in _OPEN and last.seq < claim.seq:
            self._change(last, claim, Status.RETRACTED)

    def _verify_guesses(self, claim: Claim, open_causes: Iterable[Claim]) -> None:
        for other in open_causes:
            is_guess = self._status[other.id] is Status.HYPOTHESIS
            if is_guess and _same_cause(self._topics[other.id], self._topics[claim.id]):
                self._change(other, claim, Status.VERIFIED)

    def _change(self, claim: Claim, because: Claim, status: Status) -> None:
        self.set_status(claim, because.time, status, uri("turn", because.turn))

    def set_status(self, claim: Claim, time: str, status: Status, because: str) -> None:
        """Change the status of a claim from a time on; `because` is the URI of the reason."""
        self._status[claim.id] = status
        self._changes[claim.id].append(StatusChange("claim", claim.id, time, status, because))

    def tracks(self, claim: Claim) -> bool:
        """Whether a claim is one of the bank's; what was remembered or only reported is not."""
        return claim.id in self._status

    def status(self, claim: Claim) -> Status:
        """The status of a claim after all changes so far."""
        return self._status[claim.id]

    def last_change(self, claim: Claim) -> tuple[Status, str, str]:
        """The status of a claim after all changes so far, since when, and the URI of the reason."""
        last = max(self._changes[claim.id], key=lambda change: change.time)
        return self._status[claim.id], last.time, last.because

    def set_memory_status(self, id: str, time: str, status: Status, because: str) -> None:
        """The same for a remembered text."""
        self._memory_changes.append(StatusChange("memory", id, time, status, because))

    def status_changes(self) -> list[StatusChange]:
        """The changes of tracked claims, of turns and exchanges made of them, and of memories."""
        tracked = [
            change for c in self._claims if self._is_tracked(c) for change in self._changes[c.id]
        ]
        return [
            *tracked,
            *self._container_changes("turn"),
            *self._container_changes("exchange"),
            *self._memory_changes,
        ]

    def _is_tracked(self, claim: Claim) -> bool:
        """Whether the status of a claim is stored; that of a plain statement only if it changed."""
        if claim.kind is ClaimKind.STATEMENT:
            return len(self._changes[claim.id]) > 1
        return claim.kind in (*_CAUSES, ClaimKind.RULING, ClaimKind.DECISION)

    def _container_changes(self, kind: str) -> list[StatusChange]:
        """The status changes of turns or exchanges that consist mostly of claims with a status."""
        is_turn = kind == "turn"
        groups: dict[tuple[str, Status], list[tuple[Claim, StatusChange]]] = {}
        for claim in self._claims:
            container = claim.turn if is_turn else claim.exchange
            for change in self._changes[claim.id] if container and self._is_tracked(claim) else ():
                groups.setdefault((container, change.status), []).append((claim, change))
        needed = _LIMITS.min_share_of_turn if is_turn else _LIMITS.min_share_of_exchange
        found: list[StatusChange] = []
        for (container, status), members in groups.items():
            share = sum(claim.share if is_turn else claim.told for claim, _ in members)
            last = max((change for _, change in members), key=lambda c: (c.time, c.because))
            if share >= needed and status is not Status.OBSERVED:
                found.append(StatusChange(kind, container, last.time, status, last.because))
        return found


def _initial_status(claim: Claim) -> Iterable[StatusChange]:
    """The status changes that the claim's own exchange shows."""
    is_guess = claim.kind is ClaimKind.HYPOTHESIS
    first = Status.HYPOTHESIS if is_guess else Status.OBSERVED
    yield StatusChange("claim", claim.id, claim.time, first, uri("turn", claim.turn))
    if claim.changed:
        yield StatusChange("claim", claim.id, claim.changed, claim.status, claim.because)


def _same_cause(one: frozenset[str], other: frozenset[str]) -> bool:
    return hypotheses.same_cause(one, other, _LIMITS.min_shared_topic)
