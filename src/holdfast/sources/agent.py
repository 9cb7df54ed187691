"""What an agent's module must provide, so that its sessions can be read.

Each agent is one module of `sources/agents` that sets `AGENT`; no other code names it (the package
lists the documents that do). Records are read one by one, without state from the record before, so
that any part of a file may be read by any process. An agent that keeps a document or a database
instead of a file of lines provides a `LineLayout`, which converts it to lines, oldest first, so
that later content is added at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.ledgers.lines import SkipReason
from holdfast.sources.draft import DraftSession, FileInfo, ParsedLine
from holdfast.sources.json_fields import Record


class UserEnvironment(NamedTuple):
    """What the folders of an agent depend on: the user's home, the environment variables that name
    folders, and `sys.platform` (`linux`, `darwin`, `win32`)."""

    home: Path
    env: Mapping[str, str]
    system: str

    def folder(self, variable: str, default: str) -> Path:
        """The folder that a variable names, or else this one in the user's home."""
        return Path(self.env.get(variable) or self.home / default)


class LineLayout(NamedTuple):
    """How a document or a database is read as lines. `stamp` is cheap, changes whenever the lines
    may change, and raises OSError where there is nothing; `to_lines` gives the lines, each a JSON
    object."""

    stamp: Callable[[Path], str]
    to_lines: Callable[[Path], bytes]


def home_folders(
    variable: str, default: str, *names: str
) -> Callable[[UserEnvironment], Sequence[Path]]:
    """A `folders` for folders in one that a variable names, or else in `default` in the home."""
    return lambda user: [user.folder(variable, default) / name for name in names]


def find_files(*patterns: str) -> Callable[[Path, list[str]], Iterator[Path]]:
    """A `find` for one file a session: the files below a folder that match a pattern."""

    def find(path: Path, problems: list[str]) -> Iterator[Path]:
        if path.is_file():
            yield path
            return
        for pattern in patterns:
            yield from path.glob(pattern)

    return find


def has_marks(within: int, *marks: bytes) -> Callable[[Path, bytes], bool]:
    """A `recognises` for files that have all of some marks in their first bytes."""
    return lambda path, head: all(mark in head[:within] for mark in marks)


def skip_nothing(line: bytes) -> SkipReason | None:
    """Parse every line."""
    return None


def session_of_file(record: Record, file: FileInfo) -> DraftSession:
    """The one session of a file."""
    return file.session


def no_outputs(record: Record) -> Iterator[tuple[str, str]]:
    """Outputs of tools are not available."""
    return iter(())


class Agent(NamedTuple):
    """One agent. The fields with a default are needed by some agents only."""

    # In sessions, filters and `--agent`; and as people call it.
    name: str
    title: str
    # The folders of its sessions by default, whether they exist or not.
    folders: Callable[[UserEnvironment], Sequence[Path]]
    # Every session below a folder, or in a file. What cannot be read is added to the list. A path
    # may point into a file (`store.db/SESSION`); `layout` must read it then.
    find: Callable[[Path, list[str]], Iterable[Path]]
    # Whether this agent wrote a file, by its path and its first bytes.
    recognises: Callable[[Path, bytes], bool]
    # The session of a file, by its path and the first bytes of its lines.
    read_session: Callable[[Path, bytes], DraftSession]
    # The turns and results of a record, or why it has none.
    read_record: Callable[[Record, FileInfo], ParsedLine]
    # Why a line need not be parsed; None where it must be.
    skip_line: Callable[[bytes], SkipReason | None] = skip_nothing
    # A line without parts that are large and never used.
    shorten_line: Callable[[bytes], bytes] = bytes
    # The session of a record, for files with several sessions.
    session_of_record: Callable[[Record, FileInfo], DraftSession] = session_of_file
    # The whole outputs of tools in a record, each with the id of its call.
    tool_outputs: Callable[[Record], Iterator[tuple[str, str]]] = no_outputs
    # For agents that do not keep files of lines.
    layout: LineLayout | None = None
