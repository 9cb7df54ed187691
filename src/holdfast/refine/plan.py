"""What there is to read: each file's state against the ledger, and where its reading starts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import orjson

from holdfast.capture.places import Places
from holdfast.errors import InputError
from holdfast.model.ledger import Source, SourceState
from holdfast.refine.bank_making import UNSORTED, BankMaker
from holdfast.refine.banks import pick
from holdfast.refine.pending import next_line_start, stamp_of
from holdfast.sources.claude_code import events
from holdfast.sources.claude_code import files as claude_code
from holdfast.sources.claude_code.records import READER_VERSION
from holdfast.sources.draft import FileInfo
from holdfast.sources.fingerprint import fingerprint
from holdfast.store.protocol import Writer

_TAIL_BYTES = 64 * 1024
_TIMESTAMP = re.compile(rb'"timestamp": ?"(\d{4}-\d\d-\d\dT[\d:.]{8,16}Z?)"')
_PEEK_BYTES = 512 * 1024
_JOURNAL = b'{"v":1,"id":"'
_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)+")')


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


def find_inputs(
    paths: Iterable[Path], bank: str = "", problems: list[str] | None = None
) -> list[Input]:
    """The transcripts that the paths name, oldest first: a fork is read after its original.
    What cannot be looked into is told in `problems`."""
    noted = problems if problems is not None else []
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist.", "Give a transcript, or a folder of them.")
        if path.is_file():
            _refuse_other_formats(path)
        elif not path.is_dir():
            raise InputError(f"{path} is neither a file nor a folder.", "Give a transcript.")
        found += claude_code.find_transcripts(path, noted) if path.is_dir() else [path]
    return in_order(found, bank, noted)


def in_order(files: Iterable[Path], bank: str, problems: list[str]) -> list[Input]:
    """Transcripts to read, each once, oldest first."""
    found: dict[str, Input] = {}
    for file in files:
        real = Path(os.path.abspath(file))  # noqa: PTH100 - links keep their own name
        if _spelled(real):
            found.setdefault(str(real), Input(real, claude_code.AGENT, bank))
        else:
            problems.append(f"{os.fsencode(real)!r}: its name is not UTF-8")
    return sorted(found.values(), key=lambda item: (_ended(item.path), str(item.path)))


def _refuse_other_formats(path: Path) -> None:
    """A file that a person names must be a transcript: what is read cannot be unread yet."""
    try:
        with path.open("rb") as file:
            first = file.readline(_PEEK_BYTES).strip()
    except OSError:
        return  # reading it will tell why
    if first.startswith(_JOURNAL):
        raise InputError(
            f"{path} is a journal of what hooks told.", "It is read when its session is over."
        )
    dialogue = b'"text"' in first and b'"type"' not in first
    if first and (dialogue or (path.suffix != ".jsonl" and not first.startswith(b"{"))):
        raise InputError(
            f"{path} does not look like a transcript.",
            "Claude Code writes *.jsonl files; any other dialogue is read with "
            "`holdfast import conversation FILE --bank NAME`.",
        )


def _spelled(path: Path) -> bool:
    """Whether a path can be written down as text."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _ended(path: Path) -> str:
    """The last moment that a transcript tells, or else when its file was changed: copying a
    folder gives every file a new date, and a fork must still come after its original."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            told = _TIMESTAMP.findall(file.read())
            changed = os.fstat(file.fileno()).st_mtime
    except OSError:
        return ""
    if told:
        return str(max(told).decode())
    return datetime.fromtimestamp(changed, UTC).isoformat(timespec="milliseconds")


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
            if source.offset and not os.path.lexists(source.path):
                self._missing.setdefault(Path(source.path).name, []).append(source)

    def plan(self, item: Input) -> Job | None:
        """The work that a file asks for; None when there is nothing new in it, or when it
        cannot be read, which is noted."""
        try:
            with item.path.open("rb") as file:
                file.read(1)
            return self._plan(item)
        except OSError as error:
            self._note_unreadable(item, error.strerror or str(error))
            return None

    def _plan(self, item: Input) -> Job | None:
        path = item.path
        stat = path.stat()
        stamp = stamp_of(stat)
        source = self._writer.source_at(str(path)) or self._moved(path, stat.st_size)
        if source is not None:
            self._refuse_twice(source, item)
        retry = source is not None and source.id in self._retry
        if source is not None and source.stamp == stamp and not retry:
            self._note_well(source)
            return None
        cwd = _first_cwd(path) if item.agent in (claude_code.AGENT, events.AGENT) else ""
        if source is None:
            source = self._new_source(item, cwd)
        else:
            source = self._settle_bank(source, item, cwd)
            if retry or _rewritten(path, source, stat.st_size):
                source = self._restart(source)
        root = self._banks.project(cwd).root if cwd else ""
        info = FileInfo(str(path), item.agent, path.stem, root)
        excluded = bool(cwd) and self._banks.excluded(cwd)
        start = next_line_start(path, source)
        journal = str(self._places.journal(_host(path))) if item.agent == claude_code.AGENT else ""
        return Job(source, info, start, stat.st_size, stamp, excluded, journal)

    def _refuse_twice(self, source: Source, item: Input) -> None:
        """A file is in one bank, read in one way."""
        wanted = pick(self._writer, item.bank) if item.bank else None
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
        unsorted = self._writer.bank_of(f"name:{UNSORTED}")
        if item.bank or not cwd or source.bank != unsorted:
            return source
        with self._writer.transaction():
            self._writer.rebank_source(source.id, self._banks.ensure(self._writer, cwd))
        return self._writer.source(source.id) or source

    def _restart(self, source: Source) -> Source:
        with self._writer.transaction():
            self._writer.restart_source(source.id)
        return self._writer.source(source.id) or source

    def _moved(self, path: Path, size: int) -> Source | None:
        """A transcript follows its session into a worktree: same name, same start."""
        for source in list(self._missing.get(path.name, ())):
            if size >= source.offset and fingerprint(path, source.offset) == source.prefix:
                with self._writer.transaction():
                    self._writer.move_source(source.id, str(path))
                self._missing[path.name].remove(source)
                return self._writer.source(source.id)
        return None

    def _new_source(self, item: Input, cwd: str) -> Source:
        writer, banks = self._writer, self._banks
        with writer.transaction():
            bank = banks.named(writer, item.bank) if item.bank else None
            bank = bank or writer.bank_of_host(_host(item.path))
            bank = bank or (banks.ensure(writer, cwd) if cwd else banks.named(writer, UNSORTED))
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


def _rewritten(path: Path, source: Source, size: int) -> bool:
    return size < source.offset or fingerprint(path, source.offset) != source.prefix


def _host(path: Path) -> str:
    """The session a file belongs to: its own name, or that of the folder of its parent's."""
    if claude_code.is_subagent(path.stem) and path.parent.name == "subagents":
        return path.parent.parent.name
    return path.stem


def _first_cwd(path: Path) -> str:
    """The folder that the first lines name. Looked for in the bytes, because the first line may
    be a screenshot of many megabytes; inside a JSON string the quotes would be escaped."""
    with path.open("rb") as file:
        head = file.read(_PEEK_BYTES)
    for match in _CWD.finditer(head):
        try:
            return str(orjson.loads(match.group(1)))
        except orjson.JSONDecodeError:
            continue
    return ""


def note_gone(writer: Writer) -> list[Source]:
    """Files that were read and are no longer there, each reported once."""
    gone = [
        source
        for source in writer.sources()
        if source.state is not SourceState.GONE and not os.path.lexists(source.path)
    ]
    if gone:
        with writer.transaction():
            for source in gone:
                saved = f"no longer on disk; {source.lines} lines of it were read"
                writer.mark_source(source.id, SourceState.GONE.value, saved)
    return gone
