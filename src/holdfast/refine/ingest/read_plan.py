"""What there is to read: each file's state against the ledger, and where its reading starts."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from holdfast.capture.places import Places
from holdfast.errors import InputError
from holdfast.model.ledger import Source, SourceState
from holdfast.refine.core.bank_making import UNSORTED_BANK, BankMaker
from holdfast.refine.core.banks import find_bank_by_name
from holdfast.refine.ingest.pending import next_line_start
from holdfast.sources.byte_source import Openable
from holdfast.sources.claude_code import events
from holdfast.sources.claude_code import files as claude_code
from holdfast.sources.claude_code.records import READER_VERSION
from holdfast.sources.draft import NO_SESSION, DraftSession, FileInfo
from holdfast.sources.fingerprint import fingerprint
from holdfast.sources.registry import FIRST, agents
from holdfast.sources.source_files import Look, is_there, look
from holdfast.store.protocol import Writer

_PEEK_BYTES = 512 * 1024


class Input(NamedTuple):
    """A file to read, by the agent that wrote it; `bank` is set where a person chose one."""

    path: Path
    agent: str
    bank: str = ""


class Job(NamedTuple):
    """A file with something new in it, from `start` up to the size it had when we looked.
    `journal` is where hooks told of the same session, "" if the file is itself a journal."""

    source: Source
    file: FileInfo
    start: int
    size: int
    stamp: str
    excluded: bool = False
    journal: str = ""


class Planner:
    """Looks at files one by one, knowing what the ledger knew when it was made."""

    def __init__(self, writer: Writer, banks: BankMaker) -> None:
        self._writer = writer
        self._banks = banks
        self._places = Places(banks.home)
        # Lines that an older reader could not read are worth another look by a newer one.
        self._retry = writer.sources_failed_before(READER_VERSION)
        self._missing: dict[str, list[Source]] = {}
        for source in writer.sources():
            if source.offset and not is_there(source.path, source.agent):
                self._missing.setdefault(Path(source.path).name, []).append(source)

    def plan(self, item: Input) -> Job | None:
        """The work that a file asks for; None when there is nothing new in it, or when it
        cannot be read, which is noted."""
        try:
            return self._plan(item)
        except OSError as error:
            self._note_unreadable(item, error.strerror or str(error))
            return None

    def _plan(self, item: Input) -> Job | None:
        path = item.path
        seen = look(path, item.agent)
        file, stamp = seen.file, seen.stamp
        if file is path:
            with path.open("rb") as opened:
                opened.read(1)
        source = self._writer.source_at(str(path)) or self._moved(path, seen)
        if source is not None:
            self._refuse_twice(source, item)
        retry = source is not None and source.id in self._retry
        if source is not None and source.stamp == stamp and not retry:
            self._note_well(source)
            return None
        size, session = seen.size, _about(item, file)
        cwd = session.cwd
        if source is None:
            source = self._new_source(item, cwd)
        else:
            source = self._settle_bank(source, item, cwd)
            if retry or _rewritten(file, source, size):
                source = self._restart(source)
        root = self._banks.project(cwd).root if cwd else ""
        info = FileInfo(str(path), item.agent, path.stem, root, session)
        excluded = bool(cwd) and self._banks.is_excluded(cwd)
        start = next_line_start(file, source)
        journal = str(self._places.journal(_host(path))) if item.agent == claude_code.AGENT else ""
        return Job(source, info, start, size, stamp, excluded, journal)

    def _refuse_twice(self, source: Source, item: Input) -> None:
        """A file is in one bank, read in one way."""
        wanted = find_bank_by_name(self._writer, item.bank) if item.bank else None
        if source.agent == item.agent and (not item.bank or (wanted and wanted.id == source.bank)):
            return
        bank = self._writer.bank(source.bank)
        raise InputError(
            f"{source.path} is in memory already: read as {source.agent} into bank "
            f"{bank.name if bank else source.bank}.",
            "Leave out --bank, or give a copy of the file.",
        )

    def _settle_bank(self, source: Source, item: Input, cwd: str) -> Source:
        """A file whose first lines named no folder finds its bank when one does."""
        unsorted = self._writer.bank_of(f"name:{UNSORTED_BANK}")
        if item.bank or not cwd or source.bank != unsorted:
            return source
        with self._writer.transaction():
            self._writer.rebank_source(source.id, self._banks.ensure(self._writer, cwd))
        return self._writer.source(source.id) or source

    def _restart(self, source: Source) -> Source:
        with self._writer.transaction():
            self._writer.restart_source(source.id)
        return self._writer.source(source.id) or source

    def _moved(self, path: Path, seen: Look) -> Source | None:
        """A transcript follows its session into a worktree: same name, same start."""
        for source in list(self._missing.get(path.name, ())):
            if not _rewritten(seen.file, source, seen.size):
                with self._writer.transaction():
                    self._writer.move_source(source.id, str(path))
                self._missing[path.name].remove(source)
                return self._writer.source(source.id)
        return None

    def _new_source(self, item: Input, cwd: str) -> Source:
        writer, banks = self._writer, self._banks
        with writer.transaction():
            bank = banks.ensure_named(writer, item.bank) if item.bank else None
            bank = bank or writer.bank_of_host(_host(item.path))
            bank = bank or (banks.ensure(writer, cwd) if cwd else banks.ensure_named(writer, UNSORTED_BANK))
            return writer.add_source(str(item.path), item.agent, bank)

    def _note_well(self, source: Source) -> None:
        """A file that was gone or unreadable is back as it was."""
        if source.state is not SourceState.LIVE:
            with self._writer.transaction():
                self._writer.mark_source(source.id, SourceState.LIVE.value, "")

    def _note_unreadable(self, item: Input, why: str) -> None:
        source = self._writer.source_at(str(item.path)) or self._new_source(item, "")
        with self._writer.transaction():
            state = SourceState.UNREADABLE.value
            self._writer.mark_source(source.id, state, f"cannot be read: {why}")


def _rewritten(file: Openable, source: Source, size: int) -> bool:
    return size < source.offset or fingerprint(file, source.offset) != source.prefix


def _host(path: Path) -> str:
    """The session a file belongs to: its own name, or that of the folder of its parent's."""
    if claude_code.is_subagent(path.stem) and path.parent.name == "subagents":
        return path.parent.parent.name
    return path.stem


def _about(item: Input, file: Openable) -> DraftSession:
    """What a file as a whole tells of its session; a journal is told of as its transcript is."""
    agent = agents().get(FIRST if item.agent == events.AGENT else item.agent)
    if agent is None:
        return NO_SESSION
    with file.open("rb") as opened:
        return agent.about(item.path, opened.read(_PEEK_BYTES))


def note_gone(writer: Writer) -> list[Source]:
    """Files that were read and are no longer there, each reported once."""
    gone = [
        source
        for source in writer.sources()
        if source.state is not SourceState.GONE and not is_there(source.path, source.agent)
    ]
    if gone:
        with writer.transaction():
            for source in gone:
                saved = f"no longer on disk; {source.lines} lines of it were read"
                writer.mark_source(source.id, SourceState.GONE.value, saved)
    return gone
