"""Reading transcripts, git histories and forges into a memory, and deriving what follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.app.core.context import Context
from holdfast.app.ingest.stages import update_stages
from holdfast.app.search.recall import Search
from holdfast.learn.curation import Curator
from holdfast.refine.core.executor import Executor
from holdfast.refine.git.history import HistoryOptions, HistoryReport, read_history
from holdfast.refine.ingest.discovery import (
    default_folders,
    find_all_transcripts,
    find_inputs,
    sort_inputs,
    user_environment,
)
from holdfast.refine.ingest.ingest import Progress, estimate, ingest
from holdfast.refine.ingest.ingest_report import IngestReport
from holdfast.refine.ingest.read_plan import Input
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.refine.sessions.derive import derive_stale
from holdfast.settings import Settings

if TYPE_CHECKING:
    from holdfast.refine.git.forge_sync import ForgeCount, ForgeReport


def exclusion_rules(settings: Settings) -> PrivacyRules:
    """What the settings keep out of everything that is read."""
    return PrivacyRules(settings.redact_patterns, settings.exclude_tools, settings.exclude_paths)


class Ingestion:
    """Fills a memory. `bank` arguments name a bank; "" is that of each file's project."""

    def __init__(self, context: Context, search: Search) -> None:
        self._context = context
        self._search = search
        self._rules = exclusion_rules(context.settings)

    def default_inputs(self) -> list[Path]:
        """The folders of this user's agents that hold transcripts."""
        return [folder for folder, _ in default_folders(user_environment(self._context.settings))]

    def find(
        self,
        paths: Sequence[Path],
        bank: str = "",
        problems: list[str] | None = None,
        agent: str = "",
    ) -> list[Input]:
        """The transcripts in these paths, or this user's where none is given. Paths that cannot
        be read are described in `problems`. With `agent`, only transcripts of that agent."""
        if paths:
            return [i for i in find_inputs(paths, bank, problems) if agent in ("", i.agent)]
        noted = problems if problems is not None else []
        found = find_all_transcripts(user_environment(self._context.settings), noted, agent)
        return sort_inputs(found, bank, noted)

    def estimate(self, inputs: Sequence[Input]) -> list[tuple[Input, int]]:
        """The files with unread content, and its size in bytes."""
        return estimate(self._context.store, inputs)

    def ingest(
        self,
        inputs: Sequence[Input],
        workers: int = 1,
        on_progress: Progress = lambda done, total: None,
        then_know: bool = True,
        executor: Executor | None = None,
        on_session: Callable[[int], None] = lambda sessions: None,
    ) -> IngestReport:
        """Read transcripts and derive everything above them. More than one worker needs a main
        module that can be imported. `executor` derives sessions; `on_session` gets the number
        of sessions done."""
        store, banks, now = self._context.store, self._context.bank_maker, self._context.now
        report = ingest(
            store, banks, inputs, self._rules, now, workers, on_progress, executor, on_session
        )
        if then_know:
            self.update()
        return report

    def ingest_git(
        self,
        path: Path,
        bank: str = "",
        on_progress: Progress = lambda done, total: None,
        with_diff: bool = True,
    ) -> HistoryReport:
        """Read the commits of a repository that were not read yet."""
        how, context = HistoryOptions(self._rules, bank, with_diff), self._context
        read = read_history(context.store, context.bank_maker, path, how, context.now, on_progress)
        self.update()
        return read

    def read_forge(
        self,
        name: str = "",
        bank: str = "",
        on_progress: Progress = lambda done, total: None,
        on_message: Callable[[str], None] = lambda text: None,
    ) -> ForgeReport:
        """Read what is new on the forge of a repository: OWNER/NAME, or that of the working
        directory."""
        from holdfast.app.ingest import forge_reading

        read = forge_reading.read_new_threads(self._context, name, bank, on_progress, on_message)
        self.update()
        return read

    def count_forge(
        self, name: str = "", bank: str = "", on_message: Callable[[str], None] = lambda text: None
    ) -> ForgeCount:
        """How much there is to read on a forge; queries it and changes nothing."""
        from holdfast.app.ingest import forge_reading

        return forge_reading.count_new_threads(self._context, name, bank, on_message)

    def embed(
        self,
        turns_for: float | None = None,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        threads: int | None = None,
        executor: Executor | None = None,
        then_group: bool = True,
        check_all: bool = True,
    ) -> int:
        """Compute the vectors that are missing; those of commits and of turns for at most
        `turns_for` seconds each. Returns how many are still missing. Unless `then_group` is false,
        concepts are built from them; unless `check_all` is false, all stored vectors are checked,
        and those that nothing needs are deleted."""
        from holdfast.app.ingest.embedding import embed, open_embedder

        store, settings = self._context.store, self._context.settings
        model = open_embedder(settings, threads)
        if model is None:
            return 0
        left = embed(store, settings, model, turns_for, on_progress, executor, check_all)
        if then_group and any(self.update().values()):
            left = embed(store, settings, model, 0.0, on_progress, None, check_all)
        self._search.reload_model()
        return left

    def update(self, on_progress: Callable[[], None] = lambda: None) -> dict[str, int]:
        """Run the stages above the session that are behind; returns what each has changed."""
        context = self._context
        return update_stages(context.store, context.settings, context.now, on_progress)

    def rebuild(self) -> int:
        """Drop everything derived and derive it again; returns the number of sessions. People's
        decisions are applied again."""
        store = self._context.store
        with store.transaction():
            store.derived.drop_all()
        done = derive_stale(store)
        with store.transaction():
            for bank in store.banks.all():
                Curator(store, self._context.now, self._context.actor()).reapply(bank.id)
        self.update()
        return done
