"""Import what others share: in their name, with `team` provenance, undone as one step.

Our own records are not imported, nor those that were erased here. A refused record is counted with
its reason and does not stop the others. What was forgotten here stays forgotten, even if its words
changed. What we share is made in `share_drafts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from holdfast.capture.redact import Redactor
from holdfast.model.curation import Action, Curation
from holdfast.model.ids import content_id
from holdfast.model.team import SharedRecord
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.core.passages import shared_passage
from holdfast.refine.ingest.erasure_marks import ErasedNames
from holdfast.sources.share_format import RefusedLine, newer, person_path
from holdfast.store.protocol import Reader, Writer
from holdfast.store.records.shares import ShareImport

SHARED = "shared"
SHARE_IMPORT = "taking"
# A record dated further ahead is refused: it would win against every later change. Two days allow
# for wrong clocks and time zones.
_MAX_AHEAD = timedelta(days=2)


class ShareSource(NamedTuple):
    """Where shared records are read from: its name, and the commits that were read there."""

    name: str
    heads: tuple[str, ...] = ()


class ShareImportPlan(NamedTuple):
    """What an import would change: records that are new, changed, or withdrawn by who shared them
    (`gone`); how many are known, our own, or erased here; which are refused; and how many secrets
    were redacted."""

    source: ShareSource
    added: tuple[SharedRecord, ...] = ()
    changed: tuple[SharedRecord, ...] = ()
    gone: tuple[SharedRecord, ...] = ()
    known: int = 0
    own: int = 0
    erased: int = 0
    refused: tuple[RefusedLine, ...] = ()
    redacted: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change."""
        return not (self.added or self.changed or self.gone)

    @property
    def reasons(self) -> dict[str, int]:
        """How many lines were refused, by reason."""
        return dict(sorted(Counter(line.why for line in self.refused).items()))


def plan_import(
    writer: Writer,
    bank: str,
    found: tuple[Mapping[str, SharedRecord], Iterable[RefusedLine]],
    place: ShareSource,
    now: str,
    redactor: Redactor,
    email: str,
) -> ShareImportPlan:
    """What importing shared records would change; `email` is our own."""
    held = {shared.id: shared for shared in writer.shares.current(bank)}
    records, refused = found[0], list(found[1])
    sent = writer.shares.sent_ids(bank)
    latest = (datetime.fromisoformat(now) + _MAX_AHEAD).isoformat()
    erased = ErasedNames(writer, bank, [("shared", id) for id in records])
    counts: Counter[str] = Counter()
    added, changed, gone = list[SharedRecord](), list[SharedRecord](), list[SharedRecord]()
    for id in sorted(records):
        record, before = records[id], held.get(id)
        is_held = before is not None and not before.gone
        if erased.has("shared", id):
            counts["erased"] += 1
        elif record.shared > latest:
            refused.append(RefusedLine(person_path(record.email), 0, "dated in the future"))
        elif id in sent or _is_own(writer, bank, record, email):
            counts["own"] += 1
        elif before is not None and newer(before, record) is before:
            counts["known"] += 1
        elif not record.gone:
            clean, secrets = _redact(record, redactor)
            counts["redacted"] += secrets
            (changed if is_held else added).append(clean)
        elif is_held:
            gone.append(record)
        else:
            counts["known"] += 1
    return ShareImportPlan(
        place, tuple(added), tuple(changed), tuple(gone), counts["known"], counts["own"],
        counts["erased"], tuple(refused), counts["redacted"],
    )  # fmt: skip


def _is_own(reader: Reader, bank: str, record: SharedRecord, email: str) -> bool:
    """Whether a record was shared in our name and its origin is in this memory."""
    parsed = parse_uri(record.origin)
    if parsed is None or record.email.lower() != email.lower():
        return False
    known = reader.records.find(bank, parsed.kind, parsed.id) or reader.curation.find_hidden(
        bank, parsed.kind, parsed.id
    )
    return any(one.id == parsed.id for one in known)


def _redact(record: SharedRecord, redactor: Redactor) -> tuple[SharedRecord, int]:
    """The record without secrets that its author let through, and how many there were."""
    names = ("text", "note", "author")
    redacted = {name: redactor.redact(getattr(record, name)) for name in names}
    texts = {name: found.text for name, found in redacted.items()}
    files = tuple(redactor.redact(file).text for file in record.files)
    secrets = sum(sum(found.counts.values()) for found in redacted.values())
    return replace(record, files=files, **texts), secrets


def import_shares(
    writer: Writer, bank: str, planned: ShareImportPlan, now: Callable[[], str], who: str
) -> str:
    """Import what was planned; returns the URI of the import, "" if there was nothing."""
    if planned.is_empty:
        return ""
    time = now()
    found = (*planned.added, *planned.changed, *planned.gone)
    records = [replace(record, bank=bank) for record in found]
    id = content_id(SHARE_IMPORT, bank, time, *(record.version for record in records))
    name = uri(SHARE_IMPORT, id)
    with writer.transaction():
        writer.shares.put_import(
            ShareImport(bank, id, planned.source.name, planned.source.heads, time), records
        )
        summary = f"{len(records)} from {planned.source.name}"
        writer.curation.append(Curation(0, bank, time, Action.PULL, name, summary, who))
        refresh_passages(writer, bank, [record.id for record in records])
    return name


def refresh_passages(writer: Writer, bank: str, ids: Iterable[str]) -> None:
    """Write the passages of those shared records that are shown, and remove those of the rest."""
    listed = list(ids)
    shown = {shared.id: shared for shared in writer.shares.all(bank)}
    passages = [shared_passage(shown[id]) for id in listed if id in shown]
    writer.shares.put_passages(bank, listed, passages)
