"""Dialogues as imports: what was read of a file is noted, taken back, and brought back as one.

A dialogue becomes sessions and turns, so taking it back is forgetting them: each entry of the log
names the import that it belongs to, and reading the same file again restores what they put away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.app.transfer.export_format import FORMAT
from holdfast.errors import InputError
from holdfast.learn.curation import Curator, Target
from holdfast.learn.decision_state import in_effect
from holdfast.learn.import_intake import IMPORT_BATCH
from holdfast.model.curation import Action, Curation
from holdfast.model.ids import content_id
from holdfast.model.imports import ImportBatch
from holdfast.model.uris import parse_uri, uri
from holdfast.refine.core.bank_creation import BankMaker
from holdfast.refine.ingest.ingest import IngestReport, ingest
from holdfast.refine.ingest.read_plan import Input
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.settings import Settings
from holdfast.sources import conversation
from holdfast.sources.json_fields import Record, mapping
from holdfast.store.protocol import Reader, Writer
from holdfast.store.sqlite.store import SqliteStore

_ALL = 1_000_000
_FIRST = 200
_LINE = 1 << 20


def preview(reader: Reader, settings: Settings, path: Path, bank: str) -> IngestReport:
    """What reading a file would come to: what is new in it is read into a memory that is thrown
    away."""
    known = reader.source_at(str(path))
    with TemporaryDirectory(prefix="holdfast-look-") as place:
        copy = Path(place) / path.name
        with path.open("rb") as file, copy.open("wb") as part:
            file.seek(known.offset if known is not None else 0)
            while data := file.read(1 << 20):
                part.write(data)
        own = replace(settings, home=Path(place) / "home", store="")
        store = SqliteStore(own.database)
        try:
            rules = PrivacyRules(own.redact_patterns, own.exclude_tools, own.exclude_paths)
            banks = BankMaker(own, lambda: "")
            return ingest(store, banks, [Input(copy, conversation.AGENT, bank)], rules, lambda: "")
        finally:
            store.close()


def check_is_conversation(reader: Reader, path: Path) -> None:
    """Refuse a file that is no dialogue, before its lines stand in the ledger for good: one that
    was never read, and whose first lines hold not a single turn."""
    if reader.source_at(str(path)) is not None:
        return
    with path.open("rb") as file:
        first = list(islice(iter(lambda: file.readline(_LINE), b""), _FIRST))
    lines = [line for line in first if line.strip()]
    if lines and _object(lines[0]).get("format") == FORMAT:
        raise InputError(
            f"{path} is an export of Holdfast's, and no dialogue.",
            "`holdfast import holdfast FILE` brings it back. Nothing was imported.",
        )
    if lines and not any(map(_is_turn, lines)):
        raise InputError(
            f"{path} is no dialogue: none of its first {len(lines):,} lines is a JSON object "
            "with a `text`.",
            "Each line is to hold session, id, time, speaker and text. Nothing was imported.",
        )


def _is_turn(line: bytes) -> bool:
    # A line that is longer than what was read of it may well be one.
    is_part = len(line) >= _LINE and line.lstrip().startswith(b"{")
    return is_part or isinstance(_object(line).get("text"), str)


def _object(line: bytes) -> Record:
    try:
        return mapping(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def record_batch(writer: Writer, path: Path, account: IngestReport, now: str, who: str) -> None:
    """Note that something of a file came in."""
    source = writer.source_at(str(path))
    if source is None or not account.captured:
        return
    number = str(len(writer.import_batches()))
    id = content_id(IMPORT_BATCH, conversation.AGENT, str(path), now, number)
    told = ImportBatch(
        source.bank, id, conversation.AGENT, str(path), now, {"turn": account.captured},
        {"line": account.skipped} if account.skipped else {},
        {"line": account.failed} if account.failed else {}, account.redacted,
    )  # fmt: skip
    writer.put_import_batch(told)
    name = f"{account.captured} from {path}"
    writer.append_curation(Curation(0, source.bank, now, Action.IMPORT, uri(IMPORT_BATCH, id), name, who))


def forget_batch(writer: Writer, undone: Curation, curator: Curator, now: str) -> None:
    """Forget all that came of the file of an import that was taken back, if it was a dialogue."""
    named = parse_uri(undone.target)
    found = [one for one in writer.import_batches(undone.bank) if named and one.id == named.id]
    if not found or found[0].program != conversation.AGENT:
        return
    source = writer.source_at(found[0].place)
    if source is not None:
        targets = list(_of(writer, undone.bank, source.id))
        _decide(writer, Action.FORGET, targets, curator, (now, undone.target, undone.who))


def restore_forgotten(writer: Writer, path: Path, curator: Curator, now: str) -> bool:
    """Restore what the undoing of a file's import put away; whether there was anything."""
    source = writer.source_at(str(path))
    if source is None:
        return False
    bank = source.bank
    log = in_effect(writer.curations(bank))
    names = {uri(IMPORT_BATCH, one.id) for one in writer.import_batches(bank) if one.place == str(path)}
    away = [e for e in log if e.action is Action.FORGET and e.text in names]
    named = [(entry, parse_uri(entry.target)) for entry in away]
    targets = [
        Target(bank, name.kind, name.id, known.session if known else "")
        for _, name in named
        if name and (known := writer.curation_state(bank, name.kind, name.id)) and known.forgotten
    ]
    if targets:
        who = away[0].who
        _decide(writer, Action.RESTORE, targets, curator, (now, "", who))
        turns = sum(len(writer.turns(bank, t.id)) for t in targets if t.kind == "session")
        account = IngestReport(captured=turns or len(targets))
        record_batch(writer, path, account, now, who)
    return bool(targets)


def _of(writer: Writer, bank: str, source: int) -> Iterable[Target]:
    """The sessions that came of a file, and its turns in those of other files."""
    for session in writer.sessions(bank, _ALL):
        if session.agent != conversation.AGENT:
            continue
        if session.source == source:
            yield Target(bank, "session", session.id, session.id)
        else:
            turns = writer.turns(bank, session.id)
            yield from (
                Target(bank, "turn", turn.id, session.id)
                for turn in turns
                if turn.origin.source == source
            )


def _decide(
    writer: Writer,
    action: Action,
    targets: list[Target],
    curator: Curator,
    told: tuple[str, str, str],
) -> None:
    now, text, who = told
    for target in targets:
        writer.append_curation(Curation(0, target.bank, now, action, target.uri, text, who))
    for bank in {target.bank for target in targets}:
        curator.apply(bank, [target for target in targets if target.bank == bank])
