"""The prepared files: everything a hook may have to answer with, written ahead of time.

Each file is written to a temporary file and renamed, readable by its owner only. A bank that did
not change is skipped by its fingerprint; the files of a deleted bank are removed.

A session brief says what it was made of: the `revision` of the bank, and the stamps of `files`. A
hook compares them before it tells the brief (`is_current` in answer.py). `without_files` is the
brief that quotes none of these files, for when one changed and there is no time to read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from holdfast.brief.frame import Brief
from holdfast.brief.notice import last_work
from holdfast.brief.session_brief import session_brief
from holdfast.brief.triggers import Triggers, error_triggers, file_triggers
from holdfast.capture.home_paths import EVENT_VERSION, HomePaths
from holdfast.capture.unread_mark import clear_unread
from holdfast.model.bank import Bank
from holdfast.model.ids import content_id
from holdfast.private_files import write_private
from holdfast.refine.facts.error_signatures import PATTERNS
from holdfast.refine.rules.rule_roots import memory_file_stamps
from holdfast.settings import BriefSettings
from holdfast.sources.rule_locations import file_stamp
from holdfast.store.protocol import Reader, Writer

# Raise it when briefs change, so that all are written again.
_FORMAT_VERSION = 24
_FOLDERS_FILE = "folders.json"
_SETTINGS_FILE = "settings.json"
_TRIGGERS_SUFFIX = ".triggers.json"
# This file exists if subagents get a brief.
SUBAGENTS_FLAG = "subagents"


def write_briefs(
    reader: Writer, places: HomePaths, settings: BriefSettings, now: str, only: str = ""
) -> list[str]:
    """Update the prepared files and return the banks that were written. `only` is the bank to which
    everything belongs, if the settings name one."""
    folder = places.briefs
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    banks = reader.banks.all()
    written = [bank.id for bank in banks if _write_bank(reader, folder, bank, settings, now)]
    _write_json(folder / _FOLDERS_FILE, _folders(reader, banks, only))
    flags = {
        "session": settings.session,
        "goal": settings.goal,
        "triggers": settings.triggers,
        "subagents": settings.subagents,
        "notice": settings.notice,
    }
    _write_json(folder / _SETTINGS_FILE, {"v": EVENT_VERSION, **flags})
    # The hook's shell script checks this file before it starts an interpreter.
    if settings.subagents:
        (folder / SUBAGENTS_FLAG).touch(0o600)
    else:
        (folder / SUBAGENTS_FLAG).unlink(missing_ok=True)
    _remove_stale_files(folder, {bank.id for bank in banks})
    # Its modification time tells hooks when the files were last updated.
    (folder / _FOLDERS_FILE).touch()
    clear_unread(places)
    return written


def _write_bank(
    reader: Writer, folder: Path, bank: Bank, settings: BriefSettings, now: str
) -> bool:
    """Write a bank's files; returns False if nothing has changed."""
    path = folder / f"{bank.id}.json"
    # Read before the records are: a change in between is noticed by the next hook.
    made_of = _made_of(reader, bank)
    key = _fingerprint(reader, bank, settings, made_of)
    if _read_json(path).get("key") == key:
        return False
    rules = reader.rules.all(bank.id)
    brief = session_brief(reader, bank.id, settings.tokens, settings.exchanges, rules)
    if any(rule.is_memory_file for rule in rules):
        others = [rule for rule in rules if not rule.is_memory_file]
        without = session_brief(reader, bank.id, settings.tokens, settings.exchanges, others)
        made_of["without_files"] = _brief_entry(without)
    last = last_work(reader, bank.id)
    head = {"v": EVENT_VERSION, "bank": bank.id, "name": bank.name, "last": last}
    errors = error_triggers(reader, bank.id) if settings.triggers else {}
    files = file_triggers(reader, bank.id) if settings.triggers else {}
    triggers = {
        "bank": bank.id,
        "revision": made_of["revision"],
        "files": _trigger_entries(files),
        "errors": _trigger_entries(errors),
        "patterns": PATTERNS,
    }
    _write_json(folder / f"{bank.id}{_TRIGGERS_SUFFIX}", {"v": EVENT_VERSION, **triggers})
    # The fingerprint is written last: an interrupted run is repeated.
    _write_json(path, {**head, **_brief_entry(brief), **made_of, "made": now, "key": key})
    return True


