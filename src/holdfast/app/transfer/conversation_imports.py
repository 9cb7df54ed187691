"""Imports of conversation files: previewing, recording, undoing and redoing them.

A conversation becomes sessions and turns, so undoing its import forgets those. Each of these log
entries has the URI of the import as its text; importing the same file again restores them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.app.ingest.ingestion import exclusion_rules
from holdfast.app.transfer.exporting import FORMAT
from holdfast.errors import InputError
from holdfast.learn.curation import Curator, Target
from holdfast.learn.import_intake import IMPORT_BATCH
from holdfast.model.curation import Action, Curation, in_effect
from holdfast.model.ids import content_id
from holdfast.model.imports import ImportBatch
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.core.banks import BankMaker
from holdfast.refine.ingest.ingest import ingest
from holdfast.refine.ingest.ingest_report import IngestReport
from holdfast.refine.ingest.read_plan import Input
from holdfast.settings import Settings
from holdfast.sources import conversation
from holdfast.sources.json_fields import Record, mapping
from holdfast.store.protocol import Reader, Writer
from holdfast.store.sqlite.store import SqliteStore

# Larger than any bank: asks the store for all sessions.
_NO_LIMIT = 1_000_000
# A file is refused if none of this many first lines is a turn. Fewer could refuse a conversation
# that starts with other lines; more reads longer before saying no.
_CHECKED_LINES = 200
# Longer lines are read in pieces of this size.
_MAX_LINE_BYTES = 1 << 20


def preview(reader: Reader, settings: Settings, path: Path, bank: str) -> IngestReport:
    """What importing a file would report: its new part is read into a temporary memory."""
    known = reader.sources.at_path(str(path))
    with TemporaryDirectory(prefix="holdfast-look-") as folder:
        copy = Path(folder) / path.name
        with path.open("rb") as file, copy.open("wb") as part:
            file.seek(known.offset if known is not None else 0)
            shutil.copyfileobj(file, part)
        own = replace(settings, home=Path(folder) / "home", store="")
        store = SqliteStore(own.database)
        try:
            banks, inputs = BankMaker(own, lambda: ""), [Input(copy, conversation.AGENT, bank)]
            return ingest(store, banks, inputs, exclusion_rules(own), lambda: "")
        finally:
            store.close()


def check_is_conversation(reader: Reader, path: Path) -> None:
    """Refuse a file that was never read and has no turn in its first lines, because its lines would
    stay in the ledger for good."""
    if reader.sources.at_path(str(path)) is not None:
        return
    with path.open("rb") as file:
        first = list(islice(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), _CHECKED_LINES))
    lines = [line for line in first if line.strip()]
    if lines and _object(lines[0]).get("format") == FORMAT:
        raise InputError(
            f"{path} is a Holdfast export, not a dialogue.",
            "`holdfast import holdfast FILE` restores it. Nothing was imported.",
        )
    if lines and not any(map(_is_turn, lines)):
        raise InputError(
            f"{path} is not a dialogue: none of its first {len(lines):,} lines is a JSON object "
            "with a `text`.",
            "Each line needs session, id, time, speaker and text. Nothing was imported.",
        )


def _is_turn(line: bytes) -> bool:
    # The first piece of a line that is too long to read at once may be a turn.
    is_piece = len(line) >= _MAX_LINE_BYTES and line.lstrip().startswith(b"{")
    return is_piece or isinstance(_object(line).get("text"), str)


def _object(line: bytes) -> Record:
    try:
        return mapping(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def record_batch(writer: Writer, path: Path, report: IngestReport, now: str, who: str) -> None:
    """Record an import, and log it, if anything of the file was stored."""
    source = writer.sources.at_path(str(path))
    if source is None or not report.captured:
        return
    number = str(len(writer.imports.batches()))
    id = content_id(IMPORT_BATCH, conversation.AGENT, str(path), now, number)
    batch = ImportBatch(
        source.bank, id, conversation.AGENT, str(path), now, {"turn": report.captured},
        {"line": report.skipped} if report.skipped else {},
        {"line": report.failed} if report.failed else {}, report.redacted,
    )  # fmt: skip
    writer.imports.put_batch(batch)
    target, name = uri(IMPORT_BATCH, id), f"{report.captured} from {path}"
    writer.curation.append(Curation(0, source.bank, now, Action.IMPORT, target, name, who))


def forget_batch(writer: Writer, undone: Curation, curator: Curator, now: str) -> None:
    """Forget all sessions and turns of an undone import, if it was of a conversation."""
    named = parse_uri(undone.target)
    found = [one for one in writer.imports.batches(undone.bank) if named and one.id == named.id]
    if not found or found[0].program != conversation.AGENT:
        return
    source = writer.sources.at_path(found[0].place)
    if source is not None:
        targets = list(_targets_in(writer, undone.bank, source.id))
        _log_and_apply(writer, Action.FORGET, targets, curator, (now, undone.target, undone.who))


def restore_forgotten(writer: Writer, path: Path, curator: Curator, now: str) -> bool:
    """Restore what undoing the import of a file forgot; returns whether there was anything."""
    source = writer.sources.at_path(str(path))
    if source is None:
        return False
    bank = source.bank
    log = in_effect(writer.curation.log(bank))
    names = {
        uri(IMPORT_BATCH, one.id) for one in writer.imports.batches(bank) if one.place == str(path)
    }
    forgotten = [e for e in log if e.action is Action.FORGET and e.text in names]
    targets = [
        Target(bank, name.kind, name.id, known.session)
        for entry in forgotten
        if (name := parse_uri(entry.target))
        and (known := writer.curation.state(bank, name.kind, name.id))
        and known.forgotten
    ]
    if targets:
        who = forgotten[0].who
        _log_and_apply(writer, Action.RESTORE, targets, curator, (now, "", who))
        turns = sum(
            len(writer.turns.of_session(bank, t.id)) for t in targets if t.kind == "session"
        )
        record_batch(writer, path, IngestReport(captured=turns or len(targets)), now, who)
    return bool(targets)


def _targets_in(writer: Writer, bank: str, source: int) -> Iterable[Target]:
    """The sessions that a file began, and its turns in sessions of other files."""
    for session in writer.sessions.latest(bank, _NO_LIMIT):
        if session.agent != conversation.AGENT:
            continue
        if session.source == source:
            yield Target(bank, "session", session.id, session.id)
        else:
            for turn in writer.turns.of_session(bank, session.id):
                if turn.origin.source == source:
                    yield Target(bank, "turn", turn.id, session.id)


def _log_and_apply(
    writer: Writer,
    action: Action,
    targets: list[Target],
    curator: Curator,
    logged: tuple[str, str, str],
) -> None:
    """Log one action for each target, with (time, text, author), and apply it."""
    now, text, who = logged
    for target in targets:
        writer.curation.append(Curation(0, target.bank, now, action, target.uri, text, who))
    for bank in {target.bank for target in targets}:
        curator.apply(bank, [target for target in targets if target.bank == bank])
