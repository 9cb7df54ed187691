"""Hits and citations with what became of their code, by stored history and a look at the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from holdfast.app.core.context import current_folder
from holdfast.errors import HoldfastError
from holdfast.learn.decision_state import in_effect
from holdfast.model.anchors import CodeAnchor, FileFreshness
from holdfast.model.curation import Action, Curation
from holdfast.model.kinds import record_kind
from holdfast.model.query import Citation, Hit
from holdfast.model.trust import Freshness
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.links.anchors import anchor
from holdfast.recall.links.disk_check import MAX_FILE_CHECKS, DiskCheck
from holdfast.sources.rule_locations import project_root
from holdfast.store.protocol import Reader, Record
from holdfast.store.protocol.git_history import Repository

_MAX_CAVEATS = 3


def with_freshness(reader: Reader, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Hits with their freshness."""
    disks = WorkingFolders(reader)
    return tuple(_add_freshness(reader, hit, disks) for hit in hits)


def _add_freshness(reader: Reader, hit: Hit, disks: WorkingFolders) -> Hit:
    for record in _records(reader, hit.bank, hit.uri):
        found = anchor_since_confirmed(disks, record)
        return replace(hit, freshness=found.freshness, since=found.description)
    return hit


def changed_code_notes(reader: Reader, citations: Iterable[Citation]) -> tuple[str, ...]:
    """Sentences on the cited code that changed since, the most changed first."""
    disks = WorkingFolders(reader)
    told: list[tuple[FileFreshness, int]] = []
    for citation in citations:
        for record in _records(reader, None, citation.uri):
            worst = anchor_since_confirmed(disks, record).affected_files[:1]
            told += [(fate, citation.number) for fate in worst]
    by_file: dict[str, tuple[FileFreshness, list[int]]] = {}
    for fate, number in told:
        by_file.setdefault(fate.description, (fate, []))[1].append(number)
    return tuple(_changed_code_note(fate, numbers) for fate, numbers in list(by_file.values())[:_MAX_CAVEATS])


def _changed_code_note(fate: FileFreshness, numbers: Sequence[int]) -> str:
    cited = ", ".join(f"[{number}]" for number in numbers)
    lines = f" ({fate.lines:,} line{'s' * (fate.lines != 1)})" if fate.lines else ""
    often = f"has changed in {fate.commit_count} commit{'s' * (fate.commits != 1)} since {cited}{lines}"
    if fate.freshness is Freshness.GONE:
        return f"{fate.path}, which {cited} speaks of, is gone."
    if fate.freshness is Freshness.RENAMED:
        return f"{fate.path} is now {fate.now}" + (f" and {often}." if fate.commits else ".")
    if not fate.commits:
        return f"{fate.path} has changed on disk since {cited}."
    return f"{fate.path} {often}."


class WorkingFolders:
    """The working folder of each bank: that we stand in, or that its history was read from."""

    def __init__(self, reader: Reader, looks: int = MAX_FILE_CHECKS) -> None:
        self._reader = reader
        self._looks = looks
        self._known: dict[str, DiskCheck] = {}
        self._held: dict[str, dict[str, Curation]] = {}

    @property
    def reader(self) -> Reader:
        """What tells of the histories."""
        return self._reader

    def last_confirmation(self, record: Record) -> Curation | None:
        """That somebody said a record still holds, the last time they did."""
        if record.bank not in self._held:
            self._held[record.bank] = confirmations(self._reader, record.bank)
        return self._held[record.bank].get(uri(record_kind(record), record.id))

    def of(self, bank: str) -> DiskCheck:
        """That of one bank; nowhere, where there is none."""
        if bank not in self._known:
            self._known[bank] = self._find(bank)
        return self._known[bank]

    def _find(self, bank: str) -> DiskCheck:
        for repository in self._reader.repositories(bank):
            beside = str(Path(repository.path).parent)
            for top in (_worktree_here(repository), repository.folder, beside):
                if top and os.path.exists(os.path.join(top, ".git")):  # noqa: PTH110, PTH118
                    return DiskCheck(top, repository.read_at, self._looks, _has_blob)
        return DiskCheck()


def _has_blob(path: str, blob: str) -> bool:
    """Whether a file holds what git knows by a name; seldom asked, so it is loaded then."""
    from holdfast.recall.links import git_blobs

    return bool(git_blobs.has_blob(path, blob))


def _worktree_here(repository: Repository) -> str:
    """The top of the project that we stand in, if it is one of the repository's; "" if not. Told
    without running git."""
    try:
        top = Path(project_root(current_folder()))
        link = top / ".git"
        if link.is_file():
            place = link.read_text("utf-8").removeprefix("gitdir:").strip()
            own = (top / place).resolve()
            return str(top) if own.parent.parent == Path(repository.path) else ""
    except (HoldfastError, OSError, UnicodeDecodeError):
        return ""
    return str(top) if link == Path(repository.path) else ""


def confirmations(reader: Reader, bank: str) -> dict[str, Curation]:
    """The records that somebody said still hold, each with the last time that they did."""
    log = in_effect(reader.curations(bank))
    return {entry.target: entry for entry in log if entry.action is Action.CONFIRM}


def anchor_since_confirmed(disks: WorkingFolders, record: Record, whole: bool = False) -> CodeAnchor:
    """The anchor of a record; if its code changed and somebody said later that it holds, by what
    came after that."""
    disk = disks.of(record.bank)
    found = anchor(disks.reader, record, disk, whole)
    if not found.affected_files:
        return found
    held = disks.last_confirmation(record)
    if held is None:
        return found
    found = anchor(disks.reader, record, disk, whole, held.time)
    gone = [f for f in found.files if f.freshness is Freshness.GONE and f.since <= held.time]
    return found._replace(files=tuple(file for file in found.files if file not in gone))


def whole_anchor(reader: Reader, record: Record) -> CodeAnchor:
    """The whole anchor of one record."""
    return anchor_since_confirmed(WorkingFolders(reader), record, whole=True)


def _records(reader: Reader, bank: str | None, name: str) -> list[Record]:
    named = parse_uri(name)
    return reader.find(bank, named.kind, named.id, 1) if named else []
