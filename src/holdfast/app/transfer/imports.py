"""Imports into a memory: records of other programs, conversation files, and exports of Holdfast;
and undoing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.app.core.context import ALL_BANKS, Context, current_folder, current_user
from holdfast.app.curation.records import curator_for
from holdfast.app.ingest.ingestion import Ingestion
from holdfast.app.ingest.stages import update_stages
from holdfast.errors import InputError, NotFoundError
from holdfast.learn.import_intake import IMPORT_BATCH, DraftImporter, ImportCounts, record_import
from holdfast.model.curation import Action, Curation, in_effect
from holdfast.model.ids import content_id
from holdfast.model.imports import ImportBatch
from holdfast.model.uris import uri
from holdfast.refine.core.banks import find_bank_by_name
from holdfast.refine.ingest.ingest_report import IngestReport
from holdfast.refine.ingest.read_plan import Input
from holdfast.sources import conversation
from holdfast.sources.imports import claude_files, claude_mem, mem0

if TYPE_CHECKING:
    from holdfast.app.transfer.export_restore import ExportRestoreReport

# Each format with the module that reads it.
FORMATS = {
    "claude-mem": claude_mem,
    "claude-memory": claude_files,
    "mem0": mem0,
}
# Called with the number of records read so far.
OnRead = Callable[[int], None]


class ImportResult(NamedTuple):
    """What an import did or, in a dry run, would do: its URI ("" if it cannot be undone as a whole,
    or stored nothing), the program and path it came from, the counts of records by bank, and the
    backup made before. Of an export, which names its banks itself, all counts are of one bank."""

    uri: str
    program: str
    place: str
    banks: tuple[ImportCounts, ...]
    backup: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was new."""
        return all(counts.is_empty for counts in self.banks)


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
        context = self._context
        now = context.now()
        place = str(path.absolute()).encode("utf-8", "replace").decode()
        importer = DraftImporter(context.store, context.redactor(), program, now)
        banks = _BankChooser(context, bank, dry_run)
        drafts = _count(source.read(path), on_progress)
        if dry_run:
            importer.import_drafts(drafts, banks.choose, "")
            names = context.bank_names() | banks.planned
            return ImportResult("", program, place, _counts_by_bank(importer, names))
        known = len(context.store.imports.batches())
        id = content_id(IMPORT_BATCH, program, place, now, str(known))
        with context.store.transaction():
            importer.import_drafts(drafts, banks.choose, id)
            changed = record_import(context.store, importer, program, place, id, context.actor(who))
        context.after_change()
        name = uri(IMPORT_BATCH, id) if changed else ""
        return ImportResult(name, program, place, _counts_by_bank(importer, context.bank_names()))

    def import_export(
        self,
        path: Path,
        dry_run: bool = False,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
        who: str = "",
    ) -> ExportRestoreReport:
        """Restore what `holdfast export` wrote, in one transaction. A memory in a file that is not
        empty is backed up first. A dry run only checks it, and counts all of it as new."""
        from holdfast.app.transfer import export_restore, exporting

        counts = exporting.check_export(path)
        if dry_run:
            return export_restore.ExportRestoreReport(counts, {})
        context, backup = self._context, ""
        empty = not context.store.banks.all()
        if not empty and not context.settings.store:
            from holdfast.app.transfer import backup as backups

            backup = backups.back_up(context.settings, None, context.now).path
        curator = curator_for(context, who)
        done = export_restore.restore(context.store, path, curator, context.redactor(), on_progress)
        if empty:
            # Confidence in opinions decays with time. Derived as of their last update, they come
            # back with the confidence they had.
            updates = [
                opinion.updated
                for bank in context.store.banks.all()
                for opinion in context.store.opinions.all_uncurated(bank.id)
            ]
            last_update = max(updates, default=context.now())
            update_stages(context.store, context.settings, lambda: last_update)
        context.after_change()
        return done._replace(backup=backup)

    def import_conversation(self, path: Path, bank: str, dry_run: bool = False) -> IngestReport:
        """Import a conversation, one JSON object per line; `undo_import` forgets it again. A dry
        run only counts what is new."""
        if not path.is_file():
            raise InputError(f"{path} is not a file.", "Give a file with one JSON object per line.")
        from holdfast.app.transfer import conversation_imports

        file, store, context = path.resolve(), self._context.store, self._context
        conversation_imports.check_is_conversation(store, file)
        if dry_run:
            return conversation_imports.preview(store, context.settings, file, bank)
        report = self._ingestion.ingest([Input(file, conversation.AGENT, bank)])
        now = context.now()
        with store.transaction():
            conversation_imports.record_batch(store, file, report, now, current_user())
            restored = conversation_imports.restore_forgotten(
                store, file, curator_for(context), now
            )
        if restored:
            context.after_change()
        return report

    def list_batches(self, bank: str | None = None) -> list[tuple[ImportBatch, bool]]:
        """Every import that stored something, and whether it is in effect (not undone)."""
        id, banks = self._context.bank_id(bank), self._context.bank_ids(bank)
        log = [entry for one in banks for entry in in_effect(self._context.store.curation.log(one))]
        effective = {(entry.bank, entry.target) for entry in log if entry.action is Action.IMPORT}
        return [
            (one, (one.bank, uri(IMPORT_BATCH, one.id)) in effective)
            for one in self._context.store.imports.batches(id)
        ]

    def undo_import(self, name: str, who: str = "") -> list[Curation]:
        """Remove all that one import stored, in all banks; returns the log entries."""
        from holdfast.app.transfer import conversation_imports

        context, curator = self._context, curator_for(self._context, who)
        with context.store.transaction():
            undone = curator.undo_batch(context.bank_ids(ALL_BANKS), Action.IMPORT, name)
            for entry in undone:
                conversation_imports.forget_batch(context.store, entry, curator, context.now())
        context.after_change()
        return undone


