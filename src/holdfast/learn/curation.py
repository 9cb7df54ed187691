"""Curation: remember, correct, forget, restore, confirm, merge and undo.

Each decision is one entry of an append-only log. In the same transaction everything that depends on
it is derived again, so nobody sees a decision half applied. Canonical rows do not change: a
forgotten record is left out of every answer, and undoing brings back the same rows. What the log
amounts to is computed in `decision_state`; verdicts are in `judging`, erasing for good in
`erasure`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from holdfast.errors import InputError, NotFoundError
from holdfast.learn import import_intake, opinions, share_intake
from holdfast.learn.decision_state import (
    batch_entries,
    current_state,
    independently_undoable,
    undoable,
)
from holdfast.model.corrections import corrected_memory
from holdfast.model.curation import Action, Curation, CurationState, Verdict, in_effect, is_agent
from holdfast.model.ids import content_id
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import (
    Fact,
    Memory,
    Network,
    Pattern,
    Review,
    ReviewState,
    Rule,
    Validity,
)
from holdfast.model.records import Role, Session, Turn
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.lookup.trace import find_record
from holdfast.refine.core.passages import commit_passage, memory_passage
from holdfast.refine.facts.fact_stage import update_bank_facts
from holdfast.refine.git.forge_threads import FORGE_KINDS, refresh_passages
from holdfast.refine.git.history import curated_commit_passage
from holdfast.refine.memories.memory_stage import publish_changed_memories
from holdfast.refine.sessions.derive import derive_session
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader, Writer
from holdfast.store.records.sessions import StaleSession

CORRECTABLE_KINDS = (
    "turn", "exchange", "digest", "memory", "commit", "concept", "fact", "entity", "pull", "issue",
    "remark",
)  # fmt: skip
MERGEABLE_KINDS = ("exchange", "memory", "commit", "concept", "fact")
_BATCH_KINDS = (share_intake.SHARE_IMPORT, import_intake.IMPORT_BATCH)
# A memory is a statement, not a document: a longer text belongs into a file of the project.
MAX_TEXT_CHARS = 20_000


class Target(NamedTuple):
    """A record to decide about; not `shown` if it was forgotten."""

    bank: str
    kind: str
    id: str
    session: str = ""
    shown: bool = True

    @property
    def uri(self) -> str:
        """The URI of the record."""
        return uri(self.kind, self.id)


def find_target(reader: Reader, bank: str | None, text: str) -> Target:
    """The record of a URI or of the start of an id, shown or forgotten; InputError if it cannot be
    curated."""
    parsed = parse_uri(text)
    hidden = reader.curation.find_hidden(bank, parsed.kind, parsed.id) if parsed else []
    exact = [c for c in hidden if parsed and c.id == parsed.id]
    hidden = exact or hidden
    try:
        record = find_record(reader, bank, text)
    except NotFoundError:
        if not hidden or reader.records.find(bank, *(parsed or ("", ""))):
            raise
    else:
        if not exact:
            return target_of(_check_curatable(record))
    if len(hidden) > 1:
        names = ", ".join(uri(c.kind, c.id) for c in hidden)
        raise NotFoundError(f"Several records start with {text!r}.", f"One of: {names}.")
    c = hidden[0]
    return Target(c.bank, c.kind, c.id, c.session, shown=False)


def find_confirmable(reader: Reader, bank: str | None, text: str) -> Target:
    """The same for `Curator.confirm`, which takes rules, too."""
    parsed = parse_uri(text)
    if parsed is not None and parsed.kind == "rule":
        return target_of(find_record(reader, bank, text))
    return find_target(reader, bank, text)


def _check_curatable(record: Record) -> Record:
    """The record; InputError for a rule, which is part of a file, and for a pattern, which follows
    from other records."""
    if isinstance(record, Rule):
        raise InputError(
            f"{uri('rule', record.id)} is a part of {record.file}.", "Change it there."
        )
    if isinstance(record, Pattern):
        raise InputError(
            f"{uri('pattern', record.id)} is made of other records.",
            "`holdfast promote reject` rejects it; `holdfast forget` hides its evidence.",
        )
    return record


def target_of(record: Record) -> Target:
    """The target for a record that is shown."""
    session = record.id if isinstance(record, Session) else getattr(record, "session", "")
    return Target(record.bank, record_kind(record), record.id, session)


class Curator:
    """Makes decisions in the name of `who` and applies them."""

    def __init__(self, writer: Writer, now: Callable[[], str], who: str) -> None:
        self._writer = writer
        self._now = now
        self._who = who

    def remember(
        self,
        bank: str,
        text: str,
        network: Network = Network.WORLD,
        confidence: float | None = None,
        where: str = "",
        why: str = "",
        trust: Trust = Trust.USER,
        happened: str = "",
    ) -> Memory:
        """Store a text as a memory. The same text is stored once, and restored if it was
        forgotten; an agent's text is stored again when a person states it too. `happened` is
        when that was which it tells."""
        text = _check_text(text)
        _check_confidence(network, confidence)
        with self._writer.transaction():
            same = [
                m
                for m in self._writer.memories.remembered_uncurated(bank)
                if m.what == text
                and m.network is network
                and m.trust in (trust, Trust.USER)
                # Who says it again with another confidence has changed their mind.
                and m.confidence == confidence
                # An agent does not bring back what a person forgot of their own words.
                and (m.trust is trust or not self._is_hidden(bank, m))
            ]
            if same:
                target = Target(bank, "memory", same[0].id)
                known = self._writer.curation.state(bank, "memory", same[0].id)
                if known is not None and known.is_hidden:
                    self._decide(Action.REMEMBER, target)
                    self._decide(Action.RESTORE, target)
                self._end_verdict(target)
                return same[0]
            time = self._now()
            memory = Memory(
                bank, content_id("memory", text, time), network, text, trust,
                when=happened or time, where=where, who=self._who, why=why,
                confidence=confidence,
                status=Status.VERIFIED if trust is Trust.USER else Status.OBSERVED,
                validity=Validity(since=happened or time, learned=time),
            )  # fmt: skip
            self._writer.memories.put_remembered(memory)
            self._decide(Action.REMEMBER, Target(bank, "memory", memory.id))
            return memory

    def _is_hidden(self, bank: str, memory: Memory) -> bool:
        known = self._writer.curation.state(bank, "memory", memory.id)
        return known is not None and known.is_hidden

    def _end_verdict(self, target: Target) -> None:
        """Who says again what was called outdated or unneeded means that it holds, and is useful;
        an agent does not."""
        known = self._writer.curation.judgements(target.bank).get(target.uri)
        if known is None or is_agent(self._who):
            return
        if known.verdict is Verdict.OUTDATED:
            self._decide(Action.CONFIRM, target)
        elif known.verdict is Verdict.UNNEEDED:
            self._decide(Action.JUDGE, target, Verdict.USEFUL.value)

    def correct(self, target: Target, text: str) -> Curation:
        """Replace the words of a record; the old ones are kept as superseded."""
        if target.kind in ("shared", "imported"):
            raise InputError(
                "Shared and imported records cannot be corrected.",
                "Forget it and `holdfast remember` your own text, or correct it at its source.",
            )
        if target.kind not in CORRECTABLE_KINDS:
            raise InputError(
                f"A {target.kind} has no text of its own to correct.",
                "Correct its digest, or one of its exchanges or turns.",
            )
        self._must_be_shown(target)
        if is_agent(self._who) and self._is_said_by_people(target):
            raise InputError(
                f"{target.uri} is what a person said or wrote; an agent cannot change their words.",
                "Store what holds instead as a statement of its own.",
            )
        return self._decide(Action.CORRECT, target, _check_text(text))

    def _is_said_by_people(self, target: Target) -> bool:
        """Whether a record has the words of somebody, under their name."""
        if target.kind == "turn":
            found = self._writer.records.find(target.bank, "turn", target.id, 1)
            return any(isinstance(one, Turn) and one.role is Role.USER for one in found)
        return target.kind == "commit" or target.kind in FORGE_KINDS

    def forget(self, target: Target) -> Curation:
        """Leave a record, and all that is derived from it, out of every answer."""
        if target.kind == "claim":
            raise InputError(
                "A claim is a sentence of a turn.", "Forget its turn; `holdfast show` names it."
            )
        self._must_be_shown(target)
        return self._decide(Action.FORGET, target)

    def restore(self, target: Target) -> Curation:
        """Bring back a record that was forgotten or merged."""
        self._must_not_be_erased(target)
        known = self._writer.curation.state(target.bank, target.kind, target.id)
        if known is None or not known.is_hidden:
            why = "is not forgotten" if target.shown else "is forgotten as a part of something else"
            remedy = "There is nothing to bring back." if target.shown else "Restore that instead."
            raise InputError(f"{target.uri} {why}.", remedy)
        return self._decide(Action.RESTORE, target)

    def confirm(self, target: Target) -> Curation:
        """State that a record still holds although its code changed."""
        self._must_be_shown(target)
        return self._decide(Action.CONFIRM, target)

    def merge(self, target: Target, into: Target) -> Curation:
        """Show `into` instead of `target`, which says the same."""
        if (
            target.kind not in MERGEABLE_KINDS
            or into.kind != target.kind
            or into.bank != target.bank
        ):
            raise InputError(
                f"A {target.kind} cannot be merged into a {into.kind}"
                f"{'' if into.bank == target.bank else ' of another bank'}.",
                f"Two of the same kind and bank can be merged: {', '.join(MERGEABLE_KINDS)}.",
            )
        if target.id == into.id:
            raise InputError("A record cannot be merged into itself.", "Name two records.")
        self._must_be_shown(target)
        self._must_be_shown(into)
        return self._decide(Action.MERGE, target, into.uri)

    def merge_entities(self, one: Target, other: Target) -> Curation:
        """Treat two entities as one."""
        if one.bank != other.bank or one.id == other.id:
            raise InputError(
                "Those are one entity already."
                if one.bank == other.bank
                else "Entities of two banks are never one.",
                "Name two entities of one bank.",
            )
        return self._decide(Action.MERGE, one, other.uri)

    def split_entity(self, spelling: Target, entity: Target) -> Curation:
        """Treat a spelling of an entity as an entity of its own."""
        return self._decide(Action.SPLIT, spelling, entity.uri)

    def undo(self, banks: Iterable[str], count: int = 1) -> list[Curation]:
        """Undo the latest decisions; returns them, the latest first."""
        return self._undo(banks, lambda log: sorted(log, key=lambda e: -e.seq)[:count])

    def undo_one(self, banks: Iterable[str], seq: int) -> list[Curation]:
        """Undo one decision, unless something later depends on it; returns it."""
        log = [e for bank in banks for e in self._writer.curation.log(bank)]
        chosen = [e for e in independently_undoable(log) if e.seq == seq]
        if not chosen:
            raise InputError(
                f"Decision {seq} cannot be undone by itself; nothing was changed.",
                "Undo what was decided since about the same record first.",
            )
        return self._undo([chosen[0].bank], lambda _: chosen)

    def undo_batch(self, banks: Iterable[str], action: Action, name: str) -> list[Curation]:
        """Undo an import or a pull as a whole, whatever was decided since."""
        return self._undo(banks, lambda log: batch_entries(log, action, name))

    def undo_decision(self, entry: Curation) -> None:
        """Undo one decision, whatever was decided since, and whoever decided it."""
        with self._writer.transaction():
            self._append_undo(entry)

    def _undo(
        self, banks: Iterable[str], choose: Callable[[list[Curation]], list[Curation]]
    ) -> list[Curation]:
        with self._writer.transaction():
            log = [e for bank in banks for e in undoable(self._writer.curation.log(bank))]
            chosen = choose(log)
            for e in chosen:
                self._append_undo(e)
            return chosen

    def _append_undo(self, entry: Curation) -> None:
        undo = Curation(0, entry.bank, self._now(), Action.UNDO, str(entry.seq), "", self._who)
        self._writer.curation.append(undo)
        self.apply(entry.bank, [self._target_of_entry(entry)])

    def _target_of_entry(self, entry: Curation) -> Target:
        parsed = parse_uri(entry.target)
        assert parsed is not None
        known = self._writer.curation.state(entry.bank, parsed.kind, parsed.id)
        session = known.session if known else ""
        return Target(entry.bank, parsed.kind, parsed.id, session)

    def _must_not_be_erased(self, target: Target) -> None:
        log = self._writer.curation.log(target.bank)
        if any(e.target == target.uri and e.action is Action.PURGE for e in log):
            raise InputError(f"{target.uri} was erased permanently.", "It cannot be restored.")

    def _must_be_shown(self, target: Target) -> None:
        if not target.shown:
            self._must_not_be_erased(target)
            raise InputError(
                f"{target.uri} is forgotten.", f"`holdfast restore {target.id}` brings it back."
            )

    def _decide(self, action: Action, target: Target, text: str = "") -> Curation:
        with self._writer.transaction():
            entry = Curation(0, target.bank, self._now(), action, target.uri, text, self._who)
            made = self._writer.curation.append(entry)
            self._anchor(target, text if action is Action.MERGE else "")
            # What is remembered ends nothing; its facts are made by their stage.
            self.apply(target.bank, [target], with_facts=action is not Action.REMEMBER)
            return made

    def _anchor(self, target: Target, into: str) -> None:
        """Save the members of a concept, by which it is recognised after it was derived again."""
        other = parse_uri(into)
        if target.kind == "concept":
            self._writer.concepts.save_members(target.bank, target.id)
            if other is not None:
                self._writer.concepts.save_members(target.bank, other.id)

    def apply(self, bank: str, targets: Iterable[Target], with_facts: bool = True) -> None:
        """Compute the state of some records from the log, and derive what depends on them."""
        decisions = in_effect(self._writer.curation.log(bank))
        remembered = {memory.id for memory in self._writer.memories.remembered_uncurated(bank)}
        sessions: dict[str, None] = {}
        # A decision about a bank hides and corrects no record.
        for target in (target for target in targets if target.kind != "bank"):
            untouched = CurationState(bank, target.kind, target.id, target.session)
            known = self._writer.curation.state(bank, target.kind, target.id) or untouched
            only_if_wanted = target.kind in _BATCH_KINDS or (
                target.kind == "memory" and target.id in remembered
            )
            state = current_state(known, target.uri, decisions, only_if_wanted)
            self._writer.curation.put_state(state)
            self._refresh(state)
            if state.session:
                sessions[state.session] = None
            if state.kind == "session":
                sessions |= dict.fromkeys(
                    self._writer.sessions.subagent_ids_uncurated(bank, state.id)
                )
        for session in sessions:
            derive_session(self._writer, StaleSession(bank, session, 0))
        if with_facts:
            # In the same transaction, so that no fact outlives its evidence.
            update_bank_facts(self._writer, bank)

    def decide_review(self, review: Review, keep: bool) -> Curation:
        """Decide a review: the record stays in force, or is retired."""
        if review.state is not ReviewState.OPEN:
            raise InputError(
                f"{uri('review', review.id)} was decided on {review.decided[:10]} by {review.by}.",
                "`holdfast undo` undoes the latest decisions.",
            )
        action = Action.APPROVE if keep else Action.REJECT
        return self._decide(action, Target(review.bank, "review", review.id))

    def reapply(self, bank: str) -> None:
        """Apply the whole log of a bank again."""
        targets = {
            entry.target: self._target_of_entry(entry)
            for entry in self._writer.curation.log(bank)
            if entry.action is not Action.UNDO and parse_uri(entry.target)
        }
        self.apply(bank, targets.values())

    def _refresh(self, state: CurationState) -> None:
        """Update the passage of a record that belongs to no session: its words now, or none if it
        is forgotten. The original words of a corrected record are kept in its state."""
        if state.kind == "fact" and state.text and not state.was:
            for record in self._writer.records.find(state.bank, "fact", state.id, 1):
                if isinstance(record, Fact) and record.content != state.text:
                    self._writer.curation.put_state(state._replace(was=record.content))
        if state.kind == "commit":
            commit = self._writer.git.commit_uncurated(state.bank, state.id)
            if commit is not None:
                self._writer.passages.replace(commit, curated_commit_passage(self._writer, commit))
                self._keep_original(state, commit_passage(commit).body)
        elif state.kind == "memory":
            self._refresh_memory(state)
        elif state.kind in FORGE_KINDS:
            original = refresh_passages(self._writer, state.bank, state.kind, state.id)
            self._keep_original(state, original)
        elif state.kind in (share_intake.SHARED, share_intake.SHARE_IMPORT):
            is_batch = state.kind == share_intake.SHARE_IMPORT
            ids = self._writer.shares.import_ids(state.bank, state.id) if is_batch else [state.id]
            share_intake.refresh_passages(self._writer, state.bank, ids)
        elif state.kind in (import_intake.IMPORTED, import_intake.IMPORT_BATCH):
            is_batch = state.kind == import_intake.IMPORT_BATCH
            ids = self._writer.imports.batch_ids(state.bank, state.id) if is_batch else [state.id]
            import_intake.refresh_passages(self._writer, state.bank, ids)

    def _keep_original(self, state: CurationState, text: str) -> None:
        """Keep the words that a correction replaced; none if there is no correction."""
        self._writer.curation.put_state(state._replace(was=text if state.text else ""))

    def _refresh_memory(self, state: CurationState) -> None:
        for memory in self._writer.memories.remembered_uncurated(state.bank):
            if memory.id == state.id:
                now = corrected_memory(memory, state) if state.text else memory
                self._writer.passages.replace(
                    memory, None if state.is_hidden else memory_passage(now)
                )
                self._keep_original(state, memory.what)
                return
        words = self._writer.memories.mark_retained_stale(state.bank, state.id)
        if words is not None:
            self._keep_original(state, words)
            publish_changed_memories(self._writer, state.bank)
            return
        for opinion in self._writer.opinions.all_uncurated(state.bank):
            if opinion.id == state.id:
                self._keep_original(state, opinion.what)
                passage = opinions.opinion_passage(self._writer, opinion)
                self._writer.opinions.put(opinion, None, passage)


def _check_confidence(network: Network, confidence: float | None) -> None:
    if network is Network.OPINION:
        if confidence is None or not 0 <= confidence <= 1:
            raise InputError(
                "An opinion needs a confidence from 0 to 1.",
                "Say how sure you are: a confidence from 0 to 1, such as 0.8.",
            )
    elif confidence is not None:
        raise InputError(
            f"A memory of the network {network.value} has no confidence.",
            "Only memories of the network `opinion` have one.",
        )


def _check_text(text: str) -> str:
    """The text without surrounding space; InputError if it is empty or too long."""
    text = text.strip()
    if not text:
        raise InputError("The text is empty.", "Give the text to remember.")
    if len(text) > MAX_TEXT_CHARS:
        raise InputError(
            f"The text has {len(text):,} characters; at most {MAX_TEXT_CHARS:,} are allowed.",
            "Shorten it, or put it into a file of the project.",
        )
    return text
