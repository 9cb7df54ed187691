"""The stage that makes facts: reads a bank's claims and deeds, and writes what they come to.

It looks at all of a bank whenever anything in it changed. What it writes is whole or not at all;
what stays the same is not written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from holdfast.language import cut
from holdfast.model.accounts import Used
from holdfast.model.corrections import worded_memory
from holdfast.model.curation import Action, Curated, Curation
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Claim, ClaimKind, FactKind, How, Review, ReviewState
from holdfast.model.trust import ENDED, Status
from holdfast.model.uris import uri
from holdfast.refine.core.passages import fact_passage
from holdfast.refine.core.statement_similarity import jaccard, statement_features
from holdfast.refine.facts.claim_outcomes import ClaimOutcomes
from holdfast.refine.facts.fact_builder import FactBuilder, FactDraft, apply_decisions, claim_uri
from holdfast.refine.facts.rule_violations import RuleCheck, rule_check, complies
from holdfast.store.protocol import Writer
from holdfast.store.protocol.facts import DerivedKnowledge, FactWithPassage

NAME = "facts"
VERSION = 2
# So many deeds against a rule ask for a person.
BREACHES = 5
_DISPUTED = 0.4


def update_facts(writer: Writer, on_progress: Callable[[], None] = lambda: None) -> int:
    """Bring the facts of every bank up to date that is behind; returns how many banks were."""
    behind = writer.banks_behind(NAME, VERSION)
    for bank in behind:
        update_bank_facts(writer, bank)
        on_progress()
    return len(behind)


def update_bank_facts(writer: Writer, bank: str) -> None:
    """Bring the facts of one bank up to date, if it is behind."""
    with writer.transaction():
        last = 0
        while changes := writer.changes(bank, NAME, VERSION):
            last = changes[-1].number
            writer.reach(bank, NAME, VERSION, last)
        if last:
            writer.put_knowledge(bank, _knowledge(writer, bank))


def _knowledge(writer: Writer, bank: str) -> DerivedKnowledge:
    claims = writer.claims(bank)
    decisions = writer.curated_in(bank, "")
    facts = FactBuilder(decisions)
    facts.grow(claims, _remembered(writer, bank))
    shown = apply_decisions(facts, decisions)
    _hold_against_deeds(writer, bank, shown)
    _count_uses(writer.uses(bank), shown)
    _confirm(writer.curations(bank), shown)
    _dispute(shown, claims)
    reviews = _review(bank, shown, decisions)
    course = ClaimOutcomes(claims)
    course.apply_claims()
    for draft in shown:
        _end_claims(course, draft)
    made = [draft.fact(bank) for draft in shown]
    return DerivedKnowledge(
        [
            FactWithPassage(fact, fact_passage(fact) if draft.is_told else None)
            for fact, draft in zip(made, shown, strict=True)
        ],
        [*(life for draft in shown for life in draft.lives), *course.status_changes()],
        [bearing._replace(fact=draft.id) for draft in shown for bearing in draft.bearings],
        reviews,
        sorted(facts.dropped.items()),
    )


def _remembered(writer: Writer, bank: str) -> list[Claim]:
    """What people asked to remember and did not forget since, as claims of no turn."""
    found: list[Claim] = []
    for memory in writer.memories(bank):
        known = writer.curated(bank, "memory", memory.id)
        if known is not None and known.gone:
            continue
        if memory.by_agent and not (known and known.text):
            continue  # an agent's words bind nobody, until a person says them anew
        now = worded_memory(memory, known.text) if known is not None and known.text else memory
        found.append(
            Claim(
                bank, memory.id, f"memory {memory.id}", "", "", 0, memory.when, ClaimKind.RULING,
                cut(now.what, 1000), memory.trust, by_person=True,
            )
        )  # fmt: skip
    return found


def _hold_against_deeds(writer: Writer, bank: str, shown: Iterable[FactDraft]) -> None:
    """Count what was done along with a rule, once a session, and what was done against it."""
    checks: list[tuple[FactDraft, RuleCheck]] = []
    for draft in shown:
        check = rule_check(draft.content) if draft.kind is FactKind.RULE else None
        if check is not None:
            checks.append((draft, check))
    words = dict.fromkeys(word for _, check in checks for word in check.search_words)
    followed: set[tuple[str, str]] = set()
    for turn in writer.deeds(bank, list(words)):
        for draft, check in checks:
            if not turn.time or not draft.holds_at(turn.time) or turn.time == draft.since:
                continue
            went = complies(check, turn)
            if went is False:
                draft.bear(turn.time, uri("turn", turn.id), How.BREACHED)
            elif went and (draft.id, turn.session) not in followed:
                followed.add((draft.id, turn.session))
                draft.bear(turn.time, uri("turn", turn.id), How.FOLLOWED)


def _count_uses(uses: Iterable[Used], shown: Iterable[FactDraft]) -> None:
    """What a session was told and made use of is borne out by it, once a session."""
    stated: dict[str, dict[str, FactDraft]] = {}
    for draft in shown:
        names = [uri("fact", name) for name in draft.names] + [claim_uri(c) for c in draft.claims]
        for name in (draft.uri, *names):
            stated.setdefault(name, {})[draft.id] = draft
    counted: set[tuple[str, str]] = set()
    for use in uses:
        found = list(stated.get(use.record, {}).values())
        if len(found) != 1:
            continue  # of a turn that states several, nobody can tell which was of use
        (known,) = found
        if (known.id, use.session) not in counted and known.holds_at(use.time):
            counted.add((known.id, use.session))
            known.bear(use.time, uri("turn", use.turn) if use.turn else use.record, How.USED)


def _confirm(log: Sequence[Curation], shown: Iterable[FactDraft]) -> None:
    """That a person says a fact still holds bears it out, once for each person."""
    undone = {entry.target for entry in log if entry.action is Action.UNDO}
    said = [e for e in log if e.action is Action.CONFIRM and str(e.seq) not in undone]
    facts = {draft.uri: draft for draft in shown} if said else {}
    latest = {(entry.target, entry.who): entry for entry in said if entry.target in facts}
    for (target, _), entry in latest.items():
        if facts[target].holds_at(entry.time):
            facts[target].add_evidence(entry.time, target, How.CONFIRMED)


def _dispute(shown: Sequence[FactDraft], claims: Iterable[Claim]) -> None:
    """A person says that a rule is wrong, without laying down another; or anybody that a solution
    was none. Tests that passed cannot tell that, so it is for a person to apply_decisions."""
    for claim in claims:
        if claim.kind is not ClaimKind.DISPROOF:
            continue
        said = statement_features(claim.text)
        about = [g for g in shown if claim.by_person or g.kind is FactKind.SOLUTION]
        near = [g for g in about if g.holds_at(claim.time) and g.since < claim.time]
        scored = [(len(said.topic & g.shape.topic), jaccard(said.topic, g.shape.topic), g.id, g)
                  for g in near]  # fmt: skip
        shared, alike, _, best = max(scored, default=(0, 0.0, "", None), key=lambda s: s[:3])
        if best is not None and shared >= 2 and alike >= _DISPUTED:
            best.bear(claim.time, claim_uri(claim), How.DISPUTED)


def _review(bank: str, shown: Iterable[FactDraft], decisions: Iterable[Curated]) -> list[Review]:
    """What people should apply_decisions, and have decided. A rule that was kept is asked about again only
    for what comes after."""
    verdicts = {c.id: c for c in decisions if c.kind == "review" and c.text}
    found: list[Review] = []
    for draft in shown:
        since = ""
        while item := _item(bank, draft, since):
            verdict = verdicts.get(item.id)
            if verdict is None:
                if draft.status not in ENDED:
                    found.append(item)
                break
            state = ReviewState(verdict.text)
            found.append(_decided(item, verdict, state))
            if state is ReviewState.RETIRED:
                draft.become(Status.RETRACTED, verdict.time, uri("review", item.id))
                draft.until = verdict.time
                break
            since = verdict.time
            draft.bear(verdict.time, uri("review", item.id), How.STATED)
    return found


def _item(bank: str, draft: FactDraft, since: str) -> Review | None:
    against = [b for b in draft.bearings if b.against and b.time > since]
    breaches = [b for b in against if b.how is How.BREACHED]
    disputes = [b for b in against if b.how is How.DISPUTED]
    if disputes:
        kind, told, opened = "correction", disputes, disputes[0].time
        reason = "somebody said that it is wrong"
    elif len(breaches) >= BREACHES:
        kind, told, opened = "contradiction", breaches, breaches[BREACHES - 1].time
        reason = f"{len(breaches)} deeds went against it"
    else:
        return None
    id = content_id("review", draft.id, kind, since)
    names = tuple(dict.fromkeys(b.uri for b in told))
    return Review(bank, id, kind, draft.uri, reason, opened, names)


def _decided(item: Review, verdict: Curated, state: ReviewState) -> Review:
    return Review(
        item.bank, item.id, item.kind, item.target, item.reason, item.opened, item.evidence, state,
        verdict.time, verdict.who,
    )  # fmt: skip


def _end_claims(course: ClaimOutcomes, draft: FactDraft) -> None:
    """The statements of a fact share its fate; where they stand, the fact that holds is claim_uri."""
    for life in draft.lives:
        if life.status in ENDED:
            name = draft.superseded_by if life.status is Status.SUPERSEDED else draft.uri
            for claim in draft.claims:
                if claim.exchange and claim.time < life.time:
                    course.set_status(claim, life.time, life.status, name or life.because)
                elif claim.time < life.time:
                    course.set_memory_status(claim.id, life.time, life.status, name or life.because)