class _BankChooser:
    """Finds or makes the bank for the records of a project. Each project is looked up once. In a
    dry run no bank is made: `planned` has their names, by ids that no bank has."""

    def __init__(self, context: Context, bank: str, dry_run: bool) -> None:
        self._context = context
        self._bank = bank
        self._dry_run = dry_run
        self._known: dict[str, str] = {}
        self.planned: dict[str, str] = {}

    def choose(self, project: str) -> str:
        """The id of the bank."""
        wanted = self._bank or project
        if wanted not in self._known:
            self._known[wanted] = self._find(wanted)
        return self._known[wanted]

    def _find(self, wanted: str) -> str:
        if wanted == ALL_BANKS:
            raise InputError(
                "The records belong to a project called 'all', which cannot be the name of a bank.",
                "Name a bank for it: --bank NAME.",
            )
        context = self._context
        if not wanted or Path(wanted).is_absolute():
            folder = wanted or current_folder()
            return context.banks.find(context.store, folder) or self._make(folder)
        try:
            chosen = find_bank_by_name(context.store, wanted)
        except NotFoundError as error:
            raise InputError(error.message, "Name one with --bank.") from error
        if chosen is not None:
            return chosen.id
        project = context.banks.project(current_folder()).name or Path(current_folder()).name
        if wanted.lower() == project.rsplit("/", 1)[-1].lower():
            return self._find("")  # the current project, which has no bank yet
        return self._make(wanted)

    def _make(self, project: str) -> str:
        """Make the bank of a folder, or one with this name."""
        is_folder = Path(project).is_absolute()
        if self._dry_run:
            id = content_id("a bank to be made", project)
            self.planned[id] = Path(project).name if is_folder else project
            return id
        store, maker = self._context.store, self._context.bank_maker
        return maker.ensure(store, project) if is_folder else maker.ensure_named(store, project)


def _count(items: Iterable[Any], on_progress: OnRead) -> Iterator[Any]:
    for number, item in enumerate(items, 1):
        on_progress(number)
        yield item


def _counts_by_bank(importer: DraftImporter, names: dict[str, str]) -> tuple[ImportCounts, ...]:
    found = (
        replace(counts, bank=names.get(bank, ""))
        for bank, counts in importer.counts.items()
        if counts.read
    )
    return tuple(sorted(found, key=lambda one: one.bank))
