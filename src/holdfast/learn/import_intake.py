"""Taking in what another program remembered: with `import` provenance, redacted, as one step.

A source is read as a stream inside one transaction, so that all of it comes in or nothing does.
What holds already in the same words is known and left alone; what was erased here stays away, and
what was forgotten stays forgotten, in whatever words it comes.
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
_AT_ONCE = 500
_TITLE = 400
_PROJECT = 400
# What moves a cursor or hides text has no place in a memory; line ends and tabs do.
_UNSEEN = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, *range(128, 160)))


@dataclass(slots=True)
class ImportCounts:
    """What an import did, or would do, to one bank: records by kind that are new and that are said
    anew, those that are known, and those left out, by reason."""

    bank: str = ""
    added: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
    known: Counter[str] = field(default_factory=Counter[str])
    skipped: Counter[str] = field(default_factory=Counter[str])
    failed: Counter[str] = field(default_factory=Counter[str])
    redacted: Counter[str] = field(default_factory=Counter[str])

    @property
    def read(self) -> int:
        """How many records there were."""
        kept = self.added.total() + self.changed.total() + self.known.total()
        return kept + self.skipped.total() + self.failed.total()

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to take in."""
        return not (self.added or self.changed)


class ImportWriter:
    """Takes drafts into banks. One that only looks writes nothing."""

    def __init__(self, writer: Writer, redactor: Redactor, program: str, now: str) -> None:
        self._writer = writer
        self._redactor = redactor
        self._program = program
        self.time = now
        self._held: dict[str, dict[str, str]] = {}
        self._met: set[tuple[str, str]] = set()
        self.tallies: dict[str, ImportCounts] = {}

    def import_drafts(
        self, given: Iterable[ImportItem], bank_of: Callable[[str], str], importing: str
    ) -> None:
        """Go through a source; `bank_of` names the bank of a project, and nothing is written where
        no `importing` is named."""
        stream = iter(given)
        while some := list(islice(stream, _AT_ONCE)):
            for bank, drafts in self._by_bank(some, bank_of).items():
                records = list(self._new(bank, drafts))
                if importing and records:
                    self._writer.put_imported(importing, records)
                    ids = [record.id for record in records]
                    refresh_passages(self._writer, bank, ids)

    def tally(self, bank: str) -> ImportCounts:
        """The account of a bank; "" is for what belongs to none."""
        return self.tallies.setdefault(bank, ImportCounts(bank))

    def _by_bank(
        self, some: Iterable[ImportItem], bank_of: Callable[[str], str]
    ) -> dict[str, list[DraftRecord]]:
        found: dict[str, list[DraftRecord]] = {}
        for one in some:
            if isinstance(one, SkippedRecord):
                told = self.tally("")
                (told.failed if one.failed else told.skipped)[one.reason] += 1
            else:
                project = self._redactor.redact(one.project.translate(_UNSEEN).strip()).text
                project = project[:_PROJECT]
                found.setdefault(bank_of(project), []).append(one)
        return found

    def _new(self, bank: str, drafts: Sequence[DraftRecord]) -> Iterator[ImportedRecord]:
        held = self._held.get(bank)
        if held is None:
            held = self._held[bank] = self._writer.imported_versions(bank)
        tally = self.tally(bank)
        ids = [content_id(IMPORTED, self._program, *draft.key) for draft in drafts]
        erased = ErasedNames(self._writer, bank, [(IMPORTED, id) for id in ids])
        for id, draft in zip(ids, drafts, strict=True):
            if erased.has(IMPORTED, id):
                tally.skipped["erased"] += 1
            elif (bank, id) in self._met:
                tally.skipped["duplicate"] += 1
            else:
                self._met.add((bank, id))
                record = self._clean(bank, id, draft, tally)
                if not (record.text or record.title):
                    tally.skipped["private"] += 1
                elif held.get(id) == record.version:
                    tally.known[draft.kind] += 1
                else:
                    (tally.changed if id in held else tally.added)[draft.kind] += 1
                    yield record

    def _clean(self, bank: str, id: str, draft: DraftRecord, tally: ImportCounts) -> ImportedRecord:
        """A draft without secrets and without what nobody can see."""

        def clean(text: str) -> str:
            redacted = self._redactor.redact(text.translate(_UNSEEN).strip())
            tally.redacted.update(redacted.taken)
            return redacted.text

        title, text = clean(draft.title)[:_TITLE], clean(draft.text)
        files = tuple(clean(file) for file in draft.files)
        labels = tuple(clean(label) for label in draft.labels)
        origin, session = clean(draft.origin), clean(draft.session)
        # Not when it was: a file that was copied says nothing else.
        version = content_id(draft.kind, title, text, origin, *files, "", *labels)
        return ImportedRecord(
            bank, id, version, self._program, draft.kind, title, text, draft.time, origin, session,
            files, labels, taken=self.time,
        )  # fmt: skip


def record_import(
    writer: Writer, taker: ImportWriter, program: str, place: str, id: str, who: str
) -> list[str]:
    """Note what an import brought, bank by bank; returns the banks that got something."""
    left = taker.tally("")
    first = True
    banks = [bank for bank, tally in taker.tallies.items() if bank and not tally.nothing]
    for bank in banks:
        tally = taker.tally(bank)
        # What was left out before a bank was found is told once, with the first.
        skipped, failed = Counter(tally.skipped), Counter(tally.failed)
        if first:
            skipped, failed, first = skipped + left.skipped, failed + left.failed, False
        kinds = tally.added + tally.changed
        done = ImportBatch(
            bank, id, program, place, taker.time, dict(kinds), dict(skipped), dict(failed),
            tally.redacted.total(),
        )  # fmt: skip
        writer.put_import_batch(done)
        told = f"{kinds.total()} from {place}"
        name = uri(IMPORT_BATCH, id)
        writer.append_curation(Curation(0, bank, taker.time, Action.IMPORT, name, told, who))
    return banks


def refresh_passages(writer: Writer, bank: str, ids: Iterable[str]) -> None:
    """Make what is shown of some imported records findable, and nothing else of them."""
    listed = list(ids)
    shown = writer.imported_by_ids(bank, listed)
    writer.put_imported_passages(bank, listed, [imported_passage(one) for one in shown])


def refresh_passages_of(writer: Writer, bank: str, kind: str, id: str) -> None:
    """The same for one imported record, or for all that an import brought."""
    refresh_passages(
        writer, bank, writer.import_batch_ids(bank, id) if kind == IMPORT_BATCH else [id]
    )
