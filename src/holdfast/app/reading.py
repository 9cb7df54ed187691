"""A memory that can be asked. It imports nothing of what ingest needs, so it starts fast.

The only place, with `memory`, that names a concrete store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from types import TracebackType
from typing import Any, Self

from holdfast.errors import HoldfastError, InputError, NotFoundError
from holdfast.model.ledger import Balance
from holdfast.model.query import LAYER_OF, Answer, Layer, Moment, Recalled, Strategy
from holdfast.recall.engine import Ranking, rank, read, recall
from holdfast.recall.finding import Found, find, make_filter
from holdfast.recall.meaning import Meaning
from holdfast.recall.plan import Budget, Plan
from holdfast.recall.timeline import KINDS, Timeline, read_anchor, timeline
from holdfast.recall.trace import Trace, trace
from holdfast.refine.banks import Banks, pick
from holdfast.refine.pending import find_pending
from holdfast.research.answer import ask
from holdfast.settings import Settings, load_settings
from holdfast.sources.claude_code.files import default_folder
from holdfast.store.protocol import Counts, Reader, Record, Store
from holdfast.store.sqlite.store import SqliteStore

ALL_BANKS = "all"
_PLAN = Plan()
_REMEMBERED = 64


def utc_now() -> str:
    """This moment, as records spell it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - a string is wanted
    except FileNotFoundError as error:
        raise InputError(
            "The current folder is not there any more.", "Go to another one, or name a --bank."
        ) from error


