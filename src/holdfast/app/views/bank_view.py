"""What a bank holds: how much of each kind, its latest sessions, rules, files and people, and
whether the history of its repository was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.model.bank import Bank
from holdfast.model.graph import Entity, EntityKind
from holdfast.model.knowledge import Rule
from holdfast.recall.lookup.origins import names_of_listed
from holdfast.store.across_tables.lookup import Counts
from holdfast.store.records.git_history import Repository
from holdfast.store.records.sessions import SessionFilter, SessionListing

_LATEST_SESSIONS = 6
_MAX_RULES = 8
_MAX_NAMES = 8
# Among so many of the entities that occur most, the files and the people are looked for.
_MAX_ENTITIES = 300
# How many records of each kind there are, with the words for one and for several.
COUNTED = {
    "sessions": ("session", "sessions"),
    "turns": ("turn", "turns"),
    "exchanges": ("exchange", "exchanges"),
    "commits": ("commit", "commits"),
    "facts": ("fact", "facts"),
    "memories": ("remembered statement", "remembered statements"),
    "retained": ("memory", "memories"),
    "opinions": ("opinion", "opinions"),
    "pulls": ("pull request", "pull requests"),
    "issues": ("issue", "issues"),
    "shared": ("shared record", "shared records"),
    "imported": ("imported record", "imported records"),
}


class BankView(NamedTuple):
    """The contents of a bank. `first` and `last` are the days of its first and last record,
    `called` is what the latest sessions are called, by their ids, and `more_rules` is how many
    rules are not listed."""

    counts: Counts
    first: str
    last: str
    sessions: tuple[SessionListing, ...]
    called: Mapping[str, str]
    rules: tuple[Rule, ...]
    more_rules: int
    files: tuple[Entity, ...]
    people: tuple[Entity, ...]
    repositories: tuple[Repository, ...]


def bank_view(memory: Holdfast, bank: Bank) -> BankView:
    """Read the contents of a bank."""
    reader = memory.reader
    entities = reader.graph.entities(bank.id, _MAX_ENTITIES)
    rules = reader.rules.all(bank.id)
    sessions = tuple(reader.sessions.page(SessionFilter(bank.id), _LATEST_SESSIONS))
    days = reader.overview.counts_by_period(bank.id, ("digest", "commit", "imported"), 10)
    return BankView(
        counts=reader.records.counts(bank.id),
        first=min((one.period for one in days), default=""),
        last=max((one.period for one in days), default=""),
        sessions=sessions,
        called=names_of_listed(reader, sessions),
        rules=tuple(rules[:_MAX_RULES]),
        more_rules=max(0, len(rules) - _MAX_RULES),
        files=_of_kind(entities, EntityKind.FILE),
        people=_of_kind(entities, EntityKind.PERSON),
        repositories=tuple(reader.git.repositories(bank.id)),
    )


def _of_kind(entities: list[Entity], kind: EntityKind) -> tuple[Entity, ...]:
    return tuple(one for one in entities if one.kind is kind)[:_MAX_NAMES]
