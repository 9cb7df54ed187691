"""What became of the code that hits and citations are about, by git history and files on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from holdfast.app.core.context import current_folder
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import replace
from holdfast.model.anchors import CodeAnchor, FileFreshness
from holdfast.model.curation import Action, Curation, in_effect
from holdfast.model.kinds import record_kind
from holdfast.model.query import Citation, Hit
from holdfast.model.trust import Freshness
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.links.anchors import anchor
from holdfast.recall.links.disk_check import MAX_FILE_CHECKS, DiskCheck
from holdfast.sources.rule_locations import project_root
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader
from holdfast.store.records.git_history import Repository

# Notes on changed code in one answer; more would bury the answer.
_MAX_CAVEATS = 3


def with_freshness(reader: Reader, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits, with the freshness of their code."""
    folders = WorkingFolders(reader)
    return tuple(_add_freshness(reader, hit, folders) for hit in hits)


def _add_freshness(reader: Reader, hit: Hit, folders: WorkingFolders) -> Hit:
    for record in _records(reader, hit.bank, hit.uri):
        found = anchor_since_confirmed(folders, record)
        return replace(hit, freshness=found.freshness, since=found.description)
    return hit


def changed_code_notes(reader: Reader, citations: Iterable[Citation]) -> tuple[str, ...]:
    """Sentences on cited code that changed since, one per file."""
    folders = WorkingFolders(reader)
    changed: list[tuple[FileFreshness, int]] = []
    for citation in citations:
        for record in _records(reader, None, citation.uri):
            worst = anchor_since_confirmed(folders, record).affected_files[:1]
            changed += [(file, citation.number) for file in worst]
    by_file: dict[str, tuple[FileFreshness, list[int]]] = {}
    for file, number in changed:
        by_file.setdefault(file.description, (file, []))[1].append(number)
    return tuple(
        _changed_code_note(file, numbers) for file, numbers in list(by_file.values())[:_MAX_CAVEATS]
    )


def _changed_code_note(file: FileFreshness, numbers: Sequence[int]) -> str:
    cited = ", ".join(f"[{number}]" for number in numbers)
    lines = f" ({file.lines:,} line{'s' * (file.lines != 1)})" if file.lines else ""
    often = (
        f"has changed in {file.commit_count} commit{'s' * (file.commits != 1)} since {cited}{lines}"
    )
    if file.freshness is Freshness.GONE:
        return f"{file.path}, which {cited} is about, is gone."
    if file.freshness is Freshness.RENAMED:
        return f"{file.path} is now {file.now}" + (f" and {often}." if file.commits else ".")
    if not file.commits:
        return f"{file.path} has changed on disk since {cited}."
    return f"{file.path} {often}."


class WorkingFolders:
    """The working folder of each bank: the current one if it belongs to the bank, else the one that
    its history was read from. `max_checks` limits the files that are read per folder."""

    def __init__(self, reader: Reader, max_checks: int = MAX_FILE_CHECKS) -> None:
        self._reader = reader
        self._max_checks = max_checks
        self._folders: dict[str, DiskCheck] = {}
        self._confirmations: dict[str, dict[str, Curation]] = {}

    @property
    def reader(self) -> Reader:
        """The store."""
        return self._reader

    def last_confirmation(self, record: Record) -> Curation | None:
        """The last time that somebody confirmed a record, if ever."""
        if record.bank not in self._confirmations:
            self._confirmations[record.bank] = confirmations(self._reader, record.bank)
        return self._confirmations[record.bank].get(uri(record_kind(record), record.id))

    def of(self, bank: str) -> DiskCheck:
        """The working folder of a bank; an empty check if there is none."""
        if bank not in self._folders:
            self._folders[bank] = self._find(bank)
        return self._folders[bank]

    def _find(self, bank: str) -> DiskCheck:
        for repository in self._reader.git.repositories(bank):
            beside = str(Path(repository.path).parent)
            for top in (_worktree_here(repository), repository.folder, beside):
                if top and os.path.exists(os.path.join(top, ".git")):  # noqa: PTH110, PTH118
                    return DiskCheck(top, repository.read_at, self._max_checks, _has_blob)
        return DiskCheck()


def _has_blob(path: str, blob: str) -> bool:
    """Whether a file has the content of a git blob. Imported when needed, which is rare."""
    from holdfast.recall.links import git_blobs

    return bool(git_blobs.has_blob(path, blob))


def _worktree_here(repository: Repository) -> str:
    """The top folder of the current project if it is a working tree of this repository, else "".
    Reads files instead of running git, which is slower."""
    try:
        top = Path(project_root(current_folder()))
        link = top / ".git"
        if link.is_file():
            git_folder = link.read_text("utf-8").removeprefix("gitdir:").strip()
            own = (top / git_folder).resolve()
            return str(top) if own.parent.parent == Path(repository.path) else ""
    except (HoldfastError, OSError, UnicodeDecodeError):
        return ""
    return str(top) if link == Path(repository.path) else ""


def confirmations(reader: Reader, bank: str) -> dict[str, Curation]:
    """The last confirmation of each record that somebody confirmed, by URI."""
    log = in_effect(reader.curation.log(bank))
    return {entry.target: entry for entry in log if entry.action is Action.CONFIRM}


def anchor_since_confirmed(
    folders: WorkingFolders, record: Record, whole: bool = False
) -> CodeAnchor:
    """The code anchor of a record. If somebody confirmed the record after its code changed, only
    later changes count."""
    disk = folders.of(record.bank)
    found = anchor(folders.reader, record, disk, whole)
    if not found.affected_files:
        return found
    confirmation = folders.last_confirmation(record)
    if confirmation is None:
        return found
    found = anchor(folders.reader, record, disk, whole, confirmation.time)
    gone = [
        f for f in found.files if f.freshness is Freshness.GONE and f.since <= confirmation.time
    ]
    return found._replace(files=tuple(file for file in found.files if file not in gone))


def whole_anchor(reader: Reader, record: Record) -> CodeAnchor:
    """The code anchor of one record with all of its files."""
    return anchor_since_confirmed(WorkingFolders(reader), record, whole=True)


def _records(reader: Reader, bank: str | None, name: str) -> list[Record]:
    named = parse_uri(name)
    return reader.records.find(bank, named.kind, named.id, 1) if named else []