class Reading:
    """A memory, open for questions. `bank` arguments take a name; None is the project of the
    folder we stand in, "all" is every bank."""

    def __init__(
        self, settings: Settings, now: Callable[[], str] = utc_now, create: bool = False
    ) -> None:
        self.settings = settings
        self._now = now
        self._store: Store = SqliteStore(settings.database, create=create)
        self._banks = Banks(settings)
        self._meaning: Meaning | None = None
        self._loaded = False
        self._problem = ""
        self._remembered: dict[tuple[str, str | None, str, Plan], Recalled] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        self._store.close()

    @property
    def reader(self) -> Reader:
        """Everything that is stored, read-only."""
        return self._store

    def bank_id(self, bank: str | None = None) -> str | None:
        """The id of the bank that is meant; None means all of them, "" one that is not there
        yet."""
        if bank == ALL_BANKS:
            return None
        chosen = bank or self.settings.bank
        if chosen:
            found = pick(self._store, chosen)
            if found is None:
                known = ", ".join(b.name for b in self._store.banks()) or "none yet"
                raise NotFoundError(f"There is no bank {chosen!r}.", f"There are: {known}.")
            return found.id
        here = self._banks.find(self._store, _here())
        return here if here is not None else ""

    def bank_name(self, id: str | None) -> str:
        """How to call a bank."""
        if id is None:
            return ALL_BANKS
        found = self._store.bank(id)
        return found.name if found else self._banks.project(_here()).name

    def recall(
        self,
        query: str,
        bank: str | None = None,
        layers: Sequence[Layer] = (),
        limit: int = 10,
        budget: Budget = Budget.MID,
    ) -> Recalled:
        """The records that speak of a query, best first."""
        return self.recall_by(query, bank, Plan(tuple(layers), limit, budget))

    def recall_by(self, query: str, bank: str | None, plan: Plan) -> Recalled:
        """The same, with every option."""
        id = self.bank_id(bank)
        found = self._recall(id, query, plan)
        return replace(found, bank=self.bank_name(id))

    def _recall(self, bank: str | None, query: str, plan: Plan) -> Recalled:
        """The same question of the same memory has the same answer."""
        asked = (self._store.generation(), bank, query, plan)
        if asked not in self._remembered:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            meaning = self._meaning_for(plan)
            found = recall(self._store, bank, query, plan, self._now, meaning)
            found = replace(found, strategies=(*found.strategies, *self._failed(plan)))
            self._remembered[asked] = self._fallen_back(found, bank, plan)
        return self._remembered[asked]

    def _fallen_back(self, found: Recalled, bank: str | None, plan: Plan) -> Recalled:
        """What else can be done where nothing was found; it is seldom, so it is loaded then."""
        if not found.abstained or plan.budget is Budget.LOW or bank == "":
            return found
        fallback: Any = import_module("holdfast.recall.fallback")
        redact: Any = import_module("holdfast.capture.redact")
        asked = read(self._store, bank, found.query, self._now)
        redactor = redact.Redactor(self.settings.redact_patterns)
        fallen = fallback.fall_back(self._store, bank, asked, redactor)
        return replace(
            found,
            abstained=not fallen.hits,
            hits=fallen.hits,
            misses=() if fallen.hits else found.misses,
            fallbacks=fallen.used,
            suggestions=fallen.suggestions,
        )

    def rank(self, query: str, bank: str | None = None, plan: Plan = _PLAN) -> Ranking:
        """Everything in the running for a query, best first, whether or not it is any good."""
        meaning = self._meaning_for(plan)
        found = rank(self._store, self.bank_id(bank), query, plan, self._now, meaning)
        return found._replace(strategies=(*found.strategies, *self._failed(plan)))

    def _meaning_for(self, plan: Plan) -> Meaning | None:
        """What models add, loaded when it is first wanted: it takes longer than a search. Where
        a model cannot be used, words still answer."""
        if plan.budget is Budget.LOW:
            return None
        if not self._loaded and self._store.vector_models():
            models: Any = import_module("holdfast.app.models")
            self._meaning, self._problem = None, ""
            try:
                self._meaning = models.load_meaning(self.settings)
            except HoldfastError as error:
                self._problem = f"{error.message} {error.remedy}".strip()
            self._loaded = True
        return self._meaning

    def _failed(self, plan: Plan) -> tuple[Strategy, ...]:
        """The arm that could not run for want of its model."""
        if not self._problem or plan.budget is Budget.LOW:
            return ()
        return (Strategy("semantic", 0, 0, problem=self._problem),)

    def ask(self, question: str, bank: str | None = None, layers: Sequence[Layer] = ()) -> Answer:
        """A cited answer, or an abstention."""
        id = self.bank_id(bank)
        plan = Plan(layers=tuple(layers), limit=25, tokens=20_000, repeats=True)
        found = self._recall(id, question, plan)
        answer = ask(self._store, id, question, found, self._now, layers)
        problems = tuple(f"By words alone: {arm.problem}" for arm in self._failed(plan))
        answer = replace(answer, caveats=(*answer.caveats, *problems))
        return replace(answer, caveats=(self.no_bank(), *answer.caveats)) if id == "" else answer

    def no_bank(self) -> str:
        """What to say where a folder has no bank."""
        names = [bank.name for bank in self._store.banks()]
        if not names:
            return "Nothing is remembered yet; `holdfast ingest` reads your sessions."
        return (
            f"This folder has no memory yet. There is one of {', '.join(names[:8])}"
            f"{' …' if len(names) > 8 else ''}: use --bank NAME, or --bank all."
        )

    def show(self, uri: str, bank: str | None = ALL_BANKS) -> Trace:
        """A record and the way from it down to its raw line."""
        return trace(self._store, self.bank_id(bank), uri)

    def timeline(
        self,
        anchor: str = "",
        query: str = "",
        bank: str | None = None,
        kinds: Sequence[str] = (),
        before: int = 5,
        after: int = 5,
    ) -> Timeline:
        """What came before and after an anchor (a URI, the start of an id, a date), or the best
        hit of a query; without either, the latest. A record that is not in the bank of this
        folder is looked for in all, and its own bank is told."""
        id = self.bank_id(bank)
        at: Record | Moment | None = None
        if anchor:
            at = self._anchor(anchor, bank, id)
        elif query:
            at = self._best(query, bank, kinds)
            if at is None:
                where = self.bank_name(id) if id is not None else "any bank"
                note = f"Nothing in {where} speaks of {query!r}."
                return Timeline(self.bank_name(id), "", (), 0, query, (note,))
        if bank is None and at is not None and not isinstance(at, Moment):
            id = at.bank
        told = timeline(self._store, id, at, kinds, before, after)
        return replace(told, bank=self.bank_name(id), query=query)

    def _anchor(self, text: str, bank: str | None, id: str | None) -> Record | Moment:
        try:
            return read_anchor(self._store, id, text)
        except NotFoundError:
            if bank is not None or id is None:
                raise
            return read_anchor(self._store, None, text)

    def _best(self, query: str, bank: str | None, kinds: Sequence[str]) -> Record | None:
        """The best hit that has a time: of the kinds asked for, else of any."""
        layers = list(dict.fromkeys(LAYER_OF[kind] for kind in kinds or KINDS))
        hits = self.recall(query, bank, layers, limit=5).hits
        hits = hits or (() if kinds else self.recall(query, bank, limit=5).hits)
        for hit in hits:
            for record in self._store.find(hit.bank, hit.kind, hit.uri.rpartition("/")[2], 1):
                if hit.time:
                    return record
        return None

    def sift(
        self,
        file: str = "",
        concept: str = "",
        type: str = "",
        since: str = "",
        until: str = "",
        bank: str | None = None,
        limit: int = 20,
    ) -> Found:
        """The exchanges that touched a file, are about a concept, are of a type, or of a time;
        by file also the commits. The latest first."""
        filter = make_filter(file, concept, type, since, until)
        if os.path.isabs(filter.file):  # noqa: PTH117 - a slash at the end must stay
            root = self._banks.project(_here()).root
            filter = filter._replace(file=filter.file.removeprefix(root.rstrip("/") + "/"))
        id = self.bank_id(bank)
        return replace(find(self._store, id, filter, limit), bank=self.bank_name(id))

    def balance(self, bank: str | None = ALL_BANKS) -> Balance:
        """The ledger, with the lines on disk that are still to be read: of all banks together
        also those of transcripts that were never looked at."""
        id = self.bank_id(bank)
        found = self._store.balance(id)
        folder = default_folder(self.settings.claude_dir) if id is None else None
        pending = find_pending(self._store, id, folder)
        return replace(
            found,
            pending=pending.lines,
            lines=found.lines + pending.lines,
            files=found.files + pending.files,
            problems=(*found.problems, *pending.problems),
        )

    def counts(self, bank: str | None = ALL_BANKS) -> Counts:
        """How much there is."""
        return self._store.counts(self.bank_id(bank))


def open_reading(settings: Settings | None = None) -> Reading:
    """Open the memory of this user, or of the given settings, for questions."""
    return Reading(settings or load_settings())
