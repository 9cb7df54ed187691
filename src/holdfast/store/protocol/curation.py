"""People's decisions, what they result in, and erasing.

The log of decisions is canonical. The curation state of a record follows from it; it is stored
beside the records, so that reading them does not replay the log. A hidden record stays stored and
is left out of every answer.
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
    """A turn that is not shown."""

    id: str


class SupersededText(NamedTuple):
    """The text that a correction replaces."""

    kind: str
    id: str
    was: str


class CurationReader(Protocol):
    """Reads decisions and what they result in."""

    def curations(self, bank: str) -> list[Curation]:
        """The log of people's decisions, oldest first."""
        ...

    def curation_state(self, bank: str, kind: str, id: str) -> CurationState | None:
        """The result of all decisions about one record; None if there are none."""
        ...

    def curation_states_in_session(self, bank: str, session: str) -> list[CurationState]:
        """The same for everything in a session, the session itself included."""
        ...

    def find_hidden(
        self, bank: str | None, kind: str, id: str, limit: int = 5
    ) -> list[CurationState]:
        """Hidden records by their id or the start of it, whether they are hidden themselves or with
        what contains them; `kind` "" means all kinds."""
        ...

    def erased_marks(self, bank: str, marks: Sequence[str]) -> set[str]:
        """Which of these marks belong to something that was erased for good."""
        ...

    def is_raw_line_withheld(self, bank: str, turn: str) -> bool:
        """Whether the raw line of a turn is withheld because it contains what was scrubbed from the
        turn."""
        ...


class CurationWriter(Protocol):
    """Writes decisions, and reads records as they were stored, hidden ones included."""

    def append_curation(self, entry: Curation) -> Curation:
        """Append a person's decision to the log; returns it with its number."""
        ...

    def put_curation_state(self, curated: CurationState) -> None:
        """Store the curation state of one record."""
        ...

    def put_memory(self, memory: Memory) -> None:
        """Keep a text that a person asked to remember; a known one stays as it is."""
        ...

    def all_remembered(self, bank: str) -> list[Memory]:
        """All remembered texts as they were given, hidden or not, oldest first."""
        ...

    def all_commits(self, bank: str) -> Iterator[Commit]:
        """All commits as they were read, hidden or not."""
        ...

    def commit(self, bank: str, id: str) -> Commit | None:
        """One commit as it was read."""
        ...

    def all_turns(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """The turns of a session as they were read, hidden or not, from place `first` on."""
        ...

    def turn(self, bank: str, id: str) -> Turn | None:
        """One turn as it was read."""
        ...

    def all_subagent_ids(self, bank: str, session: str) -> list[str]:
        """The ids of a session's subagent sessions, hidden or not."""
        ...

    def put_passage(self, record: StandaloneRecord, passage: Passage | None) -> None:
        """Replace the passage by which a record is found; None removes it."""
        ...


class Erasure(NamedTuple):
    """What to erase: rows, by id; the URIs of decisions whose texts are erased too; marks by which
    erased content is recognised if it is read again; sources whose failed lines are no longer
    quoted; and pulls, issues and remarks (`forged`), each by kind and id."""

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
    """Removes a pattern from a text."""

    def __call__(self, text: str) -> str:
        """The text without the pattern; the same text if it is not in there."""
        ...


class ScrubMatch(NamedTuple):
    """A row that contains what is scrubbed: its table and its identity."""

    table: str
    bank: str
    id: str
    session: str = ""


class Eraser(Protocol):
    """Removes content for good. Nothing here can be undone."""

    def erase(self, erasure: Erasure) -> None:
        """Remove rows, and the texts of decisions about them."""
        ...

    def corrected_derived_records(self, bank: str) -> set[tuple[str, str]]:
        """Kind and id of the derived records that exist and have a person's correction."""
        ...

    def erase_corrections(self, bank: str, names: Iterable[tuple[str, str]]) -> None:
        """Remove the texts of the corrections of these records."""
        ...

    def block_marks(self, bank: str, marks: Iterable[str], turns: Iterable[str] = ()) -> None:
        """Keep marks of content that must not be read again, and withhold the raw lines of
        turns."""
        ...

    def rows_to_scrub(self, clean: Scrubber) -> list[ScrubMatch]:
        """The canonical rows that contain what the scrubber removes."""
        ...

    def scrub(self, clean: Scrubber) -> None:
        """Remove it from all canonical rows."""
        ...

    def backups_holding(self, content: Erasure | Scrubber) -> list[Path]:
        """The backups that contain it, or that cannot be read."""
        ...

    def overwrite_deleted(self) -> None:
        """Overwrite deleted content in the files of the store."""
        ...
