"""Erase for good: a record with all that is derived from it, or a pattern wherever it occurs.

Text is removed from canonical and derived rows, from decisions about them, from the journals of
hooks and from the worker's log. An erased record leaves a mark that reveals neither its text nor
its name, so that its lines are not ingested again. Backups and the agent's transcripts are not
changed, only named. Removing text from single values is in `text_erasure`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from holdfast.capture import journal
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.learn import import_intake, share_intake
from holdfast.learn.curation import Curator, Target
from holdfast.learn.opinions import update_opinions
from holdfast.learn.text_erasure import EventEraser, TextRemover, scrub_json
from holdfast.model.curation import Action, Curation
from holdfast.model.knowledge import Rule
from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.records import Role, Turn
from holdfast.refine.facts.fact_stage import update_bank_facts
from holdfast.refine.git.forge_threads import FORGE_KINDS, records_erased_with, refresh_passages
from holdfast.refine.git.history import curated_commit_passage
from holdfast.refine.ingest.erasure_marks import erasure_mark, line_name
from holdfast.refine.sessions.derive import derive_session
from holdfast.refine.sessions.exchanges import ExchangeGrouper, exchange_id
from holdfast.store.across_tables.erasure import Erasure, Scrubber, ScrubMatch
from holdfast.store.protocol import Store
from holdfast.store.records.sessions import StaleSession

# The task that overwrites erased rows in the store's files.
OVERWRITE = "overwrite"
# Kinds of which a purge erases one row, without turns.
_SINGLE_RECORD_KINDS = ("commit", "memory", "shared", "imported")
# Kinds that cannot be purged by themselves: why, and what to do instead.
_DERIVED_KINDS = {
    "fact": (
        "A fact holds only what turns and memories say.",
        "Purge those (`holdfast show` names them); `forget` hides a fact.",
    ),
    "claim": (
        "A claim holds only what turns and memories say.",
        "Purge those (`holdfast show` names them); `forget` hides a fact.",
    ),
    "entity": (
        "An entity holds only names that records mention.",
        "Purge those records, or `holdfast scrub` the name; `forget` hides an entity.",
    ),
    "digest": (
        "A digest holds only what its exchanges say.",
        "Purge its session, or the exchange that must go; `forget` hides a digest.",
    ),
    "concept": (
        "A concept holds only what its exchanges and memories say.",
        "Purge the one that must go; `forget` hides a concept.",
    ),
    "memory": (
        "This memory holds only what the records that it rests on say.",
        "Purge these (`holdfast show` names them); `forget` hides a memory.",
    ),
}
# How records become findable again after scrubbing, by table.
_REFRESH_BY_TABLE = {
    "shared_record": share_intake.refresh_passages,
    "imported_record": import_intake.refresh_passages,
}
_NO_LIMIT = 1 << 62
# Tables that are derived again and so not counted as erased.
_DERIVED_TABLES = ("statement", "pattern", "proposal")
# The kind of mark that keeps a scrubbed row from coming back, by table.
_MARK_KINDS = {"session": "title", "shared_record": "shared", "imported_record": "imported"}
# What tables and kinds are called in counts, where that differs.
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
    "failed_task": "chore",
    "model_summary": "summary",
    "model_call": "call",
    "service_pause": "pause",
    "refused_proposal": "refusal",
    "commit_patch": "patch",
    "forge_login": "login",
    "outbox_item": "parcel",
}


@dataclass(slots=True)
class Erased:
    """What was erased, or would be: counts by kind of record, events of journals, lines of the
    worker's log; and the backups and files of the agent that still contain it."""

    records: Counter[str]
    events: int
    log_lines: int
    copies: tuple[Path, ...]
    transcripts: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to erase."""
        return not (self.records or self.events or self.log_lines)


class HomeEraser:
    """Erases records and patterns from a home. `plan_purge` and `find` change nothing."""

    def __init__(
        self,
        store: Store,
        places: HomePaths,
        now: Callable[[], str],
        who: str,
        derive_bank_level: Callable[[], object] = lambda: None,
    ) -> None:
        """`derive_bank_level` derives again what is made of several sessions."""
        self._store = store
        self._places = places
        self._now = now
        self._who = who
        self._derive_bank_level = derive_bank_level
        self._curator = Curator(store, now, who)

    def plan_purge(self, target: Target) -> tuple[Erasure, Erased]:
        """What a purge of a record would erase: for the store, and counted for people."""
        turns = self._turns_of(target)
        sessions = self._sessions_of(target)
        marks = [("any", "")] + [("session", id) for id in sessions]
        for turn in turns:
            marks.append(("turn", turn.id))
            if turn.tool is not None and turn.tool.call:
                marks.append(("call", turn.tool.call))
        sources = {turn.origin.source for turn in turns} if sessions else set[int]()
        for line in self._store.sources.failures(target.bank, _NO_LIMIT) if sources else ():
            source = self._store.sources.get(line.source)
            if line.source in sources and source is not None:
                marks.append(("line", line_name(source.path, line.offset)))
        single_records = {
            kind: (target.id,) if target.kind == kind else () for kind in _SINGLE_RECORD_KINDS
        }
        forge_records = records_erased_with(self._store, target.bank, target.kind, target.id)
        # A memory that a person stated is never ingested, so it needs no mark.
        marks += [(k, id) for k, ids in single_records.items() if k != "memory" for id in ids]
        marks += forge_records
        erasure = Erasure(
            target.bank,
            sessions,
            tuple(turn.id for turn in turns),
            single_records["commit"],
            single_records["memory"],
            self._targets(target, turns),
            tuple(erasure_mark(kind, name) for kind, name in marks),
            tuple(sorted(sources)),
            forge_records,
            single_records["shared"],
            single_records["imported"],
        )
        counts = {"session": len(sessions), "turn": len(turns)}
        counts |= Counter(kind for kind, _ in forge_records)
        counts |= {_NOUNS.get(kind, kind): len(ids) for kind, ids in single_records.items()}
        return erasure, Erased(
            Counter({kind: n for kind, n in counts.items() if n}),
            self._count_events(EventEraser(turns, sessions).change),
            self._count_log_lines(TextRemover(turns)),
            tuple(self._store.erasure.backups_holding(erasure)),
            self._source_files({turn.origin.source for turn in turns}),
        )

    def purge(self, target: Target) -> Erased:
        """Erase a record and all that is derived from it."""
        erasure, erased = self.plan_purge(target)
        turns = self._turns_of(target)
        # Files first: after a kill in between, the rows still allow the same purge again.
        erased.events = self._rewrite_journals(EventEraser(turns, erasure.sessions).change)
        erased.log_lines = self._clean_log(TextRemover(turns))
        with self._store.transaction():
            corrected = self._store.erasure.corrected_derived_records(target.bank)
            evidence_before = self._fact_evidence(target.bank, corrected)
            entry = Curation(0, target.bank, self._now(), Action.PURGE, target.uri, "", self._who)
            self._store.curation.append(entry)
            self._store.erasure.erase(erasure)
            if target.kind == "exchange":
                self._curator.apply(target.bank, [target])
            elif target.kind == "turn":
                derive_session(self._store, StaleSession(target.bank, target.session, 0))
            update_bank_facts(self._store, target.bank)
            self._update_opinions(target.bank)
            self._reapply_corrections(target.bank, corrected, evidence_before)
            self._note_unfinished()
        overwrite_erased(self._store)
        return erased

    def _fact_evidence(
        self, bank: str, corrected: Iterable[tuple[str, str]]
    ) -> dict[str, tuple[str, ...]]:
        facts = {id for kind, id in corrected if kind == "fact"}
        return (
            {f.id: f.evidence for f in self._store.facts.all(bank) if f.id in facts}
            if facts
            else {}
        )

    def _reapply_corrections(
        self,
        bank: str,
        corrected: set[tuple[str, str]],
        evidence_before: dict[str, tuple[str, ...]],
    ) -> None:
        """Erase the corrections of records that are gone, and apply those of records that are
        left again, because they may have been derived from erased text."""
        if not corrected:
            return
        self._derive_bank_level()
        left = self._store.erasure.corrected_derived_records(bank)
        self._store.erasure.erase_corrections(bank, corrected - left)
        for id, evidence in self._fact_evidence(bank, left).items():
            known = self._store.curation.state(bank, "fact", id)
            if known is not None and evidence != evidence_before.get(id, evidence):
                self._store.curation.put_state(known._replace(was=""))
        self._curator.apply(bank, [Target(bank, *name) for name in sorted(corrected & left)])
        update_bank_facts(self._store, bank)

    def _update_opinions(self, bank: str) -> None:
        """Remove the opinions that rest on what was erased."""
        update_opinions(self._store, bank, self._now())

    def _turns_of(self, target: Target) -> list[Turn]:
        """The turns that a record consists of, as they were ingested; InputError if the record is
        derived from others and cannot be purged by itself."""
        match target.kind:
            case "turn":
                turn = self._store.turns.get_uncurated(target.bank, target.id)
                return [turn, *self._retold_in(turn)] if turn else []
            case "exchange":
                return self._turns_of_exchange(target)
            case "session":
                return [
                    turn
                    for session in self._sessions_of(target)
                    for turn in self._store.turns.stream_uncurated(target.bank, session)
                ]
            case "memory":
                remembered = self._store.memories.remembered_uncurated(target.bank)
                is_derived = target.id not in {memory.id for memory in remembered}
            case _:
                is_derived = target.kind in _DERIVED_KINDS
        if is_derived:
            raise InputError(*_DERIVED_KINDS[target.kind])
        return []

    def _turns_of_exchange(self, target: Target) -> list[Turn]:
        turns = [
            turn
            for turn in self._store.turns.stream_uncurated(target.bank, target.session)
            if turn.role is not Role.SUMMARY
        ]
        grouping = ExchangeGrouper(dialogue=all(turn.role is Role.USER for turn in turns))
        groups = [grouping.add(turn) for turn in turns] + [grouping.finish()]
        found = [group for group in groups if group and exchange_id(group[0]) == target.id]
        ids = {turn.id for group in found for turn in group}
        own = [turn for turn in turns if turn.id in ids]
        return [*own, *self._retold_in(own[0])] if own else []

    def _retold_in(self, first: Turn) -> list[Turn]:
        """The agent's summaries of a session that may repeat a turn: all that came after it."""
        after = self._store.turns.stream_uncurated(first.bank, first.session, first.seq + 1)
        return [turn for turn in after if turn.role is Role.SUMMARY]

    def _sessions_of(self, target: Target) -> tuple[str, ...]:
        if target.kind != "session":
            return ()
        return (target.id, *self._store.sessions.subagent_ids_uncurated(target.bank, target.id))

    def _targets(self, target: Target, turns: Iterable[Turn]) -> tuple[str, ...]:
        """The URIs whose decisions lose their text; for a session, of all that is in it."""
        uris = [target.uri, *(f"holdfast://turn/{turn.id}" for turn in turns)]
        forge_records = records_erased_with(self._store, target.bank, target.kind, target.id)
        uris += [f"holdfast://{kind}/{id}" for kind, id in forge_records]
        for session in self._sessions_of(target):
            inside = self._store.curation.states_in_session(target.bank, session)
            uris += [f"holdfast://{c.kind}/{c.id}" for c in inside]
        return tuple(dict.fromkeys(uris))

    def _source_files(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """The existing files that records were ingested from, without our own journals."""
        found = [self._store.sources.get(number) for number in numbers]
        paths = [Path(source.path) for source in found if source is not None]
        ours = self._places.journals
        return tuple(sorted(str(p) for p in paths if p.parent != ours and p.is_file()))

    def find(self, pattern: Scrubber) -> Erased:
        """What scrubbing a pattern would erase."""
        touched = self._store.erasure.rows_to_scrub(pattern)
        files = (
            *self._source_files(self._source_ids(touched)),
            *self._rule_files(touched),
            *self._settings_backups(pattern),
        )
        return Erased(
            _count(touched),
            self._count_events(lambda event: scrub_json(event, pattern)),
            self._count_log_lines(pattern),
            tuple(self._store.erasure.backups_holding(pattern)),
            files,
        )

    def _rule_files(self, touched: Iterable[ScrubMatch]) -> list[str]:
        """The rule files of the project that contain it."""
        found = [
            self._store.records.find(t.bank, "rule", t.id, 1) for t in touched if t.table == "rule"
        ]
        return sorted({r.file for records in found for r in records if isinstance(r, Rule)})

    def _settings_backups(self, pattern: Scrubber) -> list[str]:
        """Backups of the user's settings that contain the pattern."""
        folder = self._places.home / "backups"
        files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix != ".db"]
        texts = {str(path): path.read_bytes().decode("utf-8", "replace") for path in files}
        return [path for path, text in texts.items() if pattern(text) != text]

    def scrub(self, pattern: Scrubber) -> Erased:
        """Erase a pattern everywhere."""
        erased = self.find(pattern)
        self._rewrite_journals(lambda event: scrub_json(event, pattern))
        self._clean_log(pattern)
        with self._store.transaction():
            touched = self._store.erasure.rows_to_scrub(pattern)
            self._mark_matches(touched)
            self._mark_tags(pattern)
            self._store.erasure.scrub(pattern)
            for bank in sorted({t.bank for t in touched} & {b.id for b in self._store.banks.all()}):
                entry = Curation(0, bank, self._now(), Action.SCRUB, "", "", self._who)
                self._store.curation.append(entry)
                self._derive_again(bank, [t for t in touched if t.bank == bank])
                self._update_opinions(bank)
            self._note_unfinished()
        overwrite_erased(self._store)
        return erased

    def _note_unfinished(self) -> None:
        """Have a worker overwrite the files if this process is killed after the rows are gone."""
        now = self._now()
        self._store.failed_tasks.put(
            FailedTask(OVERWRITE, 1, "what was erased is still in a file", now, now)
        )

    def _source_ids(self, touched: Iterable[ScrubMatch]) -> set[int]:
        turns = (
            self._store.turns.get_uncurated(t.bank, t.id) for t in touched if t.table == "turn"
        )
        return {turn.origin.source for turn in turns if turn is not None}

    def _mark_matches(self, touched: Iterable[ScrubMatch]) -> None:
        """Mark the matches, so that the pattern does not come back when their lines are ingested
        again."""
        for t in touched:
            marks = [("any", "")]
            turn_ids: list[str] = []
            if t.table == "turn":
                turn = self._store.turns.get_uncurated(t.bank, t.id)
                turn_ids.append(t.id)
                if turn is not None and turn.tool is not None and turn.tool.call:
                    marks.append(("call", turn.tool.call))
            elif t.table in _MARK_KINDS:
                marks.append((_MARK_KINDS[t.table], t.id))
            elif t.table in FORGE_KINDS:
                marks.append(("words", f"{t.table}/{t.id}"))
            elif t.table == "failed_line":
                source = self._store.sources.get(int(t.session))
                marks.append(("line", line_name(source.path if source else "", int(t.id))))
            self._store.erasure.block_marks(
                t.bank, [erasure_mark(kind, name) for kind, name in marks], turn_ids
            )

    def _mark_tags(self, pattern: Scrubber) -> None:
        """Mark tags and branches that contain the pattern: they are read again with git."""
        for bank in self._store.banks.all():
            names = [
                *(t.name for t in self._store.git.tags(bank.id)),
                *self._store.git.branches(bank.id),
            ]
            matching = [name for name in names if pattern(name) != name]
            if matching:
                marks = [erasure_mark("any", ""), *(erasure_mark("tag", name) for name in matching)]
                self._store.erasure.block_marks(bank.id, marks)

    def _derive_again(self, bank: str, touched: Iterable[ScrubMatch]) -> None:
        """Derive again what was derived from erased text."""
        sessions: dict[str, None] = {}
        has_decisions = False
        for t in touched:
            if t.table in ("turn", "session", "model_summary") and t.session:
                sessions[t.session] = None
            has_decisions |= t.table in ("curation", "remembered_memory", "memory_dimension")
            if t.table in _REFRESH_BY_TABLE:
                _REFRESH_BY_TABLE[t.table](self._store, bank, [t.id])
            if t.table in ("commit", "commit_patch") and (
                commit := self._store.git.commit_uncurated(bank, t.id)
            ):
                self._store.passages.replace(commit, curated_commit_passage(self._store, commit))
            if t.table in FORGE_KINDS:
                refresh_passages(self._store, bank, t.table, t.id)
        for session in sessions:
            derive_session(self._store, StaleSession(bank, session, 0))
        if has_decisions:
            self._curator.reapply(bank)
        update_bank_facts(self._store, bank)

    def _journals(self) -> list[Path]:
        return sorted(self._places.journals.glob("*.jsonl"))

    def _count_events(self, change: Callable[[journal.Event], journal.Event]) -> int:
        found = (event for path in self._journals() for event in journal.read(path))
        return sum(change(event) != event for event in found)

    def _rewrite_journals(self, change: Callable[[journal.Event], journal.Event]) -> int:
        return sum(journal.rewrite(path, change) for path in self._journals())

    def _log_lines(self) -> list[str]:
        try:
            return self._places.worker_log.read_text("utf-8", "replace").splitlines(keepends=True)
        except OSError:
            return []

    def _count_log_lines(self, clean: Scrubber) -> int:
        return sum(clean(line) != line for line in self._log_lines())

    def _clean_log(self, clean: Scrubber) -> int:
        lines = self._log_lines()
        cleaned = [clean(line) for line in lines]
        changed = sum(one != other for one, other in zip(lines, cleaned, strict=True))
        if changed:
            with self._places.worker_log.open("r+", encoding="utf-8") as file:
                file.truncate(0)
                file.write("".join(cleaned))
        return changed


def overwrite_erased(store: Store) -> None:
    """Overwrite erased rows in the store's files, and note that this is done."""
    store.erasure.overwrite_deleted()
    with store.transaction():
        store.failed_tasks.clear(OVERWRITE)


def is_unfinished(store: Store) -> bool:
    """Whether an erasure was interrupted."""
    return any(chore.name == OVERWRITE for chore in store.failed_tasks.all())


def _count(touched: Iterable[ScrubMatch]) -> Counter[str]:
    return Counter(_NOUNS.get(t.table, t.table) for t in touched if t.table not in _DERIVED_TABLES)
