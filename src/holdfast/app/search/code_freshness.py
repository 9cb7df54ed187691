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
    code = CodeFreshness(reader)
    found = ((hit, next(iter(_records(reader, hit.bank, hit.uri)), None)) for hit in hits)
    return tuple(
        replace(hit, freshness=(at := code.of(record)).freshness, since=at.description)
        if record is not None
        else hit
        for hit, record in found
    )


def changed_code_notes(reader: Reader, citations: Iterable[Citation]) -> tuple[str, ...]:
    """Sentences on cited code that changed since, one per file."""
    code = CodeFreshness(reader)
    by_file: dict[str, tuple[FileFreshness, list[int]]] = {}
    for citation in citations:
        for record in _records(reader, None, citation.uri):
            for worst in code.of(record).affected_files[:1]:
                by_file.setdefault(worst.description, (worst, []))[1].append(citation.number)
    return tuple(_changed_code_note(*found) for found in list(by_file.values())[:_MAX_CAVEATS])


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


class CodeFreshness:
    """What became of the code of records. A bank is compared with its working folder: the current
    one if it belongs to the bank, else the one that its history was read from. `max_checks` limits
    the files that are read per folder."""

    def __init__(self, reader: Reader, max_checks: int = MAX_FILE_CHECKS) -> None:
        self._reader = reader
        self._max_checks = max_checks
        self._folders: dict[str, DiskCheck] = {}
        self._confirmations: dict[str, dict[str, Curation]] = {}

    def last_confirmation(self, record: Record) -> Curation | None:
        """The last time that somebody confirmed a record, if ever."""
        if record.bank not in self._confirmations:
            self._confirmations[record.bank] = confirmations(self._reader, record.bank)
        return self._confirmations[record.bank].get(uri(record_kind(record), record.id))

    def of(self, record: Record, whole: bool = False) -> CodeAnchor:
        """The code anchor of a record, with all of its files if `whole`. If somebody confirmed the
        record after its code changed, only later changes count."""
        if record.bank not in self._folders:
            self._folders[record.bank] = self._working_folder(record.bank)
        disk = self._folders[record.bank]
        found = anchor(self._reader, record, disk, whole)
        confirmation = self.last_confirmation(record) if found.affected_files else None
        if confirmation is None:
            return found
        found = anchor(self._reader, record, disk, whole, confirmation.time)
        kept = (
            file
            for file in found.files
            if file.freshness is not Freshness.GONE or file.since > confirmation.time
        )
        return found._replace(files=tuple(kept))

    def _working_folder(self, bank: str) -> DiskCheck:
        """The working folder of a bank; an empty check if there is none."""
        for repository in self._reader.git.repositories(bank):
            beside = str(Path(repository.path).parent)
            for top in (_worktree_here(repository), repository.folder, beside):
                if top and os.path.exists(os.path.join(top, ".git")):  # noqa: PTH110, PTH118
                    return DiskCheck(top, repository.read_at, self._max_checks, _has_blob)
        return DiskCheck()


def whole_anchor(reader: Reader, record: Record) -> CodeAnchor:
    """The code anchor of one record with all of its files."""
    return CodeFreshness(reader).of(record, whole=True)


def confirmations(reader: Reader, bank: str) -> dict[str, Curation]:
    """The last confirmation of each record that somebody confirmed, by URI."""
    log = in_effect(reader.curation.log(bank))
    return {entry.target: entry for entry in log if entry.action is Action.CONFIRM}


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
            link = (top / git_folder).resolve().parent.parent
    except (HoldfastError, OSError, UnicodeDecodeError):
        return ""
    return str(top) if link == Path(repository.path) else ""


def _records(reader: Reader, bank: str | None, name: str) -> list[Record]:
    named = parse_uri(name)
    return reader.records.find(bank, named.kind, named.id, 1) if named else []
