"""Curation: what a person wants remembered, said rightly, forgotten, or back again.

A decision is one entry of the log; in the same transaction everything that depends on it is
derived again, so nobody ever sees a decision half done. Nothing canonical is changed: forgetting
leaves a record out of every answer, and undoing brings back the very same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from holdfast.errors import InputError, NotFoundError
from holdfast.learn.decisions import settle, standing, undoable
from holdfast.model.curation import Action, Curated, Curation
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory, Network, Validity
from holdfast.model.records import Session
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.trace import find_record, word_of
from holdfast.refine.derive import derive_session
from holdfast.refine.history import passage_of
from holdfast.refine.passages import commit_passage, memory_passage
from holdfast.store.curated import worded_memory
from holdfast.store.protocol import Reader, Record, Stale, Writer

CORRECTABLE = ("turn", "exchange", "digest", "memory", "commit")
MERGEABLE = ("exchange", "memory", "commit")
LONGEST = 20_000


class Target(NamedTuple):
    """A record to decide about; `shown` unless it was put away."""

    bank: str
    kind: str
    id: str
    session: str = ""
    shown: bool = True

    @property
    def uri(self) -> str:
        """Its name."""
        return uri(self.kind, self.id)


def find_target(reader: Reader, bank: str | None, text: str) -> Target:
    """The record that a URI, or the start of an id, names, whether it is shown or put away."""
    named = parse_uri(text)
    away = reader.put_away(bank, named.word, named.id) if named else []
    exact = [c for c in away if named and c.id == named.id]
    away = exact or away
    try:
        record = find_record(reader, bank, text)
    except NotFoundError:
        if not away or reader.find(bank, *(named or ("", ""))):
            raise
    else:
        if not exact:
            return target_of(record)
    if len(away) > 1:
        names = ", ".join(uri(c.kind, c.id) for c in away)
        raise NotFoundError(f"Several records start with {text!r}.", f"One of: {names}.")
    c = away[0]
    return Target(c.bank, c.kind, c.id, c.session, shown=False)


def target_of(record: Record) -> Target:
    """A record as a target."""
    session = record.id if isinstance(record, Session) else getattr(record, "session", "")
    return Target(record.bank, word_of(record), record.id, session)


class Curator:
    """Makes decisions in the name of somebody."""

    def __init__(self, writer: Writer, now: Callable[[], str], who: str) -> None:
        self._writer = writer
        self._now = now
        self._who = who

    def remember(self, bank: str, text: str) -> Memory:
        """Keep a text as it is. The same text is kept once, and comes back if it was forgotten."""
        text = _words(text)
        with self._writer.transaction():
            same = [m for m in self._writer.memories(bank) if m.what == text]
            if same:
                target = Target(bank, "memory", same[0].id)
                known = self._writer.curated(bank, "memory", same[0].id)
                if known is not None and known.gone:
                    self._decide(Action.REMEMBER, target)
                    self._decide(Action.RESTORE, target)
                return same[0]
            time = self._now()
            memory = Memory(
                bank, content_id("memory", text, time), Network.WORLD, text, Trust.USER, when=time,
                who=self._who, status=Status.VERIFIED,
                validity=Validity(since=time, learned=time),
            )  # fmt: skip
            self._writer.put_memory(memory)
            self._decide(Action.REMEMBER, Target(bank, "memory", memory.id))
            return memory

    def correct(self, target: Target, text: str) -> Curation:
        """Say a record anew; what it said is kept as superseded."""
        if target.kind not in CORRECTABLE:
            raise InputError(
                f"A {target.kind} has no words of its own to correct.",
                "Correct its digest, or one of its exchanges or turns.",
            )
        self._must_be_shown(target)
        return self._decide(Action.CORRECT, target, _words(text))

    def forget(self, target: Target) -> Curation:
        """Leave a record, and all that is made of it, out of everything."""
        self._must_be_shown(target)
        return self._decide(Action.FORGET, target)

    def restore(self, target: Target) -> Curation:
        """Bring back what was forgotten or merged."""
        known = self._writer.curated(target.bank, target.kind, target.id)
        if known is None or not known.gone:
            why = "is not forgotten" if target.shown else "is forgotten as a part of something else"
            remedy = "There is nothing to bring back." if target.shown else "Restore that instead."
            raise InputError(f"{target.uri} {why}.", remedy)
        return self._decide(Action.RESTORE, target)

    def merge(self, target: Target, into: Target) -> Curation:
        """Let one record stand for another that says the same."""
        if target.kind not in MERGEABLE or into.kind != target.kind or into.bank != target.bank:
            raise InputError(
                f"A {target.kind} cannot go into a {into.kind}"
                f"{'' if into.bank == target.bank else ' of another bank'}.",
                f"Two of the same kind and bank can be merged: {', '.join(MERGEABLE)}.",
            )
        if target.id == into.id:
            raise InputError("A record cannot go into itself.", "Name two records.")
        self._must_be_shown(target)
        self._must_be_shown(into)
        return self._decide(Action.MERGE, target, into.uri)

    def undo(self, banks: Iterable[str], count: int = 1) -> list[Curation]:
        """Take back the latest decisions; returns them, the latest first."""
        with self._writer.transaction():
            log = [e for bank in banks for e in undoable(self._writer.curations(bank))]
            last = sorted(log, key=lambda entry: -entry.seq)[:count]
            for entry in last:
                undo = Curation(
                    0, entry.bank, self._now(), Action.UNDO, str(entry.seq), "", self._who
                )
                self._writer.curate(undo)
                self.apply(entry.bank, [self._named(entry)])
            return last

    def _named(self, entry: Curation) -> Target:
        named = parse_uri(entry.target)
        assert named is not None
        known = self._writer.curated(entry.bank, named.word, named.id)
        session = known.session if known else ""
        return Target(entry.bank, named.word, named.id, session)

    def _must_be_shown(self, target: Target) -> None:
        if not target.shown:
            raise InputError(
                f"{target.uri} is forgotten.", f"`holdfast restore {target.id}` brings it back."
            )

    def _decide(self, action: Action, target: Target, text: str = "") -> Curation:
        with self._writer.transaction():
            entry = Curation(0, target.bank, self._now(), action, target.uri, text, self._who)
            made = self._writer.curate(entry)
            self.apply(target.bank, [target])
            return made

    def apply(self, bank: str, targets: Iterable[Target]) -> None:
        """Work out what the log comes to for some records, and derive what depends on them."""
        left = standing(self._writer.curations(bank))
        sessions: dict[str, None] = {}
        for target in targets:
            nothing = Curated(bank, target.kind, target.id, target.session)
            known = self._writer.curated(bank, target.kind, target.id) or nothing
            state = settle(known, target.uri, left)
            self._writer.put_curated(state)
            self._show(state)
            if state.session:
                sessions[state.session] = None
            if state.kind == "session":
                sessions |= dict.fromkeys(self._writer.children(bank, state.id))
        for session in sessions:
            derive_session(self._writer, Stale(bank, session, 0))

    def reapply(self, bank: str) -> None:
        """Work out what the whole log of a bank comes to."""
        named = {entry.target: self._named(entry) for entry in self._about_records(bank)}
        self.apply(bank, named.values())

    def _about_records(self, bank: str) -> list[Curation]:
        log = self._writer.curations(bank)
        return [e for e in log if e.action is not Action.UNDO and parse_uri(e.target)]

    def _show(self, state: Curated) -> None:
        """Make what belongs to no session findable, in its words of now, or not at all."""
        if state.kind == "commit":
            commit = self._writer.commit(state.bank, state.id)
            if commit is not None:
                self._writer.put_passage(commit, passage_of(self._writer, commit))
                was = commit_passage(commit).body
                self._writer.put_curated(state._replace(was=was if state.text else ""))
        elif state.kind == "memory":
            for memory in self._writer.memories(state.bank):
                if memory.id == state.id:
                    now = worded_memory(memory, state.text) if state.text else memory
                    self._writer.put_passage(memory, None if state.gone else memory_passage(now))
                    was = memory.what if state.text else ""
                    self._writer.put_curated(state._replace(was=was))


def _words(text: str) -> str:
    text = text.strip()
    if not text:
        raise InputError("There are no words.", "Say what is to be remembered.")
    if len(text) > LONGEST:
        raise InputError(
            f"That is {len(text):,} characters; {LONGEST:,} are the most.",
            "Say it in fewer words; what is long belongs into a file of the project.",
        )
    return text
