"""Imports into a memory: records of other programs, conversation files, and exports of Holdfast;
and undoing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.app.core.context import ALL_BANKS, Context, current_folder, current_user
from holdfast.app.curation.records import curator_for
from holdfast.app.ingest.ingestion import Ingestion
from holdfast.app.ingest.stages import update_stages
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError, NotFoundError
from holdfast.learn.decision_state import in_effect
from holdfast.learn.import_intake import IMPORT_BATCH, DraftImporter, ImportCounts, record_import
from holdfast.model.curation import Action, Curation
from holdfast.model.ids import content_id
from holdfast.model.imports import ImportBatch
from holdfast.model.opinions import Opinion
from holdfast.model.uris import uri
from holdfast.refine.core.banks import find_bank_by_name
from holdfast.refine.ingest.ingest import IngestReport
from holdfast.refine.ingest.read_plan import Input
from holdfast.sources import conversation
from holdfast.sources.imports import basic_memory, claude_files, claude_mem, hindsight, mem0
from holdfast.store.protocol import Reader

# Each format with the module that reads it.
FORMATS = {
    "claude-mem": claude_mem,
    "claude-memory": claude_files,
    "basic-memory": basic_memory,
    "mem0": mem0,
    "hindsight": hindsight,
}
# Called with the number of records read so far.
OnRead = Callable[[int], None]


class ImportResult(NamedTuple):
    """What an import did or, in a dry run, would do: its URI ("" if nothing was stored), the
    program and path it came from, and the counts of records by the name of their bank."""

    uri: str
    program: str
    place: str
    tallies: tuple[tuple[str, ImportCounts], ...]

    @property
    def read(self) -> int:
        """How many records were read."""
        return sum(tally.read for _, tally in self.tallies)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was new."""
        return all(tally.is_empty for _, tally in self.tallies)


class Imports:
    """Imports records, conversations and exports. A `format` is one of `FORMATS`."""

    def __init__(self, context: Context, ingestion: Ingestion) -> None:
        self._context = context
        self._ingestion = ingestion

    def import_records(
        self,
        format: str,
        path: Path,
        bank: str = "",
        dry_run: bool = False,
        on_progress: OnRead = lambda read: None,
        who: str = "",
    ) -> ImportResult:
        """Import all records of another program in one transaction, into the named bank or else
        into the bank of each record's project. A dry run only counts."""
        if format not in FORMATS:
            raise InputError(f"There is no format {format!r}.", f"One of: {', '.join(FORMATS)}.")
        source = FORMATS[format]
        program = source.PROGRAM
        path = path.expanduser()
        if not path.exists():
            raise NotFoundError(f"There is no {path}.", "Check the path.")
        now = self._context.now()
        importer = DraftImporter(
            self._context.store, Redactor(self._context.settings.redact_patterns), program, now
        )
        place = str(path.absolute()).encode("utf-8", "replace").decode()
        if dry_run:
            planned = _PlannedBanks()
            banks = _BankChooser(
                self._context.store, self._find_bank, bank, planned.add, self._project_name()
            )
            importer.import_drafts(_count(source.read(path), on_progress), banks.choose, "")
            return ImportResult(
                "",
                program,
                place,
                _counts_by_bank(importer, self._context.bank_names() | planned.names),
            )
        known = len(self._context.store.import_batches())
        id = content_id(IMPORT_BATCH, program, place, now, str(known))
        with self._context.store.transaction():
            banks = _BankChooser(
                self._context.store, self._find_bank, bank, self._make_bank, self._project_name()
            )
            importer.import_drafts(_count(source.read(path), on_progress), banks.choose, id)
            banks_changed = record_import(
                self._context.store, importer, program, place, id, self._context.actor(who)
            )
        self._context.after_change()
        name = uri(IMPORT_BATCH, id) if banks_changed else ""
        return ImportResult(
            name, program, place, _counts_by_bank(importer, self._context.bank_names())
        )

    def import_export(
        self,
        path: Path,
        dry_run: bool = False,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        who: str = "",
    ) -> Any:
        """Restore what `holdfast export` wrote, in one transaction; returns an
        `export_restore.ExportRestoreReport`. A memory in a file that is not empty is backed up
        first."""
        from holdfast.app.transfer import export_restore

        preview = export_restore.preview(path)
        if dry_run:
            return preview
        backup = ""
        if self._context.store.banks() and not self._context.settings.store:
            from holdfast.app.transfer import backup as backups

            backup = str(backups.back_up(self._context.settings, None, self._context.now).path)
        redactor = Redactor(self._context.settings.redact_patterns)
        empty = not self._context.store.banks()
        done = export_restore.restore(
            self._context.store, path, curator_for(self._context, who), redactor, on_progress
        )
        if empty:
            # Confidence in opinions decays with time. Derived as of their last update, they come
            # back with the confidence they had.
            last_update = max((o.updated for o in self._opinions()), default=self._context.now())
            update_stages(self._context.store, lambda: last_update)
        self._context.after_change()
        return done._replace(backup=backup)

    def _opinions(self) -> list[Opinion]:
        banks = self._context.store.banks()
        return [opinion for bank in banks for opinion in self._context.store.all_opinions(bank.id)]

    def import_conversation(self, path: Path, bank: str, dry_run: bool = False) -> IngestReport:
        """Import a conversation, one JSON object a line; `undo_import` forgets it again. A dry run
        only counts what is new."""
        if not path.is_file():
            raise InputError(f"{path} is not a file.", "Give a file with one JSON object a line.")
        from holdfast.app.transfer import conversation_imports

        file = path.resolve()
        conversation_imports.check_is_conversation(self._context.store, file)
        if dry_run:
            return conversation_imports.preview(
                self._context.store, self._context.settings, file, bank
            )
        report = self._ingestion.ingest([Input(file, conversation.AGENT, bank)])
        with self._context.store.transaction():
            conversation_imports.record_batch(
                self._context.store, file, report, self._context.now(), current_user()
            )
            restored = conversation_imports.restore_forgotten(
                self._context.store, file, curator_for(self._context), self._context.now()
            )
        if restored:
            self._context.after_change()
        return report

    def list_batches(self, bank: str | None = None) -> list[tuple[ImportBatch, bool]]:
        """Every import that stored something, and whether it is in effect (not undone)."""
        id, banks = self._context.bank_id(bank), self._context.bank_ids(bank)
        log = [entry for one in banks for entry in in_effect(self._context.store.curations(one))]
        effective = {(entry.bank, entry.target) for entry in log if entry.action is Action.IMPORT}
        return [
            (one, (one.bank, uri(IMPORT_BATCH, one.id)) in effective)
            for one in self._context.store.import_batches(id)
        ]

    def undo_import(self, name: str, who: str = "") -> list[Curation]:
        """Remove all that one import stored, in all banks; returns the log entries."""
        banks = [known.id for known in self._context.store.banks()]
        from holdfast.app.transfer import conversation_imports

        curator = curator_for(self._context, who)
        with self._context.store.transaction():
            undone = curator.undo_batch(banks, Action.IMPORT, name)
            for entry in undone:
                conversation_imports.forget_batch(
                    self._context.store, entry, curator, self._context.now()
                )
        self._context.after_change()
        return undone

    def _find_bank(self, folder: str) -> str | None:
        return self._context.banks.find(self._context.store, folder)

    def _project_name(self) -> str:
        return self._context.banks.project(current_folder()).name or Path(current_folder()).name

    def _make_bank(self, project: str) -> str:
        if not project:
            return self._context.bank_maker.ensure(self._context.store, current_folder())
        if Path(project).is_absolute():
            return self._context.bank_maker.ensure(self._context.store, project)
        return self._context.bank_maker.ensure_named(self._context.store, project)


