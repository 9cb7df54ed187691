"""Taking in what others share: with `team` provenance, in their name, as one step to be undone.

What is our own is not taken, nor what was erased here; what is refused is counted with a word, and
takes nothing else with it. What somebody forgot here stays forgotten, in whatever words it comes.
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
from holdfast.store.protocol.shares import ShareImport

SHARED = "shared"
SHARE_IMPORT = "taking"
_AHEAD = timedelta(days=2)


class ShareSource(NamedTuple):
    """Where things are taken from: its name, and the commits that were read there."""

    name: str
    heads: tuple[str, ...] = ()


class ShareImportPlan(NamedTuple):
    """What taking in would change: what is new, what is said anew, and what was taken back by who
    shared it; how much is known or our own; what is refused, by reason; secrets taken out."""

    place: ShareSource
    added: tuple[SharedRecord, ...] = ()
    changed: tuple[SharedRecord, ...] = ()
    gone: tuple[SharedRecord, ...] = ()
    known: int = 0
    own: int = 0
    erased: int = 0
    refused: tuple[RefusedLine, ...] = ()
    redacted: int = 0

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to take."""
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
    """What taking in some shared records would change; `email` is who we are."""
    held = {shared.id: shared for shared in writer.current_shared(bank)}
    records, refused = found
    sent = writer.sent_ids(bank)
    told = ShareImportPlan(place, refused=tuple(refused))
    latest = (datetime.fromisoformat(now) + _AHEAD).isoformat()
    erased = ErasedNames(writer, bank, [("shared", id) for id in records])
    for id in sorted(records):
        record, before = records[id], held.get(id)
        if erased.has("shared", id):
            told = told._replace(erased=told.erased + 1)
        elif record.shared > latest:
            line = RefusedLine(person_path(record.email), 0, "dated in the future")
            told = told._replace(refused=(*told.refused, line))
        elif id in sent or _is_own(writer, bank, record, email):
            told = told._replace(own=told.own + 1)
        elif before is not None and newer(before, record) is before:
            told = told._replace(known=told.known + 1)
        elif record.gone:
            told = _taken_back(told, before, record)
        else:
            told = _taken(told, before, record, redactor)
    return told


def _is_own(reader: Reader, bank: str, record: SharedRecord, email: str) -> bool:
    """Whether a record was shared in our name out of a memory that knows what this one does."""
    named = parse_uri(record.origin)
    if named is None or record.email.lower() != email.lower():
        return False
    there = reader.find(bank, named.kind, named.id) or reader.find_hidden(
        bank, named.kind, named.id
    )
    return any(one.id == named.id for one in there)


def _taken_back(
    told: ShareImportPlan, before: SharedRecord | None, record: SharedRecord
) -> ShareImportPlan:
    if before is None or before.gone:
        return told._replace(known=told.known + 1)
    return told._replace(gone=(*told.gone, record))


def _taken(
    told: ShareImportPlan, before: SharedRecord | None, record: SharedRecord, redactor: Redactor
) -> ShareImportPlan:
    """Secrets do not come in, even where somebody else let them out."""
    texts = [redactor.redact(text) for text in (record.text, record.note, record.author)]
    files = tuple(redactor.redact(file).text for file in record.files)
    clean = replace(
        record, text=texts[0].text, note=texts[1].text, author=texts[2].text, files=files
    )
    told = told._replace(redacted=told.redacted + sum(sum(t.taken.values()) for t in texts))
    if before is None or before.gone:
        return told._replace(added=(*told.added, clean))
    return told._replace(changed=(*told.changed, clean))


def import_shares(
    writer: Writer, bank: str, planned: ShareImportPlan, now: Callable[[], str], who: str
) -> str:
    """Take in what was planned; returns the name of the taking, "" if there was nothing."""
    if planned.nothing:
        return ""
    time = now()
    found = (*planned.added, *planned.changed, *planned.gone)
    records = [replace(record, bank=bank) for record in found]
    id = content_id(SHARE_IMPORT, bank, time, *(record.version for record in records))
    name = uri(SHARE_IMPORT, id)
    with writer.transaction():
        writer.put_share_import(
            ShareImport(bank, id, planned.place.name, planned.place.heads, time), records
        )
        told = f"{len(records)} from {planned.place.name}"
        writer.append_curation(Curation(0, bank, time, Action.PULL, name, told, who))
        refresh_passages(writer, bank, [record.id for record in records])
    return name


def refresh_passages(writer: Writer, bank: str, ids: Iterable[str]) -> None:
    """Make what is shown of some shared records findable, and nothing else of them."""
    listed = list(ids)
    shown = {shared.id: shared for shared in writer.shared(bank)}
    passages = [shared_passage(shown[id]) for id in listed if id in shown]
    writer.put_shared_passages(bank, listed, passages)


def refresh_passages_of(writer: Writer, bank: str, kind: str, id: str) -> None:
    """The same for one shared record, or for all that a taking brought."""
    refresh_passages(
        writer, bank, writer.share_import_ids(bank, id) if kind == SHARE_IMPORT else [id]
    )
