"""Plans the reading of files: compares each with the ledger and finds where its reading starts.
Also counts what is on disk and not read yet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.model.ledgers.lines import Source, SourceState
from holdfast.refine.core.banks import UNSORTED_BANK, BankMaker, find_bank_by_name
from holdfast.sources.claude_code import events
from holdfast.sources.claude_code import files as claude_code
from holdfast.sources.claude_code.records import READER_VERSION
from holdfast.sources.draft import NO_SESSION, DraftSession, FileInfo
from holdfast.sources.fingerprint import fingerprint
from holdfast.sources.lines import Openable, count_lines
from holdfast.sources.registry import DEFAULT_AGENT, agents
from holdfast.sources.source_files import SourceSnapshot, source_exists, source_snapshot
from holdfast.store.protocol import Reader, Writer

# Bytes of a file that are searched for its session's folder, title and parent.
_PEEK_BYTES = 512 * 1024


class Input(NamedTuple):
    """A file to read, by the agent that wrote it; `bank` is set where a person chose one."""

    path: Path
    agent: str
    bank: str = ""


class Job(NamedTuple):
    """A file with something new in it, from `start` up to the size that it had when it was planned.
    `journal` is the journal of hook events of the same session, "" if the file has none."""

    source: Source
    file: FileInfo
    start: int
    size: int
    stamp: str
    excluded: bool = False
    journal: str = ""


class ReadPlanner:
    """Plans one file at a time, by the state of the ledger."""

    def __init__(self, writer: Writer, banks: BankMaker) -> None:
        self._writer = writer
        self._banks = banks
        self._paths = HomePaths(banks.home)
        # A newer reader may be able to read lines that an older one failed on.
        self._retry = writer.sources.failed_before(READER_VERSION)

    def plan(self, item: Input) -> Job | None:
        """What to read of a file; None if nothing is new. One that cannot be read is recorded."""
        try:
            return self._plan(item)
        except OSError as error:
            self._mark_unreadable(item, error.strerror or str(error))
            return None

    def _plan(self, item: Input) -> Job | None:
        path = item.path
        seen = source_snapshot(path, item.agent)
        file, stamp = seen.file, seen.stamp
        if file is path:
            with path.open("rb") as opened:
                opened.read(1)  # raises if the file cannot be read
        source = self._writer.sources.at_path(str(path)) or self._find_moved(path, seen)
        if source is not None:
            self._refuse_other_bank(source, item)
        retry = source is not None and source.id in self._retry
        if source is not None and source.stamp == stamp and not retry:
            self._mark_live(source)
            return None
        size, info = seen.size, describe_file(item, file)
        cwd = info.session.cwd
        if source is None:
            source = self._new_source(item, cwd)
        else:
            source = self._assign_bank(source, item, cwd)
            if retry or _is_rewritten(file, source, size):
                source = self._restart(source)
        info = info._replace(root=self._banks.project(cwd).root if cwd else "")
        excluded = bool(cwd) and self._banks.is_excluded(cwd)
        start = next_line_start(file, source)
        journal = ""
        if item.agent == claude_code.AGENT:
            journal = str(self._paths.journal(_session_of_path(path)))
        return Job(source, info, start, size, stamp, excluded, journal)

    def _refuse_other_bank(self, source: Source, item: Input) -> None:
        """Raise `InputError` if a file was read into another bank, or as another agent's."""
        wanted = find_bank_by_name(self._writer, item.bank) if item.bank else None
        if source.agent == item.agent and (not item.bank or (wanted and wanted.id == source.bank)):
            return
        bank = self._writer.banks.get(source.bank)
        raise InputError(
            f"{source.path} is in memory already: read as {source.agent} into bank "
            f"{bank.name if bank else source.bank}.",
            "Leave out --bank, or give a copy of the file.",
        )

    def _assign_bank(self, source: Source, item: Input, cwd: str) -> Source:
        """Move a file out of the unsorted bank once its lines name a folder."""
        unsorted = self._writer.banks.id_by_alias(f"name:{UNSORTED_BANK}")
        if item.bank or not cwd or source.bank != unsorted:
            return source
        with self._writer.transaction():
            self._writer.derived.move_source(source.id, self._banks.ensure(self._writer, cwd))
        return self._writer.sources.get(source.id) or source

    def _restart(self, source: Source) -> Source:
        with self._writer.transaction():
            self._writer.sources.restart(source.id)
        return self._writer.sources.get(source.id) or source

    def _find_moved(self, path: Path, seen: SourceSnapshot) -> Source | None:
        """The missing source that a file continues, with the same name and content, such as a
        transcript that followed its session into a worktree. Its path is updated."""
        for source in self._writer.sources.named(path.name):
            if not source.offset or source_exists(source.path, source.agent):
                continue
            if not _is_rewritten(seen.file, source, seen.size):
                with self._writer.transaction():
                    self._writer.sources.move(source.id, str(path))
                return self._writer.sources.get(source.id)
        return None

    def _new_source(self, item: Input, cwd: str) -> Source:
        writer, banks = self._writer, self._banks
        with writer.transaction():
            bank = banks.ensure_named(writer, item.bank) if item.bank else None
            bank = bank or writer.banks.id_by_host_session(_session_of_path(item.path))
            bank = bank or (
                banks.ensure(writer, cwd) if cwd else banks.ensure_named(writer, UNSORTED_BANK)
            )
            return writer.sources.add(str(item.path), item.agent, bank)

    def _mark_live(self, source: Source) -> None:
        """Record that a file that was gone or unreadable is back unchanged."""
        if source.state is not SourceState.LIVE:
            with self._writer.transaction():
                self._writer.sources.set_state(source.id, SourceState.LIVE.value, "")

    def _mark_unreadable(self, item: Input, why: str) -> None:
        source = self._writer.sources.at_path(str(item.path)) or self._new_source(item, "")
        with self._writer.transaction():
            state = SourceState.UNREADABLE.value
            self._writer.sources.set_state(source.id, state, f"cannot be read: {why}")