class _BankChooser:
    """Finds or makes the bank for the records of a project. Each project is looked up once."""

    def __init__(
        self,
        reader: Reader,
        find: Callable[[str], str | None],
        bank: str,
        make: Callable[[str], str],
        current_project: str,
    ) -> None:
        self._reader = reader
        self._find_by_folder = find
        self._bank = bank
        self._make = make
        self._current_project = current_project
        self._known: dict[str, str] = {}

    def choose(self, project: str) -> str:
        """The id of the bank."""
        return self._choose(self._bank or project)

    def _choose(self, wanted: str) -> str:
        found = self._known.get(wanted)
        if found is None:
            found = self._known[wanted] = self._find(wanted)
        return found

    def _find(self, wanted: str) -> str:
        if wanted == ALL_BANKS:
            raise InputError(
                "What is to be imported is of a project called 'all', which no bank can be called.",
                "Name a bank for it: --bank NAME.",
            )
        if not wanted or Path(wanted).is_absolute():
            return self._find_by_folder(wanted or current_folder()) or self._make(wanted)
        try:
            chosen = find_bank_by_name(self._reader, wanted)
        except NotFoundError as error:
            raise InputError(error.message, "Name one with --bank.") from error
        if chosen is None and wanted.lower() == self._current_project.rsplit("/", 1)[-1].lower():
            return self._choose("")  # the current project, which has no bank yet
        return chosen.id if chosen else self._make(wanted)


class _PlannedBanks:
    """The banks that a dry run does not make: their names by ids that no bank has."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def add(self, project: str) -> str:
        """The id that stands for the bank of a project."""
        id = content_id("a bank to be made", project)
        self.names[id] = (
            project
            if project and not Path(project).is_absolute()
            else Path(project or current_folder()).name
        )
        return id


def _count(items: Iterable[Any], on_progress: OnRead) -> Iterator[Any]:
    for number, item in enumerate(items, 1):
        on_progress(number)
        yield item


def _counts_by_bank(
    importer: DraftImporter, names: dict[str, str]
) -> tuple[tuple[str, ImportCounts], ...]:
    found = [(names.get(bank, ""), tally) for bank, tally in importer.counts.items() if tally.read]
    return tuple(sorted(found, key=lambda one: one[0]))
