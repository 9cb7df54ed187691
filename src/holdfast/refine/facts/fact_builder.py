"""Builds the facts of a bank (rules, solutions, core logic) from its claims, with their history.

The result depends only on the claims, on what people asked to remember and on their decisions. All
of them are processed in order of time, so the order in which sessions were read does not matter.
A repeated statement adds evidence to the existing fact; a statement that amends another supersedes
it. The id of a fact comes from its first statement; a decision about a fact applies to whatever
fact any statement with those words belongs to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.language import is_data
from holdfast.model.curation import Curation, CurationState, Judgement
from holdfast.model.fact_history import fact_confidence
from holdfast.model.ids import content_id
from holdfast.model.knowledge import (
    Claim,
    ClaimKind,
    EvidenceKind,
    Fact,
    FactEvidence,
    FactKind,
    StatusChange,
    Validity,
)
from holdfast.model.trust import (
    ENDED_STATUSES,
    REPLACED_STATUSES,
    Status,
    Trust,
    least_trusted,
)
from holdfast.model.uris import uri
from holdfast.refine.core.statement_similarity import (
    StatementFeatures,
    jaccard,
    says_the_same,
    statement_features,
    supersedes,
)
from holdfast.refine.facts.junk_filter import JunkReason, junk_reason
from holdfast.refine.facts.solutions import SolvedProblem, find_solved_problems, recurrences
from holdfast.refine.facts.statement_pool import NO_CONTEXT, ExchangeContext, StatementPool

_RULE_CLAIMS = (ClaimKind.RULING, ClaimKind.DECISION)
# The kinds of facts that claims other than those of rules create.
_FACT_KINDS = {
    ClaimKind.SOLUTION: FactKind.SOLUTION,
    ClaimKind.CORE_LOGIC: FactKind.CORE_LOGIC,
}
# Two solutions of one problem are the same fact if more than this share of their stems is common;
# below it, the later solution supersedes the earlier one.
_SAME_SOLUTION_OVERLAP = 0.5


@dataclass(slots=True)
class FactDraft:
    """A fact under construction. `statement_ids` are the fact ids that each of its statements
    would have had alone, so that a decision about any of them is found."""

    kind: FactKind
    id: str
    content: str
    trust: Trust
    since: str
    claims: list[Claim]
    statement_ids: set[str]
    features: StatementFeatures
    status: Status = Status.OBSERVED
    until: str = ""
    problem: str = ""
    attempts: int = 0
    superseded_by: str = ""
    supersedes: list[str] = field(default_factory=list[str])
    files: tuple[str, ...] = ()
    status_history: list[StatusChange] = field(default_factory=list[StatusChange])
    evidence: list[FactEvidence] = field(default_factory=list[FactEvidence])
    sessions: set[str] = field(default_factory=set[str])
    # The correction that its content is, and one that a person has overruled since by saying the
    # original again.
    corrected: CurationState | None = None
    overruled: CurationState | None = None
    # The verdict that ended it.
    outdated: Judgement | None = None

    @property
    def uri(self) -> str:
        """The URI of the fact."""
        return uri("fact", self.id)

    @property
    def was_said_in_session(self) -> bool:
        """Whether a session states it. What was only remembered is searchable as a memory."""
        return any(claim.exchange for claim in self.claims)

    def holds_at(self, time: str) -> bool:
        """Whether the fact was in force at a time."""
        return self.since <= time and (not self.until or time < self.until)

    def is_stated_after(self, time: str) -> bool:
        """Whether somebody stated the fact after a time."""
        return any(claim.time > time for claim in self.claims)

    def set_status(self, status: Status, time: str, because: str) -> None:
        """Change the status from a time on, and record that in the history."""
        if self.status is not status:
            self.status = status
            self.status_history.append(StatusChange("fact", self.id, time, status, because))

    def add_evidence(self, time: str, source: str, how: EvidenceKind) -> None:
        """Add a piece of evidence for or against the fact; `source` is the URI of the record."""
        self.evidence.append(FactEvidence(self.id, time, source, how))

    def add_claim(self, claim: Claim, how: EvidenceKind, statement_id: str) -> None:
        """Add a statement of the fact as evidence. The fact is only as trusted as the least trusted
        of its statements."""
        self.claims.append(claim)
        self.trust = least_trusted((self.trust, claim.trust))
        self.statement_ids.add(statement_id)
        self.add_evidence(claim.time, claim_uri(claim), how)

    def to_fact(self, bank: str) -> Fact:
        """The finished record."""
        supporting = [e for e in self.evidence if not e.against]
        return Fact(
            bank, self.id, self.kind, self.content, fact_confidence(self.trust, self.evidence),
            self.trust, self.problem, self.attempts,
            sum(1 for e in self.evidence if e.how is EvidenceKind.BREACHED),
            max((e.time for e in supporting), default=self.since), self.status,
            Validity(self.since, self.until, self.since),
            tuple(dict.fromkeys(e.uri for e in self.evidence if e.supports_directly)),
            tuple(dict.fromkeys(e.uri for e in self.evidence if e.against)),
            tuple(dict.fromkeys(self.supersedes)), self.superseded_by, self.files,
        )  # fmt: skip


class FactIds:
    """The ids of the facts that statements create: made of their content words. Of "use npm" and
    "do not use npm", which have the same, the one that was said later has an id of its own."""

    def __init__(self, claims: Iterable[Claim] = ()) -> None:
        self._forbids: dict[str, bool] = {}
        for claim in sorted(claims, key=lambda c: (c.time, c.seq, c.id)):
            kind = _FACT_KINDS.get(claim.kind, FactKind.RULE)
            self._forbids.setdefault(_words_id(kind, claim.text), _forbids(claim.text))

    def of(self, kind: FactKind, text: str) -> str:
        """The id of the fact that a statement would create."""
        id, forbids = _words_id(kind, text), _forbids(text)
        return id if self._forbids.get(id, forbids) is forbids else content_id(id, "opposite")


def _words_id(kind: FactKind, text: str) -> str:
    return content_id("fact", kind.value, *(statement_features(text).stems or (text,)))


def _forbids(text: str) -> bool:
    return statement_features(text).is_prohibition


class FactBuilder:
    """Builds the facts of one bank; `dropped` counts the claims left out, by reason."""

    def __init__(
        self,
        decisions: Iterable[CurationState] = (),
        forgotten: Mapping[str, Curation] | None = None,
        context_of: Callable[[Claim], ExchangeContext] = lambda claim: NO_CONTEXT,
        reports: Callable[[], Sequence[Claim]] = lambda: (),
    ) -> None:
        """`forgotten` are the decisions to forget that are in effect, by the URI of the fact;
        `context_of` reads what was said around a claim, `reports` what agents reported."""
        self.drafts: list[FactDraft] = []
        # Claims that state a forgotten fact, each with the decision.
        self.forgotten_claims: list[tuple[Claim, Curation]] = []
        self.dropped: Counter[str] = Counter()
        self._decisions = {c.id: c for c in decisions if c.kind == "fact"}
        self._forgets = forgotten or {}
        self._forgotten: list[tuple[FactKind, StatementFeatures, Curation | None]] = []
        # Drafts by stem, so that a statement is compared only with drafts that share a stem.
        self._by_stem: dict[str, list[FactDraft]] = {}
        self._by_claim: dict[str, FactDraft] = {}
        self._context_of = context_of
        self._reports = reports
        self._pool = StatementPool((), context_of)
        self._ids = FactIds()

    def add_claims(self, claims: Sequence[Claim], remembered: Sequence[Claim]) -> None:
        """Build facts from all claims, in order of time. `remembered` are claims that people asked
        to remember: they pass the junk filter."""
        stated = [c for c in claims if c.kind in _RULE_CLAIMS and c.by_person]
        plain = [c for c in claims if c.kind is ClaimKind.STATEMENT]
        ordered = sorted(
            [*stated, *remembered, *plain],
            key=lambda c: (c.time, c.seq, c.kind is ClaimKind.STATEMENT, c.id),
        )
        remembered_ids = {claim.id for claim in remembered}
        self._ids = FactIds([*ordered, *claims])
        self._collect_forgotten([*ordered, *claims])
        self._pool = StatementPool(ordered, self._context_of, self._reports)
        for claim in ordered:
            is_remembered = claim.id in remembered_ids
            is_plain = claim.kind is ClaimKind.STATEMENT
            reason = None if is_remembered or is_plain else junk_reason(claim)
            if is_plain:
                self._link(claim)
            elif reason is not None:
                self.dropped[reason.value] += 1
            else:
                self._add_statement(claim, FactKind.RULE, is_remembered)
        for claim in claims:
            if claim.kind is ClaimKind.CORE_LOGIC:
                self._add_statement(claim, FactKind.CORE_LOGIC, False)
        solved, unproven = find_solved_problems(claims)
        self.dropped[JunkReason.UNPROVEN.value] += unproven
        for problem in solved:
            self._add_solution(problem, claims)

    def _collect_forgotten(self, claims: Iterable[Claim]) -> None:
        """Note the statements that people forgot, so that rephrasings of them are ignored too."""
        forgotten = {id for id, decision in self._decisions.items() if decision.forgotten}
        for claim in claims if forgotten else ():
            kind = _FACT_KINDS.get(claim.kind, FactKind.RULE)
            id = self._ids.of(kind, claim.text)
            if id in forgotten:
                decision = self._forgets.get(uri("fact", id))
                self._forgotten.append((kind, statement_features(claim.text), decision))

    def _is_forgotten(self, kind: FactKind, features: StatementFeatures, claim: Claim) -> bool:
        """Whether a claim states what was forgotten. One that was made after that decision states
        it anew."""
        for own, other, decision in self._forgotten:
            earlier = decision is None or claim.time <= decision.time
            if kind is own and earlier and says_the_same(features, other):
                if decision is not None:
                    self.forgotten_claims.append((claim, decision))
                self.dropped["forgotten"] += 1
                return True
        return False

    def _add_statement(self, claim: Claim, kind: FactKind, remembered: bool) -> None:
        features = statement_features(claim.text)
        if self._is_forgotten(kind, features, claim):
            return
        similar = self._drafts_sharing_stems(features, kind)
        draft = next((d for d in similar if says_the_same(features, d.features)), None)
        if draft is None:
            draft = self._create(claim, kind, features)
        else:
            self.dropped[JunkReason.DUPLICATE.value] += 1
        self._confirm(draft, claim, remembered)
        is_linked = self._supersede_amended(draft, claim, features, similar)
        if kind is FactKind.RULE and not is_linked:
            self._link(claim)
        elif kind is FactKind.RULE:
            self._pool.add(claim)

    def _link(self, claim: Claim) -> None:
        """Link a statement to the one of an earlier session that it amends. Both become facts,
        though neither says that it is a rule: who amends something wants it kept to. What was
        pasted amends nothing, and neither does a question."""
        if is_data(claim.text) or claim.text.rstrip().endswith(("?", "？")):
            return
        found = self._pool.find_amended(claim, lambda earlier: self._is_open(earlier, claim))
        self._pool.add(claim)
        if found is None or _repeats(found.later.text, found.earlier.text):
            return
        old = self._draft_of(found.earlier)
        new = self._draft_of(found.later)
        if old is None or new is None or old is new:
            return
        for claim_again in found.repeated:
            if claim_again.id not in self._by_claim:
                self._confirm(old, claim_again, False)
        if found.in_part:
            self._amend(old, new, claim)
        else:
            self._supersede(old, new, claim)

    def _is_open(self, earlier: Claim, later: Claim) -> bool:
        """Whether a statement may be amended: it holds, and the exchange of the later one has not
        amended it already."""
        draft = self._by_claim.get(earlier.id)
        if draft is None:
            return True
        if draft.status in ENDED_STATUSES:
            return False
        by = [d for d in self.drafts if draft.superseded_by and d.uri == draft.superseded_by]
        stated_in = {claim.exchange for d in (draft, *by) for claim in d.claims if claim.exchange}
        return later.exchange not in stated_in

    def _draft_of(self, claim: Claim) -> FactDraft | None:
        """The fact of a claim: its own, that of a rule in the same turn, or a new one; None if it
        was forgotten."""
        draft = self._by_claim.get(claim.id) or self._by_turn(claim)
        if draft is not None:
            return draft
        features = statement_features(claim.text)
        if self._is_forgotten(FactKind.RULE, features, claim):
            return None
        similar = self._drafts_sharing_stems(features, FactKind.RULE)
        draft = next((d for d in similar if says_the_same(features, d.features)), None)
        draft = draft or self._create(claim, FactKind.RULE, features)
        self._confirm(draft, claim, False)
        return draft

    def _by_turn(self, claim: Claim) -> FactDraft | None:
        """The fact that another claim of the same turn states."""
        for draft in reversed(self.drafts) if claim.turn else ():
            if any(other.turn == claim.turn for other in draft.claims):
                return draft
        return None

    def _create(self, claim: Claim, kind: FactKind, features: StatementFeatures) -> FactDraft:
        draft = FactDraft(
            kind, self._ids.of(kind, claim.text), claim.text, claim.trust, claim.time, [], set(),
            features, files=claim.files,
        )  # fmt: skip
        draft.status_history.append(
            StatusChange("fact", draft.id, claim.time, draft.status, claim_uri(claim))
        )
        self.drafts.append(draft)
        for stem in features.content:
            self._by_stem.setdefault(stem, []).append(draft)
        return draft

    def _drafts_sharing_stems(self, features: StatementFeatures, kind: FactKind) -> list[FactDraft]:
        """The drafts that share stems with a statement, the most similar first."""
        found = {
            id(draft): draft
            for stem in features.content
            for draft in self._by_stem.get(stem, ())
            if draft.kind is kind
        }
        return sorted(
            found.values(),
            key=lambda d: (-jaccard(features.content, d.features.content), d.since, d.id),
        )

    def _confirm(self, draft: FactDraft, claim: Claim, remembered: bool) -> None:
        """Add a statement to a draft: it is verified once a second session states it."""
        is_repeated = bool(draft.sessions) and claim.session not in draft.sessions
        how = EvidenceKind.REMEMBERED if remembered else EvidenceKind.STATED
        draft.add_claim(claim, how, self._ids.of(draft.kind, claim.text))
        draft.sessions.add(claim.session)
        self._by_claim[claim.id] = draft
        if draft.status in (*ENDED_STATUSES, *REPLACED_STATUSES):
            # A superseded rule that is stated again is in force again.
            draft.until, draft.superseded_by = "", ""
            draft.set_status(Status.OBSERVED, claim.time, claim_uri(claim))
        if remembered or is_repeated:
            draft.set_status(Status.VERIFIED, claim.time, claim_uri(claim))

    def _supersede_amended(
        self,
        draft: FactDraft,
        claim: Claim,
        features: StatementFeatures,
        similar: Iterable[FactDraft],
    ) -> bool:
        """Supersede the fact that a statement amends: the most similar one in force. Returns
        whether there was one."""
        for other in similar:
            in_force = other is not draft and other.status not in ENDED_STATUSES
            is_older = in_force and other.since < claim.time
            if is_older and (supersedes(features, other.features) or other.uri in draft.supersedes):
                self._supersede(other, draft, claim)
                return True
        return False

    def _amend(self, old: FactDraft, new: FactDraft, claim: Claim) -> None:
        """Note that a fact holds with a change. It is not ended."""
        old.set_status(Status.AMENDED, claim.time, claim_uri(claim))
        old.superseded_by = new.uri
        new.supersedes.append(old.uri)

    def _supersede(self, old: FactDraft, new: FactDraft, claim: Claim) -> None:
        old.set_status(Status.SUPERSEDED, claim.time, claim_uri(claim))
        old.until, old.superseded_by = claim.time, new.uri
        new.supersedes.append(old.uri)

    def _add_solution(self, problem: SolvedProblem, claims: Sequence[Claim]) -> None:
        claim = problem.solution
        features = statement_features(claim.text)
        if self._is_forgotten(FactKind.SOLUTION, features, claim):
            return
        earlier_ids = {c.id for c in problem.before}
        solutions = [d for d in self.drafts if d.kind is FactKind.SOLUTION]
        earlier = [d for d in solutions if any(c.id in earlier_ids for c in d.claims)]
        overlaps = [(jaccard(d.features.content, features.content), d) for d in earlier]
        draft = next((d for overlap, d in overlaps if overlap > _SAME_SOLUTION_OVERLAP), None)
        if draft is None:
            draft = self._create(claim, FactKind.SOLUTION, features)
            draft.problem = claim.problem
            draft.trust = least_trusted((claim.trust, *(c.trust for c in problem.before)))
            for old in earlier:
                if old.status not in ENDED_STATUSES:
                    self._supersede(old, draft, claim)
        draft.attempts = max(draft.attempts, problem.attempts)
        draft.add_claim(claim, EvidenceKind.STATED, self._ids.of(draft.kind, claim.text))
        draft.set_status(Status.VERIFIED, claim.time, claim_uri(claim))
        for attempt in recurrences(problem, claims):
            if draft.holds_at(attempt.time):
                draft.add_evidence(attempt.time, claim_uri(attempt), EvidenceKind.RECURRED)


def _repeats(later: str, earlier: str) -> bool:
    """Whether a statement only says again what an earlier one says."""
    return says_the_same(statement_features(later), statement_features(earlier))


def claim_uri(claim: Claim) -> str:
    """The URI of the turn that states a claim, or of the exchange that was corrected, or memory."""
    if claim.turn:
        return uri("turn", claim.turn)
    return uri("exchange", claim.exchange) if claim.exchange else uri("memory", claim.id)


def apply_decisions(
    drafts: Iterable[FactDraft], decisions: Iterable[CurationState]
) -> list[FactDraft]:
    """The drafts to show: without merged ones, and with the corrected texts, unless the original
    was stated again after its correction."""
    by_id = {c.id: c for c in decisions if c.kind == "fact"}
    kept: list[FactDraft] = []
    merged: list[tuple[FactDraft, str]] = []
    for draft in drafts:
        about = [by_id[id] for id in sorted(draft.statement_ids) if id in by_id]
        target = next((c.into for c in about if c.into), "")
        if target:
            merged.append((draft, target))
            continue
        correction = max((c for c in about if c.text), key=lambda c: c.time, default=None)
        if correction is not None and draft.is_stated_after(correction.time):
            draft.overruled = correction
        elif correction is not None:
            draft.corrected = correction
            draft.content = correction.text
            if draft.status in ENDED_STATUSES and draft.until > correction.time:
                kept.append(draft)  # a later statement replaced what it was corrected to
                continue
            draft.trust = correction.trust_of(draft.trust)
            status = Status.OBSERVED if correction.by_agent else Status.VERIFIED
            draft.set_status(status, max(correction.time, draft.since), draft.uri)
        kept.append(draft)
    for draft, target in merged:
        _merge(draft, target, kept)
    return kept


def _merge(draft: FactDraft, target: str, kept: Iterable[FactDraft]) -> None:
    """Add a merged fact to its target, which is then only as trusted as the less trusted of both;
    a person's correction stays theirs."""
    for other in kept:
        if other.superseded_by == draft.uri and other.uri != target:
            other.superseded_by = target
        if other.uri == target:
            for evidence in draft.evidence:
                other.add_evidence(evidence.time, evidence.uri, evidence.how)
            other.claims += draft.claims
            if other.corrected is None or other.corrected.by_agent:
                other.trust = least_trusted((other.trust, draft.trust))
            other.supersedes += [name for name in draft.supersedes if name != other.uri]
