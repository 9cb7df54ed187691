"""Erasing for good: a record with all that is made of it, or a pattern wherever it occurs.

Words go from canonical and derived rows, from decisions about them, from the journals of hooks and
from the worker's log. What is erased leaves a mark that tells neither its words nor its name, so
that its lines are not read in again. Backups, and the transcripts of the agent, are not ours to
change: they are named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.capture import journal
from holdfast.capture.places import Places
from holdfast.errors import InputError
from holdfast.learn import import_intake, share_intake
from holdfast.learn.curation import Curator, Target
from holdfast.learn.opinions import update_opinions
from holdfast.learn.text_erasure import EventEraser, TextRemover, scrub_json
from holdfast.model.curation import Action, Curation
from holdfast.model.failed_tasks import FailedTask
from holdfast.model.knowledge import Rule
from holdfast.model.records import Role, Turn
from holdfast.refine.facts.fact_stage import update_bank_facts
from holdfast.refine.git.history import curated_commit_passage
from holdfast.refine.git.threads import FORGE_KINDS, records_erased_with, refresh_passages
from holdfast.refine.ingest.erasure_marks import erasure_mark, line_name
from holdfast.refine.memories.memory_stage import update_bank_memories
from holdfast.refine.sessions.derive import derive_session
from holdfast.refine.sessions.exchanges import ExchangeGrouper, exchange_id
from holdfast.store.protocol import StaleSession, Store
from holdfast.store.protocol.curation import Erasure, Scrubber, ScrubMatch

OVERWRITE = "overwrite"
_ALONE = ("commit", "memory", "shared", "imported")
_SHOWN = {
    "shared_record": share_intake.refresh_passages,
    "imported_record": import_intake.refresh_passages,
}
_ALL = 1 << 62
# What is made again of the rest.
_MADE = ("statement", "pattern", "proposal")
_SEALED = {"session": "title", "shared_record": "shared", "imported_record": "imported"}
_NOUNS = {
    "remembered_memory": "memory",
    "memory_dimension": "memory",
    "shared": "shared memory",
    "shared_record": "shared memory",
    "imported": "imported record",
    "imported_record": "imported record",
    "import_batch": "import",
    "curation": "decision",
    "failed_line": "failed line",
    "failed_task": "failed task",
    "model_summary": "summary",
    "model_call": "call",
    "service_pause": "pause",
    "review_advice": "advice",
    "refused_proposal": "refusal",
    "commit_patch": "patch",
    "forge_login": "login",
    "outbox_item": "outbox item",
}


@dataclass(slots=True)
class Erased:
    """What was erased, or would be: counts by kind of record, events of journals, lines of the
    worker's log; which copies still hold it; and which files of the agent's do."""

    records: Counter[str] = field(default_factory=Counter[str])
    events: int = 0
    log_lines: int = 0
    copies: tuple[Path, ...] = ()
    transcripts: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to erase."""
        return not (self.records or self.events or self.log_lines)


