"""A memory that can be asked and can learn: the public face of the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from holdfast.app.curation.curating import this_user
from holdfast.app.ingest.stages import know
from holdfast.app.search.old_recall import utc_now
from holdfast.app.transfer.old_importing import Importer
from holdfast.errors import InputError
from holdfast.refine.core.bank_making import BankMaker
from holdfast.refine.core.executor import Executor
from holdfast.refine.git.history import LogRead, Reading, Tick, read_history
from holdfast.refine.ingest.discovery import (
    default_folders,
    find_all,
    find_inputs,
    in_order,
    where_of,
)
from holdfast.refine.ingest.ingest import Account, Progress, estimate, ingest
from holdfast.refine.ingest.read_plan import Input
from holdfast.refine.ingest.turns import Rules
from holdfast.refine.sessions.derive import derive_stale
from holdfast.settings import Settings, load_settings
from holdfast.sources import conversation
from holdfast.store.protocol import Store


def rules_of(settings: Settings) -> Rules:
    """What is taken out of everything that is read."""
    return Rules(settings.redact_patterns, settings.exclude_tools, settings.exclude_paths)


class Holdfast(Importer):
    """One memory, open for questions and for reading in."""

    def __init__(
        self, settings: Settings, now: Callable[[], str] = utc_now, create: bool = True
    ) -> None:
        super().__init__(settings, now, create)
        self._rules = rules_of(settings)

    @property
    def store(self) -> Store:
        """What everything is kept in, for the work behind the scenes."""
        return self._store

    @property
    def banks(self) -> BankMaker:
        """Finds the bank of a folder, for the same."""
        return self._banks

    def default_inputs(self) -> list[Path]:
        """Where the transcripts of this user's agents lie, as far as there are any."""
        return [folder for folder, _ in default_folders(where_of(self.settings))]

    def find(
        self,
        paths: Sequence[Path],
        bank: str = "",
        problems: list[str] | None = None,
        agent: str = "",
    ) -> list[Input]:
        """The transcripts that paths name; those of this user where none is named. What cannot
        be looked into is told in `problems`. With an agent, only those of this one."""
        if not paths:
            noted = problems if problems is not None else []
            return in_order(find_all(where_of(self.settings), noted, agent), bank, noted)
        return [i for i in find_inputs(paths, bank, problems) if agent in ("", i.agent)]

    def estimate(self, inputs: Sequence[Input]) -> list[tuple[Input, int]]:
        """The files with something new in them, and how many bytes that is."""
        return estimate(self._store, inputs)

    def ingest(
        self,
        inputs: Sequence[Input],
        workers: int = 1,
        progress: Progress = lambda done, total: None,
        then_know: bool = True,
        crew: Executor | None = None,
        tick: Callable[[int], None] = lambda sessions: None,
    ) -> Account:
        """Read transcripts, and know what they come to. More than one worker needs a main module
        that can be imported. A `crew` derives what follows; `tick` is told how many sessions are
        done."""
        account = ingest(
            *(self._store, self._banks, inputs, self._rules, self._now, workers, progress),
            crew=crew,
            tick=tick,
        )
        if then_know:
            know(self._store, self._now)
        return account

    def embed(
        self,
        turns_for: float | None = None,
        progress: Callable[[int, int], None] = lambda done, total: None,
        threads: int | None = None,
        crew: Executor | None = None,
    ) -> int:
        """Give vectors to passages that have none, so that they are found by meaning; to
        commits and to turns only for so many seconds each. Returns how many still wait."""
        from holdfast.app.core import models

        left: int = models.embed(self._store, self.settings, turns_for, progress, threads, crew)
        if any(know(self._store, self._now).values()):  # what meaning brought together
            left = models.embed(self._store, self.settings, 0.0, progress, threads)
        self._loaded = False
        return left

    def know(self, tick: Callable[[], None] = lambda: None) -> dict[str, int]:
        """Bring what is known above the session up to date, where anything is behind."""
        return know(self._store, self._now, tick)

    def ingest_git(
        self,
        path: Path,
        bank: str = "",
        tick: Tick = lambda done, total: None,
        with_diff: bool = True,
    ) -> LogRead:
        """Read what is new in the history of a repository."""
        how = Reading(self._rules, bank, with_diff)
        read = read_history(self._store, self._banks, path, how, self._now, tick)
        know(self._store, self._now)
        return read

    def read_forge(
        self,
        name: str = "",
        bank: str = "",
        tick: Tick = lambda done, total: None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> Any:
        """Read what is new on the forge of a repository: that of the folder we stand in, or the
        one named OWNER/NAME. Returns a `holdfast.refine.git.forge_sync.ForgeRead`."""
        from holdfast.app.ingest import github_sync

        read = github_sync.read(
            self._store, self._banks, self.settings, self._now, name, bank, tick, tell
        )
        know(self._store, self._now)
        return read

    def count_forge(
        self, name: str = "", bank: str = "", tell: Callable[[str], None] = lambda text: None
    ) -> Any:
        """What there is to read on a forge; asks it, and changes nothing. Returns a
        `holdfast.refine.git.forge_sync.ForgeCount`."""
        from holdfast.app.ingest import github_sync

        return github_sync.count(self._store, self._banks, self.settings, name, bank, tell)

    def import_conversation(self, path: Path, bank: str, dry_run: bool = False) -> Account:
        """Read any dialogue, one JSON object a line; `undo_import` takes it back. A dry run only
        counts what is new in it."""
        if not path.is_file():
            raise InputError(f"{path} is not a file.", "Give a file with one JSON object a line.")
        from holdfast.app.transfer import conversation_imports

        conversation_imports.check(self._store, path.resolve())
        if dry_run:
            return conversation_imports.look(self._store, self.settings, path.resolve(), bank)
        account = self.ingest([Input(path.resolve(), conversation.AGENT, bank)])
        with self._store.transaction():
            conversation_imports.settle(
                self._store, path.resolve(), account, self._now(), this_user()
            )
            back = conversation_imports.bring_back(
                self._store, path.resolve(), self._curator(""), self._now()
            )
        if back:
            self._renew()
        return account

    def vouch(self, session: str, who: str = "") -> int:
        """Note that the last answer of an investigation was of use: what it cites is borne out.
        Returns for how many records that holds."""
        from holdfast.app.answers import feedback

        said = feedback.Vouching(self._store, self.settings, self._now(), self._named(who))
        count: int = said.vouch(session)
        self._renew()
        return count

    def rebuild(self) -> int:
        """Drop everything derived and make it again; returns the number of sessions. What is known
        above the session is made again where it was."""
        with self._store.transaction():
            self._store.drop_derived()
        done = derive_stale(self._store)
        self.apply_decisions()
        self.know()
        return done


def open_memory(settings: Settings | None = None, create: bool = True) -> Holdfast:
    """Open the memory of this user, or of the given settings. Without `create` nothing is made
    on disk, and nothing can be read in."""
    return Holdfast(settings or load_settings(), create=create)
