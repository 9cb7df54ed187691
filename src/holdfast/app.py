"""The composition root: settings become a memory that can be used.

The only place that names a concrete store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from holdfast.errors import InputError, NotFoundError
from holdfast.model.ledger import Balance, FailedLine
from holdfast.model.query import Answer, Layer, Recalled
from holdfast.recall.engine import recall
from holdfast.recall.trace import Trace, trace
from holdfast.refine.banks import Banks, pick
from holdfast.refine.derive import derive_stale
from holdfast.refine.ingest import Account, Progress, estimate, ingest, ingest_commits
from holdfast.refine.plan import Input, find_inputs, pending_lines
from holdfast.refine.turns import Rules
from holdfast.research.answer import ask
from holdfast.settings import Settings, load_settings
from holdfast.sources import conversation
from holdfast.sources.claude_code.files import default_folder
from holdfast.store.protocol import Counts, Reader, Store
from holdfast.store.sqlite.store import SqliteStore

ALL_BANKS = "all"


def utc_now() -> str:
    """This moment, as records spell it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Holdfast:
    """One memory, open. `bank` arguments take a name; None is the project of the folder we
    stand in, "all" is every bank."""

    def __init__(self, settings: Settings, now: Callable[[], str] = utc_now) -> None:
        self.settings = settings
        self._now = now
        self._store: Store = SqliteStore(settings.database)
        self._banks = Banks(settings, now)
        self._rules = Rules(
            settings.redact_patterns, settings.exclude_tools, settings.exclude_paths
        )

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
        """The id of the bank that is meant; None means all of them."""
        if bank == ALL_BANKS:
            return None
        if bank is not None:
            found = pick(self._store, bank)
            if found is None:
                known = ", ".join(b.name for b in self._store.banks()) or "none yet"
                raise NotFoundError(f"There is no bank {bank!r}.", f"There are: {known}.")
            return found.id
        here = self._banks.find(self._store, os.getcwd())  # noqa: PTH109 - a string is wanted
        return here if here is not None else ""

    def bank_name(self, id: str | None) -> str:
        """How to call a bank."""
        if id is None:
            return ALL_BANKS
        found = self._store.bank(id)
        project = self._banks.project(os.getcwd()).name  # noqa: PTH109
        return found.name if found else project

    def recall(
        self,
        query: str,
        bank: str | None = None,
        layers: Sequence[Layer] = (),
        limit: int = 10,
    ) -> Recalled:
        """The records that speak of a query, best first."""
        id = self.bank_id(bank)
        return replace(recall(self._store, id, query, layers, limit), bank=self.bank_name(id))

    def ask(self, question: str, bank: str | None = None, layers: Sequence[Layer] = ()) -> Answer:
        """A cited answer, or an abstention."""
        return ask(self._store, self.bank_id(bank), question, self._now, layers)

    def show(self, uri: str, bank: str | None = ALL_BANKS) -> Trace:
        """A record and the way from it down to its raw line."""
        return trace(self._store, self.bank_id(bank), uri)

    def default_inputs(self) -> Path:
        """Where the transcripts of this user's agent lie."""
        return default_folder(self.settings.claude_dir)

    def find(self, paths: Sequence[Path], bank: str = "") -> list[Input]:
        """The transcripts that paths name; those of this user where none is named."""
        return find_inputs(paths or [self.default_inputs()], bank)

    def estimate(self, inputs: Sequence[Input]) -> list[tuple[Input, int]]:
        """The files with something new in them, and how many bytes that is."""
        return estimate(self._store, inputs)

    def ingest(
        self,
        inputs: Sequence[Input],
        workers: int = 1,
        progress: Progress = lambda done, total: None,
    ) -> Account:
        """Read transcripts. More than one worker needs a main module that can be imported."""
        return ingest(self._store, self._banks, inputs, self._rules, self._now, workers, progress)

    def ingest_git(
        self, path: Path, bank: str = "", tick: Callable[[int], None] = lambda count: None
    ) -> tuple[int, int]:
        """Read the log of a repository; how many commits there are, and how many were new."""
        return ingest_commits(self._store, self._banks, path, self._rules, bank, tick)

    def import_conversation(self, path: Path, bank: str) -> Account:
        """Read any dialogue, one JSON object a line."""
        if not path.is_file():
            raise InputError(f"{path} is not a file.", "Give a file with one JSON object a line.")
        item = Input(path.resolve(), conversation.AGENT, bank)
        return self.ingest([item])

    def rebuild(self) -> int:
        """Drop everything derived and make it again; returns the number of sessions."""
        with self._store.transaction():
            self._store.drop_derived()
        return derive_stale(self._store)

    def balance(self, bank: str | None = ALL_BANKS) -> Balance:
        """The ledger, with the lines on disk that are still to be read."""
        id = self.bank_id(bank)
        found = self._store.balance(id)
        pending = pending_lines(self._store, id)
        return replace(found, pending=pending, lines=found.lines + pending)

    def counts(self, bank: str | None = ALL_BANKS) -> Counts:
        """How much there is."""
        return self._store.counts(self.bank_id(bank))

    def failures(self, bank: str | None = ALL_BANKS, limit: int = 20) -> list[FailedLine]:
        """Lines that could not be read."""
        return self._store.failures(self.bank_id(bank), limit)


def open_memory(settings: Settings | None = None) -> Holdfast:
    """Open the memory of this user, or of the given settings."""
    return Holdfast(settings or load_settings())
