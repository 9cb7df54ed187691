"""What a store keeps of people's decisions, and how a correction changes a record.

The log is canonical. What it comes to (`curated`) can be worked out from it again; it lies beside
the records, so that whoever derives or reads them need not replay the log. A record that is not
to be shown stays where it is and is left out of every answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from holdfast.model.curation import Curation, CurationState
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.knowledge import Memory
from holdfast.model.query import Passage
from holdfast.model.records import Turn
from holdfast.model.team import Commit

# What is of no session and has a passage of its own.
StandaloneRecord = Commit | Memory | Pull | Issue | Remark


class HiddenTurn(NamedTuple):
    """A turn that is not to be shown."""

    id: str


class SupersededText(NamedTuple):
    """The words that a correction replaces."""

    kind: str
    id: str
    was: str


class CurationReader(Protocol):
    """What can be asked about decisions."""

    def curations(self, bank: str) -> list[Curation]:
        """The log of people's decisions, oldest first."""
        ...

    def curation_state(self, bank: str, kind: str, id: str) -> CurationState | None:
        """What the log comes to for one record, None if nobody decided anything about it."""
        ...

    def curation_states_in_session(self, bank: str, session: str) -> list[CurationState]:
        """The same for everything in a session, itself included."""
        ...

    def find_hidden(
        self, bank: str | None, kind: str, id: str, limit: int = 5
    ) -> list[CurationState]:
        """What is not shown, by its id or the start of it, for its own sake or that of what it
        stands in."""
        ...

    def erased_marks(self, bank: str, marks: Sequence[str]) -> set[str]:
        """Which of these marks stand for something that was erased for good."""
        ...

    def is_raw_line_withheld(self, bank: str, turn: str) -> bool:
        """Whether the raw line of a turn holds what was scrubbed from the turn."""
        ...


class CurationWriter(Protocol):
    """The ways in for decisions."""

    def append_curation(self, entry: Curation) -> Curation:
        """Append a person's decision; returns it with its number."""
        ...

    def put_curation_state(self, curated: CurationState) -> None:
        """Set down what the log comes to for one record."""
        ...

    def put_memory(self, memory: Memory) -> None:
        """Keep what a person asked to remember; what is known stays as it is."""
        ...

    def all_remembered(self, bank: str) -> list[Memory]:
        """All of it as it was given, hidden or not, oldest first."""
        ...

    def all_commits(self, bank: str) -> Iterator[Commit]:
        """All commits as they were read, hidden or not."""
        ...

    def commit(self, bank: str, id: str) -> Commit | None:
        """One commit as it was read."""
        ...

    def all_turns(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """The turns of a session as they were read, hidden or not, from a place on."""
        ...

    def turn(self, bank: str, id: str) -> Turn | None:
        """One turn as it was read."""
        ...

    def all_subagent_ids(self, bank: str, session: str) -> list[str]:
        """The sessions of subagents that a session had, hidden or not."""
        ...

    def put_passage(self, record: StandaloneRecord, passage: Passage | None) -> None:
        """Make a record findable as this passage, in place of the one it had; None: not at all."""
        ...


class Erasure(NamedTuple):
    """Rows to erase, by id; the URIs of decisions whose words go too; the marks by which what is
    erased is known if it is met again; the files whose unread lines are quoted no more; and pulls,
    issues and remarks, each by kind and id."""

    bank: str
    sessions: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    sources: tuple[int, ...] = ()
    forged: tuple[tuple[str, str], ...] = ()
    shared: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()


class Scrubber(Protocol):
    """Takes a pattern out of a text."""

    def __call__(self, text: str) -> str:
        """The text without it; the same text if it is not in there."""
        ...


class ScrubMatch(NamedTuple):
    """A row that holds what is scrubbed: its table, and what it is known by."""

    table: str
    bank: str
    id: str
    session: str = ""


class Eraser(Protocol):
    """Taking words out for good. Nothing here can be undone."""

    def erase(self, what: Erasure) -> None:
        """Remove rows, and the words of decisions about them."""
        ...

    def corrected_derived_records(self, bank: str) -> set[tuple[str, str]]:
        """The kinds and ids of records that are made of others, are there, and are said in words
        of a person's."""
        ...

    def erase_corrections(self, bank: str, names: Iterable[tuple[str, str]]) -> None:
        """Take the words out of the corrections of these records, for good."""
        ...

    def block_marks(self, bank: str, marks: Iterable[str], turns: Iterable[str] = ()) -> None:
        """Keep marks of what must not be taken in again, and withhold the raw lines of turns."""
        ...

    def rows_to_scrub(self, clean: Scrubber) -> list[ScrubMatch]:
        """The canonical rows that hold what a scrubbing takes out."""
        ...

    def scrub(self, clean: Scrubber) -> None:
        """Take it out of all of them."""
        ...

    def backups_holding(self, what: Erasure | Scrubber) -> list[Path]:
        """The backups that hold it, or that cannot be looked into."""
        ...

    def overwrite_deleted(self) -> None:
        """Leave no trace of removed rows in the files of the store, however it kept them."""
        ...
