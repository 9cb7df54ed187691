"""What there is to know about an agent whose sessions are read.

Each agent is one module of `sources/agents` that sets `AGENT`; nothing else names it. Its records
are read one by one and without memory of the one before, so that a file may be read in any pieces
and by any process. Where an agent keeps no file of lines, its `Layout` lays out what it does keep
as lines, oldest first, so that what comes later is added at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.model.ledger import Skip
from holdfast.sources.draft import DraftSession, FileInfo, Reading
from holdfast.sources.json_fields import Record


class Where(NamedTuple):
    """What the places of an agent depend on: the user's folder, the environment's variables that
    name folders, and the system as Python calls it (`linux`, `darwin`, `win32`)."""

    home: Path
    env: Mapping[str, str]
    system: str


class Layout(NamedTuple):
    """How a document or a database is read as lines. `stamp` changes whenever the lines may, and
    raises OSError where there is nothing; `lay_out` gives the lines, each a JSON object."""

    stamp: Callable[[Path], str]
    lay_out: Callable[[Path], bytes]


def every_line(line: bytes) -> Skip | None:
    """Every line is worth parsing."""
    return None


def of_file(record: Record, file: FileInfo) -> DraftSession:
    """The session that the file as a whole tells of."""
    return file.session


def nothing_printed(record: Record) -> Iterator[tuple[str, str]]:
    """No output of tools is told apart."""
    return iter(())


class Agent(NamedTuple):
    """One agent.

    `folders` are where its sessions lie by default; `find` gives every one of them below a folder,
    or within a file, and tells in a list what it could not look into. `knows` says whether a file
    is this agent's, by its path and its first bytes. `about` says what a file as a whole tells of
    its session, by the same. `read` makes of a record what is kept, or says why nothing is.

    `skip` may name lines that need not even be parsed, `lighten` what of the others need not;
    `describe` is for files with lines of several sessions, and `printed` gives what tools printed,
    each with the id of its call. A path that `find` gives may lie within a file (`store.db/s1`):
    then `layout` opens it.
    """

    name: str
    title: str
    folders: Callable[[Where], Sequence[Path]]
    find: Callable[[Path, list[str]], Iterable[Path]]
    knows: Callable[[Path, bytes], bool]
    about: Callable[[Path, bytes], DraftSession]
    read: Callable[[Record, FileInfo], Reading]
    skip: Callable[[bytes], Skip | None] = every_line
    lighten: Callable[[bytes], bytes] = bytes
    describe: Callable[[Record, FileInfo], DraftSession] = of_file
    printed: Callable[[Record], Iterator[tuple[str, str]]] = nothing_printed
    layout: Layout | None = None