class Eraser:
    """Takes words out of a home. One that only looks changes nothing."""

    def __init__(
        self,
        store: Store,
        places: Places,
        now: Callable[[], str],
        who: str,
        know: Callable[[], object] = lambda: None,
    ) -> None:
        self._store = store
        self._places = places
        self._now = now
        self._who = who
        # Makes what is known above the session anew.
        self._know = know
        self._curator = Curator(store, now, who)

    def plan_purge(self, target: Target) -> tuple[Erasure, Erased]:
        """What a purge of a record takes with it."""
        turns = self._turns_of(target)
        sessions = self._sessions_of(target)
        names = [("any", "")] + [("session", id) for id in sessions]
        for turn in turns:
            names.append(("turn", turn.id))
            if turn.tool is not None and turn.tool.call:
                names.append(("call", turn.tool.call))
        sources = {turn.origin.source for turn in turns} if sessions else set[int]()
        for failed in self._store.failures(target.bank, _ALL) if sources else ():
            source = self._store.source(failed.source)
            if failed.source in sources and source is not None:
                names.append(("line", line_name(source.path, failed.offset)))
        own = {kind: (target.id,) if target.kind == kind else () for kind in _ALONE}
        forged = records_erased_with(self._store, target.bank, target.kind, target.id)
        names += [*((kind, id) for kind in own if kind != "memory" for id in own[kind]), *forged]
        what = Erasure(
            target.bank,
            sessions,
            tuple(turn.id for turn in turns),
            own["commit"],
            own["memory"],
            self._targets(target, turns),
            tuple(erasure_mark(kind, name) for kind, name in names),
            tuple(sorted(sources)),
            forged,
            own["shared"],
            own["imported"],
        )
        counted = {"session": len(sessions), "turn": len(turns)}
        counted |= Counter(kind for kind, _ in forged)
        counted |= {_NOUNS.get(kind, kind): len(ids) for kind, ids in own.items()}
        told = Erased(Counter({kind: n for kind, n in counted.items() if n}))
        told.copies = tuple(self._store.backups_holding(what))
        told.transcripts = self._sources({turn.origin.source for turn in turns})
        return what, told

    def purge(self, target: Target) -> Erased:
        """Erase a record, and all that is made of it."""
        what, told = self.plan_purge(target)
        turns = self._turns_of(target)
        # Files first: killed before the rows are gone, the same purge can be asked for again.
        told.events = self._each_journal(EventEraser(turns, what.sessions).change)
        told.log_lines = self._clean_log(TextRemover(turns))
        with self._store.transaction():
            corrected = self._store.corrected_derived_records(target.bank)
            rested = self._facts_rest_on(target.bank, corrected)
            entry = Curation(0, target.bank, self._now(), Action.PURGE, target.uri, "", self._who)
            self._store.append_curation(entry)
            self._store.erase(what)
            if target.kind == "exchange":
                self._curator.apply(target.bank, [target])
            elif target.kind == "turn":
                derive_session(self._store, StaleSession(target.bank, target.session, 0))
            update_bank_facts(self._store, target.bank)
            self._think_again(target.bank)
            self._correct_again(target.bank, corrected, rested)
            self._note_unfinished()
        finish(self._store)
        return told

    def _facts_rest_on(
        self, bank: str, corrected: Iterable[tuple[str, str]]
    ) -> dict[str, tuple[str, ...]]:
        facts = {id for kind, id in corrected if kind == "fact"}
        return {f.id: f.evidence for f in self._store.facts(bank) if f.id in facts} if facts else {}

    def _correct_again(
        self,
        bank: str,
        corrected: set[tuple[str, str]],
        rested: dict[str, tuple[str, ...]],
    ) -> None:
        """What was corrected and is no more takes its correction with it. What is still there is
        said again, since it may have been said in words that are gone."""
        if not corrected:
            return
        self._know()
        left = self._store.corrected_derived_records(bank)
        self._store.erase_corrections(bank, corrected - left)
        for id, evidence in self._facts_rest_on(bank, left).items():
            known = self._store.curation_state(bank, "fact", id)
            if known is not None and evidence != rested.get(id, evidence):
                self._store.put_curation_state(known._replace(was=""))
        self._curator.apply(bank, [Target(bank, *name) for name in sorted(corrected & left)])

    def _think_again(self, bank: str) -> None:
        """Form the opinions of a bank anew, without what is gone."""
        if self._store.all_opinions(bank) or self._store.stances(bank):
            update_bank_memories(self._store, bank, limit=_ALL)
            update_opinions(self._store, bank, self._now())

    def _turns_of(self, target: Target) -> list[Turn]:
        """The turns that are, or make up, a record; as they were read."""
        match target.kind:
            case "turn":
                turn = self._store.turn(target.bank, target.id)
                return [turn] if turn else []
            case "exchange":
                return self._grouped(target)
            case "session":
                return [
                    turn
                    for session in self._sessions_of(target)
                    for turn in self._store.all_turns(target.bank, session)
                ]
            case "fact" | "claim":
                raise InputError(
                    f"A {target.kind} holds only what turns and memories say.",
                    "Purge those (`holdfast show` names them); `forget` hides a fact.",
                )
            case "entity":
                raise InputError(
                    "An entity holds only names that records mention.",
                    "Purge those records, or `holdfast scrub` the name; `forget` hides an entity.",
                )
            case "digest":
                raise InputError(
                    "A digest holds only what its exchanges say.",
                    "Purge its session, or the exchange that must go; `forget` hides a digest.",
                )
            case "concept":
                raise InputError(
                    "A concept holds only what its exchanges and memories say.",
                    "Purge the one that must go; `forget` hides a concept.",
                )
            case "memory" if target.id not in {m.id for m in self._store.all_remembered(target.bank)}:
                raise InputError(
                    "This memory holds only what the records that it rests on say.",
                    "Purge these (`holdfast show` names them); `forget` hides a memory.",
                )
            case _:
                return []

    def _grouped(self, target: Target) -> list[Turn]:
        turns = list(self._store.all_turns(target.bank, target.session))
        grouping = ExchangeGrouper(dialogue=all(turn.role is Role.USER for turn in turns))
        groups = [grouping.add(turn) for turn in turns] + [grouping.finish()]
        found = [group for group in groups if group and exchange_id(group[0]) == target.id]
        ids = {turn.id for group in found for turn in group}
        return [turn for turn in turns if turn.id in ids]

    def _sessions_of(self, target: Target) -> tuple[str, ...]:
        if target.kind != "session":
            return ()
        return (target.id, *self._store.all_subagent_ids(target.bank, target.id))

    def _targets(self, target: Target, turns: Iterable[Turn]) -> tuple[str, ...]:
        """The URIs whose decisions lose their words: a session takes all that is in it."""
        own = [target.uri, *(f"holdfast://turn/{turn.id}" for turn in turns)]
        beside = records_erased_with(self._store, target.bank, target.kind, target.id)
        own += [f"holdfast://{kind}/{id}" for kind, id in beside]
        for session in self._sessions_of(target):
            inside = self._store.curation_states_in_session(target.bank, session)
            own += [f"holdfast://{c.kind}/{c.id}" for c in inside]
        return tuple(dict.fromkeys(own))

    def _sources(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """The files of others that records came from and that are still there."""
        found = [self._store.source(number) for number in numbers]
        paths = [Path(source.path) for source in found if source is not None]
        ours = self._places.journals
        return tuple(sorted(str(p) for p in paths if p.parent != ours and p.is_file()))

    def find(self, pattern: Scrubber) -> Erased:
        """What a scrubbing would erase."""
        touched = self._store.rows_to_scrub(pattern)
        told = Erased(_count(touched), copies=tuple(self._store.backups_holding(pattern)))
        told.events = sum(
            scrub_json(event, pattern) != event
            for path in self._journals()
            for event in journal.read(path)
        )
        told.log_lines = sum(pattern(line) != line for line in self._log_lines())
        told.transcripts = (
            *self._sources(self._origins(touched)),
            *self._rule_files(touched),
            *self._settings_with(pattern),
        )
        return told

    def _rule_files(self, touched: Iterable[ScrubMatch]) -> list[str]:
        """The project's own files of rules that hold it."""
        found = [self._store.find(t.bank, "rule", t.id, 1) for t in touched if t.table == "rule"]
        return sorted({r.file for records in found for r in records if isinstance(r, Rule)})

    def _settings_with(self, pattern: Scrubber) -> list[str]:
        """Settings of the user's that are kept to be given back."""
        folder = self._places.home / "backups"
        files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix != ".db"]
        texts = {str(path): path.read_bytes().decode("utf-8", "replace") for path in files}
        return [path for path, text in texts.items() if pattern(text) != text]

    def scrub(self, pattern: Scrubber) -> Erased:
        """Take a pattern out of everything."""
        told = self.find(pattern)
        self._each_journal(lambda event: scrub_json(event, pattern))
        self._clean_log(pattern)
        with self._store.transaction():
            touched = self._store.rows_to_scrub(pattern)
            self._seal(touched)
            self._seal_tags(pattern)
            self._store.scrub(pattern)
            for bank in sorted({t.bank for t in touched} & {b.id for b in self._store.banks()}):
                entry = Curation(0, bank, self._now(), Action.SCRUB, "", "", self._who)
                self._store.append_curation(entry)
                self._make_again(bank, [t for t in touched if t.bank == bank])
                self._think_again(bank)
            self._note_unfinished()
        finish(self._store)
        return told

    def _note_unfinished(self) -> None:
        """Killed after the rows are gone, a worker makes the files forget them too."""
        now = self._now()
        self._store.put_failed_task(FailedTask(OVERWRITE, 1, "what was erased is still in a file", now, now))

    def _origins(self, touched: Iterable[ScrubMatch]) -> set[int]:
        turns = (self._store.turn(t.bank, t.id) for t in touched if t.table == "turn")
        return {turn.origin.source for turn in turns if turn is not None}

    def _seal(self, touched: Iterable[ScrubMatch]) -> None:
        """Its lines may be read again; what was taken out of them must not come back."""
        for t in touched:
            names = [("any", "")]
            raw: list[str] = []
            if t.table == "turn":
                turn = self._store.turn(t.bank, t.id)
                raw.append(t.id)
                if turn is not None and turn.tool is not None and turn.tool.call:
                    names.append(("call", turn.tool.call))
            elif t.table in _SEALED:
                names.append((_SEALED[t.table], t.id))
            elif t.table in FORGE_KINDS:
                names.append(("words", f"{t.table}/{t.id}"))
            elif t.table == "failed_line":
                source = self._store.source(int(t.session))
                names.append(("line", line_name(source.path if source else "", int(t.id))))
            self._store.block_marks(t.bank, [erasure_mark(kind, name) for kind, name in names], raw)

    def _seal_tags(self, pattern: Scrubber) -> None:
        """The tags and branches of a repository are read again with it."""
        for bank in self._store.banks():
            names = [*(t.name for t in self._store.tags(bank.id)), *self._store.branches(bank.id)]
            held = [name for name in names if pattern(name) != name]
            if held:
                marks = [erasure_mark("any", ""), *(erasure_mark("tag", name) for name in held)]
                self._store.block_marks(bank.id, marks)

    def _make_again(self, bank: str, touched: Iterable[ScrubMatch]) -> None:
        """Derive what was made of the words that are gone."""
        sessions: dict[str, None] = {}
        decided = False
        for t in touched:
            if t.table in ("turn", "session", "model_summary") and t.session:
                sessions[t.session] = None
            decided = decided or t.table in ("curation", "remembered_memory", "memory_dimension")
            if t.table in _SHOWN:
                _SHOWN[t.table](self._store, bank, [t.id])
            of_commit = t.table in ("commit", "commit_patch")
            commit = self._store.commit(bank, t.id) if of_commit else None
            if commit is not None:
                self._store.put_passage(commit, curated_commit_passage(self._store, commit))
            if t.table in FORGE_KINDS:
                refresh_passages(self._store, bank, t.table, t.id)
        for session in sessions:
            derive_session(self._store, StaleSession(bank, session, 0))
        if decided:
            self._curator.reapply(bank)
        update_bank_facts(self._store, bank)

    def _journals(self) -> list[Path]:
        return sorted(self._places.journals.glob("*.jsonl"))

    def _each_journal(self, change: Callable[[journal.Event], journal.Event]) -> int:
        return sum(journal.rewrite(path, change) for path in self._journals())

    def _log_lines(self) -> list[str]:
        try:
            return self._places.log.read_text("utf-8", "replace").splitlines(keepends=True)
        except OSError:
            return []

    def _clean_log(self, clean: Scrubber) -> int:
        lines = self._log_lines()
        cleaned = [clean(line) for line in lines]
        changed = sum(one != other for one, other in zip(lines, cleaned, strict=True))
        if changed:
            with self._places.log.open("r+", encoding="utf-8") as file:
                file.truncate(0)
                file.write("".join(cleaned))
        return changed


def finish(store: Store) -> None:
    """Leave no trace of erased rows in the store's files, and note that it is done."""
    store.overwrite_deleted()
    with store.transaction():
        store.clear_failed_task(OVERWRITE)


def is_unfinished(store: Store) -> bool:
    """Whether an erasure was broken off."""
    return any(chore.name == OVERWRITE for chore in store.failed_tasks())


def _count(touched: Iterable[ScrubMatch]) -> Counter[str]:
    return Counter(_NOUNS.get(t.table, t.table) for t in touched if t.table not in _MADE)
