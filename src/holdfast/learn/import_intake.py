"""Import the records of another program: redacted, with `import` provenance, undone as one step.

A source is read as a stream inside one transaction of the caller, so that all of it is imported or
nothing. A record that is stored already in the same words is left alone; an erased one stays
erased, and a forgotten one forgotten, even if its words changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from holdfast.capture.redact import Redactor
from holdfast.model.curation import Action, Curation
from holdfast.model.ids import content_id
from holdfast.model.imports import ImportBatch, ImportedRecord
from holdfast.model.uris import uri
from holdfast.refine.core.passages import imported_passage
from holdfast.refine.ingest.erasure_marks import ErasedNames
from holdfast.sources.imports.draft import DraftRecord, ImportItem, SkippedRecord
from holdfast.store.protocol import Writer

IMPORTED = "imported"
IMPORT_BATCH = "importing"
# Records that are held in memory at a time.
_BATCH_SIZE = 500
_MAX_TITLE_CHARS = 400
_MAX_PROJECT_CHARS = 400
# Control characters, which move a cursor or hide text; without line ends and tabs.
_CONTROL_CHARS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, *range(128, 160)))


@dataclass(slots=True)
class ImportCounts:
    """What an import did, or would do, to one bank: new, changed and known records by kind, skipped
    and failed ones by reason, and what was redacted."""

    bank: str = ""
    added: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
    known: Counter[str] = field(default_factory=Counter[str])
    skipped: Counter[str] = field(default_factory=Counter[str])
    failed: Counter[str] = field(default_factory=Counter[str])
    redacted: Counter[str] = field(default_factory=Counter[str])

    @property
    def read(self) -> int:
        """How many records were read."""
        kept = self.added.total() + self.changed.total() + self.known.total()
        return kept + self.skipped.total() + self.failed.total()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is new or changed."""
        return not (self.added or self.changed)


class DraftImporter:
    """Imports drafts of one program into banks, and counts them by bank."""

    def __init__(self, writer: Writer, redactor: Redactor, program: str, now: str) -> None:
        self._writer = writer
        self._redactor = redactor
        self._program = program
        self.time = now
        self._versions: dict[str, dict[str, str]] = {}
        self._seen: set[tuple[str, str]] = set()
        self.counts: dict[str, ImportCounts] = {}

    def import_drafts(
        self, items: Iterable[ImportItem], bank_of: Callable[[str], str], batch_id: str
    ) -> None:
        """Read a source and store what is new or changed. `bank_of` returns the bank of a project.
        With an empty `batch_id` nothing is written, only counted."""
        stream = iter(items)
        while batch := list(islice(stream, _BATCH_SIZE)):
            for bank, drafts in self._by_bank(batch, bank_of).items():
                records = list(self._new(bank, drafts))
                if batch_id and records:
                    self._writer.imports.put(batch_id, records)
                    refresh_passages(self._writer, bank, [record.id for record in records])

    def counts_for(self, bank: str) -> ImportCounts:
        """The counts of a bank; "" is for records that belong to none."""
        return self.counts.setdefault(bank, ImportCounts(bank))

    def _by_bank(
        self, items: Iterable[ImportItem], bank_of: Callable[[str], str]
    ) -> dict[str, list[DraftRecord]]:
        found: dict[str, list[DraftRecord]] = {}
        for item in items:
            if isinstance(item, SkippedRecord):
                counts = self.counts_for("")
                (counts.failed if item.failed else counts.skipped)[item.reason] += 1
            else:
                project = self._redactor.redact(item.project.translate(_CONTROL_CHARS).strip()).text
                project = project[:_MAX_PROJECT_CHARS]
                found.setdefault(bank_of(project), []).append(item)
        return found

    def _new(self, bank: str, drafts: Sequence[DraftRecord]) -> Iterator[ImportedRecord]:
        versions = self._versions.get(bank)
        if versions is None:
            versions = self._versions[bank] = self._writer.imports.versions(bank)
        counts = self.counts_for(bank)
        ids = [content_id(IMPORTED, self._program, *draft.key) for draft in drafts]
        erased = ErasedNames(self._writer, bank, [(IMPORTED, id) for id in ids])
        for id, draft in zip(ids, drafts, strict=True):
            if erased.has(IMPORTED, id):
                counts.skipped["erased"] += 1
            elif (bank, id) in self._seen:
                counts.skipped["duplicate"] += 1
            else:
                self._seen.add((bank, id))
                record = self._clean(bank, id, draft, counts)
                if not (record.text or record.title):
                    counts.skipped["private"] += 1
                elif versions.get(id) == record.version:
                    counts.known[draft.kind] += 1
                else:
                    (counts.changed if id in versions else counts.added)[draft.kind] += 1
                    yield record

    def _clean(
        self, bank: str, id: str, draft: DraftRecord, counts: ImportCounts
    ) -> ImportedRecord:
        """The record of a draft, without secrets and control characters."""

        def clean(text: str) -> str:
            redacted = self._redactor.redact(text.translate(_CONTROL_CHARS).strip())
            counts.redacted.update(redacted.counts)
            return redacted.text

        title, text = clean(draft.title)[:_MAX_TITLE_CHARS], clean(draft.text)
        files = tuple(clean(file) for file in draft.files)
        labels = tuple(clean(label) for label in draft.labels)
        origin, session = clean(draft.origin), clean(draft.session)
        # Without the time: copying a file changes its time and nothing else.
        version = content_id(draft.kind, title, text, origin, *files, "", *labels)
        return ImportedRecord(
            bank, id, version, self._program, draft.kind, title, text, draft.time, origin, session,
            files, labels, taken=self.time,
        )  # fmt: skip


def record_import(
    writer: Writer, importer: DraftImporter, program: str, place: str, id: str, who: str
) -> list[str]:
    """Store a batch and a log entry for each bank that got something; returns these banks."""
    # What belongs to no bank is counted once, with the first.
    unassigned = importer.counts_for("")
    banks = [bank for bank, counts in importer.counts.items() if bank and not counts.is_empty]
    for bank in banks:
        counts = importer.counts_for(bank)
        skipped, failed = counts.skipped + unassigned.skipped, counts.failed + unassigned.failed
        unassigned = ImportCounts()
        kinds = counts.added + counts.changed
        batch = ImportBatch(
            bank, id, program, place, importer.time, dict(kinds), dict(skipped), dict(failed),
            counts.redacted.total(),
        )  # fmt: skip
        writer.imports.put_batch(batch)
        summary = f"{kinds.total()} from {place}"
        name = uri(IMPORT_BATCH, id)
        writer.curation.append(Curation(0, bank, importer.time, Action.IMPORT, name, summary, who))
    return banks


def refresh_passages(writer: Writer, bank: str, ids: Iterable[str]) -> None:
    """Write the passages of those imported records that are shown, and remove those of the rest."""
    listed = list(ids)
    shown = writer.imports.by_ids(bank, listed)
    writer.imports.put_passages(bank, listed, [imported_passage(one) for one in shown])