def _is_rewritten(file: Openable, source: Source, size: int) -> bool:
    return size < source.offset or fingerprint(file, source.offset) != source.prefix


def _session_of_path(path: Path) -> str:
    """The session id in a path: the file's name or, for a subagent, the parent session's folder."""
    if claude_code.is_subagent(path.stem) and path.parent.name == "subagents":
        return path.parent.parent.name
    return path.stem


def describe_file(item: Input, file: Openable) -> FileInfo:
    """A file with what its start says about its session, whose folder stands for the project's."""
    session = _read_session(item, file)
    return FileInfo(str(item.path), item.agent, item.path.stem, session.cwd, session)


def _read_session(item: Input, file: Openable) -> DraftSession:
    """What the start of a file says about its session; a journal is read like a transcript."""
    agent = agents().get(DEFAULT_AGENT if item.agent == events.AGENT else item.agent)
    if agent is None:
        return NO_SESSION
    with file.open("rb") as opened:
        return agent.read_session(item.path, opened.read(_PEEK_BYTES))


def mark_missing_sources(writer: Writer) -> list[Source]:
    """Mark sources whose files are gone, and return those that were not marked before."""
    missing = [
        place.id
        for place in writer.sources.places(with_gone=False)
        if not source_exists(place.path, place.agent)
    ]
    gone = [source for id in missing if (source := writer.sources.get(id)) is not None]
    if gone:
        with writer.transaction():
            for source in gone:
                saved = f"no longer on disk; {source.lines} lines of it were read"
                writer.sources.set_state(source.id, SourceState.GONE.value, saved)
    return gone


def next_line_start(file: Openable, source: Source) -> int:
    """The offset of the first unread line. If the last line was read before its newline was
    written, that newline is skipped."""
    if source.offset == 0:
        return 0
    with file.open("rb") as opened:
        opened.seek(source.offset - 1)
        before, after = opened.read(1), opened.read(1)
    return source.offset + (before != b"\n" and after == b"\n")


class Pending(NamedTuple):
    """Unread lines on disk, files of which nothing is read yet, and files that shrank."""

    lines: int
    files: int
    problems: tuple[str, ...]


def find_pending(
    reader: Reader, bank: str | None, inputs: Iterable[tuple[Path, str]] = ()
) -> Pending:
    """What the known files hold beyond what was read of them, and all of those `inputs`, each with
    its agent, that are not known yet."""
    lines = files = 0
    problems: list[str] = []
    known: set[str] = set()
    for source in reader.sources.all(bank):
        known.add(source.path)
        try:
            seen = source_snapshot(Path(source.path), source.agent)
            if seen.is_same(source.stamp):
                continue
            if seen.size > source.offset:
                start = next_line_start(seen.file, source)
                lines += count_lines(seen.file, start, seen.size)
            elif seen.size < source.offset:
                problems.append(
                    f"{source.path}: shorter than what was read of it; it is read anew next time"
                )
        except OSError:
            continue
    for path, agent in inputs:
        if str(path) not in known:
            try:
                seen = source_snapshot(path, agent)
                lines += count_lines(seen.file, 0, seen.size)
                files += 1
            except OSError:
                continue
    return Pending(lines, files, tuple(problems))
