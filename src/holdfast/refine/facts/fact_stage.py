"""The stage that keeps facts up to date from claims, tool calls and people's decisions, and that
closes open tasks among the memories of sessions.

It rebuilds all facts of a bank whenever anything in the bank changed, and writes them in one
transaction. Rows that stay the same are not written again. How facts are built from claims is in
`fact_builder`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from holdfast.language import cut, sentences
from holdfast.model.curation import (
    Action,
    Curation,
    CurationState,
    Judgement,
    Verdict,
    in_effect,
)
from holdfast.model.ids import content_id
from holdfast.model.knowledge import (
    Claim,
    ClaimKind,
    EndedStatement,
    EvidenceKind,
    FactKind,
    Kind,
    Memory,
    Review,
    ReviewState,
)
from holdfast.model.ledgers.injections import RecordUse
from holdfast.model.records import Digest, Exchange, Turn
from holdfast.model.team import Commit
from holdfast.model.trust import (
    ENDED_STATUSES,
    REPLACED_STATUSES,
    Status,
    Trust,
    least_trusted,
)
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.core.curated_records import remembered_by_people, without_overruled
from holdfast.refine.core.passages import fact_passage
from holdfast.refine.core.statement_similarity import jaccard, own_words, statement_features
from holdfast.refine.facts.changed_recaps import changed_recaps
from holdfast.refine.facts.claim_outcomes import ClaimOutcomes
from holdfast.refine.facts.closed_tasks import Closing, find_closings, read_deeds, read_tasks
from holdfast.refine.facts.ended_statements import (
    CORRECTED_TEXTS,
    JudgedText,
    Place,
    StatementLog,
    called_outdated,
    claims_that_ended,
    end_outdated,
    end_repetitions,
    ended_claims,
    ended_facts,
    ended_in_texts,
    ended_memories,
    leaves_people_alone,
    retracted_guesses,
    widen_to_exchanges,
)
from holdfast.refine.facts.fact_builder import FactBuilder, FactDraft, apply_decisions, claim_uri
from holdfast.refine.facts.rule_violations import RuleCheck, complies, rule_check
from holdfast.refine.facts.statement_pool import NO_CONTEXT, ExchangeContext
from holdfast.store.across_tables.lookup import Record
from holdfast.store.knowledge.facts import DerivedFacts, FactWithPassage
from holdfast.store.protocol import Reader, Writer

NAME = "facts"
VERSION = 27
# A remembered text is cut to this length when it becomes the content of a fact.
_MAX_REMEMBERED_CHARS = 1000
# The largest limit that every store accepts.
_ALL = 1 << 31


class ReviewLimits(NamedTuple):
    """When a fact is put to a person for review. Lower limits ask more often."""

    # Tool calls against a rule. One alone may be an exception.
    violations: int = 5
    # A disproof is about a fact if both share this many topic stems, and this share of all of
    # theirs (Jaccard). Below that a "that is wrong" would hit unrelated facts.
    shared_stems: int = 2
    topic_overlap: float = 0.4


_REVIEW = ReviewLimits()


def update_facts(writer: Writer, on_progress: Callable[[], None] = lambda: None) -> int:
    """Update the facts of every bank that has changes; returns how many banks had."""
    behind = writer.progress.banks_behind(NAME, VERSION)
    for bank in behind:
        update_bank_facts(writer, bank)
        on_progress()
    return len(behind)


def update_bank_facts(writer: Writer, bank: str) -> None:
    """Update the facts of one bank, if it has changes."""
    with writer.transaction():
        last = 0
        while changes := writer.progress.unseen_changes(bank, NAME, VERSION):
            last = changes[-1].number
            writer.progress.mark_seen(bank, NAME, VERSION, last)
        if last:
            writer.facts.replace(bank, _build_facts(writer, bank))


class ExchangeContexts:
    """What was said around the claims of a bank; each session is read once."""

    def __init__(self, reader: Reader, bank: str) -> None:
        self._reader = reader
        self._bank = bank
        self._exchanges: dict[str, list[Exchange]] = {}

    def exchanges(self, session: str) -> list[Exchange]:
        """The exchanges of a session in their order."""
        if session not in self._exchanges:
            self._exchanges[session] = self._reader.sessions.exchanges(self._bank, session)
        return self._exchanges[session]

    def of(self, claim: Claim) -> ExchangeContext:
        """The context of a claim; empty for one that no exchange states."""
        if not claim.exchange:
            return NO_CONTEXT
        within = self.exchanges(claim.session)
        at = next((n for n, x in enumerate(within) if x.id == claim.exchange), None)
        if at is None:
            return NO_CONTEXT
        own = within[at]
        before = within[at - 1].summary if at else ""
        after = within[at + 1].title if at + 1 < len(within) else ""
        return ExchangeContext(before, own.title, own.summary, after)


def _build_facts(writer: Writer, bank: str) -> DerivedFacts:
    claims = writer.facts.claims(bank)
    decisions = writer.curation.states_in_session(bank, "")
    decided = in_effect(writer.curation.log(bank))
    log = StatementLog(decided)
    contexts = ExchangeContexts(writer, bank)
    builder = FactBuilder(
        decisions, log.forgotten, contexts.of, cache(lambda: _reports(writer, bank))
    )
    builder.add_claims(claims, _remembered_claims(writer, bank))
    outcomes = ClaimOutcomes(claims)
    outcomes.apply_claims()
    drafts = apply_decisions(builder.drafts, decisions)
    judged = without_overruled(
        writer.curation.judgements(bank),
        decided,
        _statements(writer, bank, drafts),
        lambda: {draft.content for draft in drafts if draft.status in ENDED_STATUSES},
    )
    outdated = {name: one for name, one in judged.items() if one.verdict is Verdict.OUTDATED}
    end_outdated(drafts, outdated)
    ended = [
        *_called_outdated(writer, bank, outdated),
        *ended_claims(builder.forgotten_claims, log),
        *ended_memories(log, _memory_texts(writer, bank, decisions)),
        *ended_in_texts(
            (
                state
                for kind in CORRECTED_TEXTS
                for state in writer.curation.states_of_kind(bank, kind)
            ),
            lambda state: _place_of(writer, state),
        ),
    ]
    end_repetitions(drafts, ended)
    _add_compliance(writer, bank, drafts)
    _add_uses(writer.facts.uses(bank), drafts)
    _add_confirmations(writer.curation.log(bank), drafts)
    _add_disputes(drafts, claims)
    reviews = _collect_reviews(bank, drafts, decisions)
    for draft in drafts:
        _end_claims(outcomes, draft)
    ended += ended_facts(drafts, log)
    for claim, ending in claims_that_ended(claims, ended):
        if claim.by_person and leaves_people_alone(ending):
            continue
        if outcomes.status(claim) not in ENDED_STATUSES:
            because = ending.instead or ending.record
            outcomes.set_status(claim, ending.ended, ending.reason.status, because)
    ended += retracted_guesses(claims, outcomes.last_change)
    closings = _closings(writer, bank, claims)
    ended += [closing.ended for closing in closings]
    facts = [draft.to_fact(bank) for draft in drafts]
    return DerivedFacts(
        [
            FactWithPassage(
                fact,
                fact_passage(fact) if draft.was_said_in_session else None,
            )
            for fact, draft in zip(facts, drafts, strict=True)
        ],
        [
            *(change for draft in drafts for change in draft.status_history),
            *outcomes.status_changes(),
            *(closing.status_change for closing in closings),
            *changed_recaps(writer.memories.recaps(bank, _ALL, only_open=False)),
        ],
        [evidence._replace(fact=draft.id) for draft in drafts for evidence in draft.evidence],
        reviews,
        sorted(builder.dropped.items()),
        sorted(set(widen_to_exchanges(ended, contexts.exchanges))),
    )


def _reports(writer: Writer, bank: str) -> list[Claim]:
    """What the agents of a bank reported at the end of their exchanges, a sentence a claim. Few
    statements need them: those that name the day of what they replace."""
    return [
        Claim(
            bank, content_id("claim", exchange.id, sentence), exchange.session, exchange.id, "",
            exchange.last_seq, exchange.ended, ClaimKind.STATEMENT, sentence,
            least_trusted((exchange.trust, Trust.ASSISTANT)),
        )
        for exchange in writer.sessions.bank_exchanges(bank)
        if exchange.trust is not Trust.EXTERNAL
        for sentence in sentences(exchange.summary)
    ]  # fmt: skip


def _closings(writer: Writer, bank: str, claims: Sequence[Claim]) -> list[Closing]:
    """The tasks of a bank that were done since."""
    tasks = read_tasks(writer.memories.retained(bank, limit=_ALL, kind=Kind.TODO))
    if not tasks:
        return []
    outcomes = writer.memories.retained(bank, limit=_ALL, kind=Kind.OUTCOME)

    def time_of(turn: str) -> str:
        found = writer.records.find(bank, "turn", turn.rpartition("/")[2], 1)
        return next((one.time for one in found if isinstance(one, Turn)), "")

    return find_closings(tasks, read_deeds(outcomes, claims), time_of)


def _place_of(writer: Writer, state: CurationState) -> Place:
    """Where a turn or an exchange is in its session; of anything else, the session alone."""
    for record in writer.records.find(state.bank, state.kind, state.id, 1):
        if isinstance(record, Turn):
            return record.session, record.seq, record.seq
        if isinstance(record, Exchange):
            return record.session, record.first_seq, record.last_seq
    return state.session, 0, 0


def _called_outdated(
    writer: Writer, bank: str, judged: Mapping[str, Judgement]
) -> list[EndedStatement]:
    """What ended by verdicts on other records than facts."""
    found: list[EndedStatement] = []
    for name, verdict in judged.items():
        named = parse_uri(name)
        for record in writer.records.find(bank, *named, 1) if named is not None else ():
            said = _judged_text(record)
            found += called_outdated(name, verdict, said) if said is not None else []
    return found


def _statements(writer: Writer, bank: str, drafts: Iterable[FactDraft]) -> Callable[[str], str]:
    """Says what a fact or a memory states; "" for another record."""
    facts = {
        uri("fact", id): draft.content
        for draft in drafts
        for id in (*draft.statement_ids, draft.id)
    }

    def text_of(name: str) -> str:
        named = parse_uri(name)
        if named is None or named.kind != "memory":
            return facts.get(name, "")
        found = writer.records.find(bank, *named, 1)
        return next((own_words(one.what) for one in found if isinstance(one, Memory)), "")

    return text_of


def _judged_text(record: Record) -> JudgedText | None:
    match record:
        case Memory():
            return JudgedText(own_words(record.what), record.when, is_statement=True)
        case Exchange():
            text = "\n\n".join((record.title, record.summary, *record.facts))
            return JudgedText(text, record.started, False, record.session)
        case Digest():
            parts = (record.request, *record.completed, *record.learned, *record.next_steps)
            return JudgedText("\n\n".join(parts), record.started, False, record.session)
        case Commit():
            text = "\n\n".join(filter(None, (record.subject, record.body)))
            return JudgedText(text, record.time, is_statement=False)
        case _:
            return None


def _memory_texts(
    writer: Writer, bank: str, decisions: Iterable[CurationState]
) -> dict[str, tuple[str, str]]:
    """The original words of memories, and their times, by id: of all that were remembered, and of
    others that were corrected."""
    found = {c.id: (c.was, "") for c in decisions if c.kind == "memory" and c.was}
    remembered = writer.memories.remembered_uncurated(bank)
    return found | {memory.id: (memory.what, memory.when) for memory in remembered}


def _remembered_claims(writer: Writer, bank: str) -> list[Claim]:
    """Texts that people asked to remember and did not forget since, as claims without a turn."""
    return [
        Claim(
            bank, memory.id, f"memory {memory.id}", "", "", 0, memory.when, ClaimKind.RULING,
            cut(memory.what, _MAX_REMEMBERED_CHARS), memory.trust, by_person=True,
        )
        for memory in remembered_by_people(writer, bank)
    ]  # fmt: skip


def _add_compliance(writer: Writer, bank: str, drafts: Iterable[FactDraft]) -> None:
    """Add tool calls that follow a rule (once a session) and those that violate it (each)."""
    checks: list[tuple[FactDraft, RuleCheck]] = []
    for draft in drafts:
        check = rule_check(draft.content) if draft.kind is FactKind.RULE else None
        if check is not None:
            checks.append((draft, check))
    words = dict.fromkeys(word for _, check in checks for word in check.search_words)
    followed: set[tuple[str, str]] = set()
    for turn in writer.turns.tool_calls_matching(bank, list(words)):
        for draft, check in checks:
            if not turn.time or not draft.holds_at(turn.time) or turn.time == draft.since:
                continue
            follows = complies(check, turn)
            if follows is False:
                draft.add_evidence(turn.time, uri("turn", turn.id), EvidenceKind.BREACHED)
            elif follows and (draft.id, turn.session) not in followed:
                followed.add((draft.id, turn.session))
                draft.add_evidence(turn.time, uri("turn", turn.id), EvidenceKind.FOLLOWED)


def _add_uses(uses: Iterable[RecordUse], drafts: Iterable[FactDraft]) -> None:
    """Add uses as evidence: a session had a fact in its context and used it, once a session."""
    stated_in: dict[str, dict[str, FactDraft]] = {}
    for draft in drafts:
        uris = [uri("fact", id) for id in draft.statement_ids]
        uris += [claim_uri(claim) for claim in draft.claims]
        for name in (draft.uri, *uris):
            stated_in.setdefault(name, {})[draft.id] = draft
    counted: set[tuple[str, str]] = set()
    for use in uses:
        found = list(stated_in.get(use.record, {}).values())
        if len(found) != 1:
            continue  # a turn that states several facts does not show which one was used
        (draft,) = found
        if (draft.id, use.session) not in counted and draft.holds_at(use.time):
            counted.add((draft.id, use.session))
            source = uri("turn", use.turn) if use.turn else use.record
            draft.add_evidence(use.time, source, EvidenceKind.USED)


def _add_confirmations(log: Sequence[Curation], drafts: Iterable[FactDraft]) -> None:
    """Add the latest confirmation of each person as evidence for a fact."""
    confirmed = [entry for entry in in_effect(log) if entry.action is Action.CONFIRM]
    facts = {draft.uri: draft for draft in drafts} if confirmed else {}
    latest = {(entry.target, entry.who): entry for entry in confirmed if entry.target in facts}
    for (target, _), entry in latest.items():
        if facts[target].holds_at(entry.time):
            facts[target].add_evidence(entry.time, target, EvidenceKind.CONFIRMED)


def _add_disputes(drafts: Sequence[FactDraft], claims: Iterable[Claim]) -> None:
    """Add disproofs as evidence against the most similar fact. A person may dispute any fact, an
    agent only a solution: passing tests do not prove a solution, so a person decides."""
    for claim in claims:
        if claim.kind is not ClaimKind.DISPROOF:
            continue
        topic = statement_features(claim.text).topic
        scored = [
            (len(topic & d.features.topic), jaccard(topic, d.features.topic), d.id, d)
            for d in drafts
            if (claim.by_person or d.kind is FactKind.SOLUTION)
            and d.holds_at(claim.time)
            and d.since < claim.time
        ]
        shared, overlap, _, best = max(scored, default=(0, 0.0, "", None), key=lambda s: s[:3])
        similar = shared >= _REVIEW.shared_stems and overlap >= _REVIEW.topic_overlap
        if best is not None and similar:
            best.add_evidence(claim.time, claim_uri(claim), EvidenceKind.DISPUTED)


def _collect_reviews(
    bank: str, drafts: Iterable[FactDraft], decisions: Iterable[CurationState]
) -> list[Review]:
    """The open and the decided reviews. A fact that a person kept is put to review again only for
    evidence after that decision; one that a person retired is retracted here."""
    verdicts = {c.id: c for c in decisions if c.kind == "review" and c.text}
    reviews: list[Review] = []
    for draft in drafts:
        since = ""
        while review := _open_review(bank, draft, since):
            verdict = verdicts.get(review.id)
            if verdict is None:
                if draft.status not in ENDED_STATUSES:
                    reviews.append(review)
                break
            state = ReviewState(verdict.text)
            reviews.append(replace(review, state=state, decided=verdict.time, by=verdict.who))
            if state is ReviewState.RETIRED:
                draft.set_status(Status.RETRACTED, verdict.time, uri("review", review.id))
                draft.until = verdict.time
                break
            since = verdict.time
            draft.add_evidence(verdict.time, uri("review", review.id), EvidenceKind.STATED)
    return reviews


def _open_review(bank: str, draft: FactDraft, since: str) -> Review | None:
    """The review that the evidence against a fact after `since` calls for, if any."""
    against = [e for e in draft.evidence if e.against and e.time > since]
    violations = [e for e in against if e.how is EvidenceKind.BREACHED]
    disputes = [e for e in against if e.how is EvidenceKind.DISPUTED]
    if disputes:
        kind, reasons, opened = "correction", disputes, disputes[0].time
        reason = "somebody said that it is wrong"
    elif len(violations) >= _REVIEW.violations:
        kind, reasons = "contradiction", violations
        opened = violations[_REVIEW.violations - 1].time
        reason = f"{len(violations)} actions contradict it"
    else:
        return None
    id = content_id("review", draft.id, kind, since)
    uris = tuple(dict.fromkeys(e.uri for e in reasons))
    return Review(bank, id, kind, draft.uri, reason, opened, uris)


def _end_claims(outcomes: ClaimOutcomes, draft: FactDraft) -> None:
    """Give the statements of an ended or amended fact its status, with the fact that now holds as
    reason."""
    for change in draft.status_history:
        if change.status not in (*ENDED_STATUSES, *REPLACED_STATUSES):
            continue
        holds = draft.superseded_by if change.status in REPLACED_STATUSES else draft.uri
        because = holds or change.because
        for claim in draft.claims:
            if claim.time >= change.time:
                continue
            if outcomes.tracks(claim):
                outcomes.set_status(claim, change.time, change.status, because)
            elif not claim.exchange:
                outcomes.set_memory_status(claim.id, change.time, change.status, because)