def prepared_brief(
    reader: Writer, places: HomePaths, bank: str, settings: BriefSettings
) -> Brief | None:
    """The prepared brief of a bank, if nothing that it was made of has changed since."""
    known = reader.banks.get(bank)
    entry = _read_json(places.briefs / f"{bank}.json") if known else {}
    if known is None or "key" not in entry:
        return None
    made_of = _made_of(reader, known)
    files = cast("dict[str, str]", made_of["files"])
    is_current = all(file_stamp(file) == stamp for file, stamp in files.items())
    if not is_current or entry["key"] != _fingerprint(reader, known, settings, made_of):
        return None
    return Brief(str(entry["id"]), str(entry["text"]), tuple(entry["records"]))


def _made_of(reader: Writer, bank: Bank) -> dict[str, object]:
    """The revision of a bank, and the stamps of the files that its brief quotes."""
    return {
        "revision": reader.progress.revision(bank.id),
        "files": {
            # One that was not read is new, or the settings leave it out.
            file: stamp or file_stamp(file)
            for file, stamp in memory_file_stamps(reader, bank.id).items()
        },
    }


def _fingerprint(
    reader: Reader, bank: Bank, settings: BriefSettings, made_of: Mapping[str, object]
) -> str:
    """A hash of everything that a bank's brief depends on."""
    counts = reader.records.counts(bank.id, with_turns=False)
    # A journal that is read after its transcript adds bytes and nothing else.
    counts = counts._replace(raw_bytes=0, l1_bytes=0)
    latest = [
        p.id
        for kind in ("exchange", "commit", "memory")
        for p in reader.passages.recent(bank.id, kind, 3)
    ]
    curated = len(reader.curation.log(bank.id))
    inputs = (
        _FORMAT_VERSION,
        bank.name,
        counts,
        reader.sessions.last_end(bank.id),
        latest,
        curated,
        settings,
        made_of,
    )
    return content_id(repr(inputs))


def _brief_entry(brief: Brief) -> dict[str, object]:
    return {"id": brief.id, "text": brief.text, "records": brief.records}


def _trigger_entries(triggers: Triggers) -> dict[str, list[dict[str, object]]]:
    return {name: [_brief_entry(brief) for brief in briefs] for name, briefs in triggers.items()}


def _folders(reader: Reader, banks: list[Bank], only: str) -> dict[str, object]:
    """Which bank a folder belongs to: by the bank's aliases, and by the folders in which its
    sessions ran."""
    folders: dict[str, str] = {}
    aliases: dict[str, str] = {}
    for bank in banks:
        for folder in reader.banks.session_folders(bank.id):
            folders.setdefault(folder, bank.id)
    for bank in banks:
        for alias in bank.aliases:
            kind, _, name = alias.partition(":")
            if kind in ("path", "folder"):
                folders[name] = bank.id
            elif kind in ("gitdir", "remote"):
                aliases[alias] = bank.id
    return {"v": EVENT_VERSION, "all": only, "folders": folders, "aliases": aliases}


def _remove_stale_files(folder: Path, banks: set[str]) -> None:
    for path in folder.glob("*.json"):
        bank = path.name.removesuffix(_TRIGGERS_SUFFIX).removesuffix(".json")
        if bank not in banks and path.name not in (_FOLDERS_FILE, _SETTINGS_FILE):
            path.unlink(missing_ok=True)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value: object = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _write_json(path: Path, value: Mapping[str, object]) -> None:
    """Write a file atomically, readable by its owner only; an unchanged file is left alone."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass
    write_private(path, data)
