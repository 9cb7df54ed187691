"""By which rules and prompts things were made, so that what is older can be made again.

What was made before anyone kept count is of version 0.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from holdfast.store.progress import Progress


class Outdated(NamedTuple):
    """A session of which something was made by an older version."""

    bank: str
    session: str


class Versions(Protocol):
    """What is older than it could be."""

    def rules_of(self, bank: str, session: str) -> int:
        """The version of the rules by which a session's derived rows were made."""
        ...

    def note_rules(self, bank: str, session: str, version: int) -> None:
        """All derived rows of a session are of this version; to be said in the transaction that
        writes them."""
        ...

    def outdated(self, rules: int, limit: int = 100) -> list[Outdated]:
        """Sessions whose derived rows were made by older rules, the latest first."""
        ...

    def count_outdated(self, rules: int) -> int:
        """How many there are."""
        ...

    def outdated_summaries(self, prompts: int, limit: int = 100_000) -> list[Outdated]:
        """Sessions with a summary or a digest that a model made when asked in an older way, and
        that it has not been asked for anew; the latest first. What a person said anew is not
        among them."""
        ...


class Standing(Versions, Progress, Protocol):
    """How up to date everything derived is, of sessions and above them."""
