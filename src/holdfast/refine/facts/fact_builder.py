"""L4: what a bank's claims come to for good: rules, solutions, core logic; each with its life.

A pure function of the claims, of what people asked to remember and of their decisions, always
over all of them in the order of time, so it does not matter in which order sessions were read.
A statement that is said again strengthens the record it repeats; one that amends another retires
it. A fact's id is that of its first statement; decisions about it follow any of its statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.model.curation import Curated
from holdfast.model.fact_history import confidence
from holdfast.model.ids import content_id
from holdfast.model.knowledge import (
    Bearing,
    Claim,
    ClaimKind,
    Fact,
    FactKind,
    How,
    Life,
    Validity,
)
from holdfast.model.trust import ENDED, Status, Trust, least_trusted
from holdfast.model.uris import uri
from holdfast.refine.core.statement_similarity import Shape, amends, overlap, same, shape_of
from holdfast.refine.facts.junk_filter import JunkReason, junk_reason
from holdfast.refine.facts.solutions import SolvedProblem, find_solved_problems, recurrences

_RULES = (ClaimKind.RULING, ClaimKind.DECISION)


@dataclass(slots=True)
class FactDraft:
    """A fact in the making."""

    kind: FactKind
    id: str
    content: str
    trust: Trust
    since: str
    claims: list[Claim]
    statement_ids: set[str]
    shape: Shape
    status: Status = Status.OBSERVED
    until: str = ""
    problem: str = ""
    attempts: int = 0
    superseded_by: str = ""
    supersedes: list[str] = field(default_factory=list[str])
    files: tuple[str, ...] = ()
    status_history: list[Life] = field(default_factory=list[Life])
    evidence: list[Bearing] = field(default_factory=list[Bearing])
    sessions: set[str] = field(default_factory=set[str])

    @property
    def uri(self) -> str:
        """Its name."""
        return uri("fact", self.id)

    @property
    def was_said_in_session(self) -> bool:
        """Whether it was said in a session; what was only remembered is a record already."""
        return any(claim.exchange for claim in self.claims)

    def holds_at(self, time: str) -> bool:
        """Whether it was in force at a time."""
        return self.since <= time and (not self.until or time < self.until)

    def set_status(self, status: Status, time: str, because: str) -> None:
        """Change, from a time on."""
        if self.status is not status:
            self.status = status
            self.status_history.append(Life("fact", self.id, time, status, because))

    def add_evidence(self, time: str, name: str, how: How) -> None:
        """Take a piece of evidence."""
        self.evidence.append(Bearing(self.id, time, name, how))

    def to_fact(self, bank: str) -> Fact:
        """The fact as it stands."""
        good = [b for b in self.evidence if not b.against]
        return Fact(
            bank, self.id, self.kind, self.content, confidence(self.trust, self.evidence),
            self.trust, self.problem, self.attempts,
            sum(1 for b in self.evidence if b.how is How.BREACHED),
            max((b.time for b in good), default=self.since), self.status,
            Validity(self.since, self.until, self.since),
            tuple(dict.fromkeys(b.uri for b in self.evidence if b.testifies)),
            tuple(dict.fromkeys(b.uri for b in self.evidence if b.against)),
            tuple(dict.fromkeys(self.supersedes)), self.superseded_by, self.files,
        )  # fmt: skip


def fact_id(kind: FactKind, text: str) -> str:
    """The id of the fact that a statement would found."""
    return content_id("fact", kind.value, *(shape_of(text).order or (text,)))


class FactBuilder:
    """Grows the facts of one bank."""

    def __init__(self, decisions: Iterable[Curated] = ()) -> None:
        self.drafts: list[FactDraft] = []
        self._decided = {c.id: c for c in decisions if c.kind == "fact"}
        self._forgotten: list[tuple[FactKind, Shape]] = []
        self.dropped: Counter[str] = Counter()
        # Which facts have a word, so that a statement is held only against those like it.
        self._having: dict[str, list[FactDraft]] = {}

    def add_claims(self, claims: Sequence[Claim], remembered: Sequence[Claim]) -> None:
        """Take in every statement, by time."""
        stated = [c for c in claims if c.kind in _RULES and c.by_person]
        ordered = sorted([*stated, *remembered], key=lambda c: (c.time, c.seq, c.id))
        wanted = {claim.id for claim in remembered}
        self._note_forgotten([*ordered, *claims])
        for claim in ordered:
            why = None if claim.id in wanted else junk_reason(claim)
            if why is not None:
                self.dropped[why.value] += 1
            else:
                self._state(claim, FactKind.RULE, claim.id in wanted)
        for claim in claims:
            if claim.kind is ClaimKind.CORE_LOGIC:
                self._state(claim, FactKind.CORE_LOGIC, False)
        solved, left = find_solved_problems(claims)
        self.dropped[JunkReason.UNPROVEN.value] += left
        for one in solved:
            self._solve(one, claims)

    def _note_forgotten(self, claims: Iterable[Claim]) -> None:
        """What was forgotten has no effect at all, in whatever words it was said."""
        gone = {id for id, known in self._decided.items() if known.forgotten}
        for claim in claims if gone else ():
            kind = _kind_of(claim)
            if fact_id(kind, claim.text) in gone:
                self._forgotten.append((kind, shape_of(claim.text)))

    def _is_forgotten(self, kind: FactKind, shape: Shape) -> bool:
        gone = any(kind is own and same(shape, other) for own, other in self._forgotten)
        self.dropped["forgotten"] += gone
        return gone

    def _state(self, claim: Claim, kind: FactKind, remembered: bool) -> None:
        shape = shape_of(claim.text)
        if self._is_forgotten(kind, shape):
            return
        near = self._near(shape, kind)
        known = next((g for g in near if same(shape, g.shape)), None)
        if known is None:
            known = self._found(claim, kind, shape)
        else:
            self.dropped[JunkReason.DUPLICATE.value] += 1
        self._strengthen(known, claim, remembered)
        self._retire(known, claim, shape, near)

    def _found(self, claim: Claim, kind: FactKind, shape: Shape) -> FactDraft:
        first = Status.OBSERVED
        made = FactDraft(
            kind, fact_id(kind, claim.text), claim.text, claim.trust, claim.time, [], set(), shape,
            first, files=claim.files,
        )  # fmt: skip
        made.status_history.append(Life("fact", made.id, claim.time, first, claim_uri(claim)))
        self.drafts.append(made)
        for word in shape.said:
            self._having.setdefault(word, []).append(made)
        return made

    def _near(self, shape: Shape, kind: FactKind) -> list[FactDraft]:
        """The facts that share words with a statement, the most alike first."""
        met: dict[int, FactDraft] = {}
        for word in shape.said:
            for draft in self._having.get(word, ()):
                if draft.kind is kind:
                    met[id(draft)] = draft
        return sorted(
            met.values(), key=lambda g: (-overlap(shape.said, g.shape.said), g.since, g.id)
        )

    def _strengthen(self, known: FactDraft, claim: Claim, remembered: bool) -> None:
        again = bool(known.sessions) and claim.session not in known.sessions
        known.claims.append(claim)
        known.statement_ids.add(fact_id(known.kind, claim.text))
        known.sessions.add(claim.session)
        known.trust = min(known.trust, claim.trust, key=list(Trust).index)
        known.add_evidence(claim.time, claim_uri(claim), How.REMEMBERED if remembered else How.STATED)
        if known.status in ENDED:
            # What was retired is laid down again.
            known.until, known.superseded_by = "", ""
            known.set_status(Status.OBSERVED, claim.time, claim_uri(claim))
        if remembered or again:
            known.set_status(Status.VERIFIED, claim.time, claim_uri(claim))

    def _retire(self, known: FactDraft, claim: Claim, shape: Shape, near: Iterable[FactDraft]) -> None:
        """Retire what a statement amends: of those in force the most alike."""
        for other in near:
            later = other is not known and other.status not in ENDED and other.since < claim.time
            if later and (amends(shape, other.shape) or other.uri in known.supersedes):
                self.supersede(other, known, claim.time, claim_uri(claim))
                return

    def supersede(self, old: FactDraft, new: FactDraft, time: str, because: str) -> None:
        """One fact takes the place of another."""
        old.set_status(Status.SUPERSEDED, time, because)
        old.until, old.superseded_by = time, new.uri
        new.supersedes.append(old.uri)

    def _solve(self, one: SolvedProblem, claims: Sequence[Claim]) -> None:
        claim = one.solution
        if self._is_forgotten(FactKind.SOLUTION, shape_of(claim.text)):
            return
        before = [g for g in self.drafts if g.kind is FactKind.SOLUTION and _same_matter(g, one)]
        known = next(
            (g for g in before if overlap(g.shape.said, shape_of(claim.text).said) > 0.5), None
        )
        if known is None:
            known = self._found(claim, FactKind.SOLUTION, shape_of(claim.text))
            known.problem = claim.problem
            known.trust = least_trusted((claim.trust, *(c.trust for c in one.before)))
            for old in before:
                if old.status not in ENDED:
                    self.supersede(old, known, claim.time, claim_uri(claim))
        known.attempts = max(known.attempts, one.attempts)
        known.claims.append(claim)
        known.statement_ids.add(fact_id(known.kind, claim.text))
        known.add_evidence(claim.time, claim_uri(claim), How.STATED)
        known.set_status(Status.VERIFIED, claim.time, claim_uri(claim))
        for again in recurrences(one, claims):
            if known.holds_at(again.time):
                known.add_evidence(again.time, claim_uri(again), How.RECURRED)


def _same_matter(draft: FactDraft, one: SolvedProblem) -> bool:
    own = {claim.id for claim in draft.claims}
    return any(claim.id in own for claim in one.before)


def claim_uri(claim: Claim) -> str:
    """Where a statement stands; what a person said of a whole exchange is in no turn of it."""
    if claim.turn:
        return uri("turn", claim.turn)
    return uri("exchange", claim.exchange) if claim.exchange else uri("memory", claim.id)


def _kind_of(claim: Claim) -> FactKind:
    """The kind of fact that a claim would found."""
    if claim.kind is ClaimKind.SOLUTION:
        return FactKind.SOLUTION
    return FactKind.CORE_LOGIC if claim.kind is ClaimKind.CORE_LOGIC else FactKind.RULE


def apply_decisions(facts: FactBuilder, decisions: Iterable[Curated]) -> list[FactDraft]:
    """The facts that are to be shown, as people decided about them: merged ones go into another,
    corrected ones say it anew. A decision is about whatever was said in those words."""
    decided = {c.id: c for c in decisions if c.kind == "fact"}
    kept: list[FactDraft] = []
    merged: list[tuple[FactDraft, str]] = []
    for draft in facts.drafts:
        about = [decided[name] for name in sorted(draft.statement_ids) if name in decided]
        into = next((c.into for c in about if c.into), "")
        if into:
            merged.append((draft, into))
            continue
        said = max((c for c in about if c.text), key=lambda c: c.time, default=None)
        if said is not None:
            draft.content = said.text
            draft.trust = Trust.USER
            draft.set_status(Status.VERIFIED, max(said.time, draft.since), draft.uri)
        kept.append(draft)
    for draft, into in merged:
        _merge(draft, into, kept)
    return kept


def _merge(draft: FactDraft, into: str, kept: Iterable[FactDraft]) -> None:
    """What bears on a fact bears on the one that stands for it, and what it retired is retired."""
    for other in kept:
        if other.superseded_by == draft.uri and other.uri != into:
            other.superseded_by = into
        if other.uri == into:
            for bearing in draft.evidence:
                other.add_evidence(bearing.time, bearing.uri, bearing.how)
            other.claims += draft.claims
            other.supersedes += [name for name in draft.supersedes if name != other.uri]
