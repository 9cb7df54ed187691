"""What a bank holds: how much of each kind, when it was worked in, its latest sessions, rules,
files and people, and whether the history of its repository was read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.model.bank import Bank
from holdfast.model.graph import Entity, EntityKind
from holdfast.model.knowledge import Rule
from holdfast.recall.lookup.origins import names_of_listed
from holdfast.store.across_tables.lookup import Counts
from holdfast.store.records.git_history import Repository
from holdfast.store.records.sessions import SessionFilter, SessionListing

# The weeks of the activity: half a year.
WEEKS = 26
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
    """The contents of a bank. `weeks` counts the sessions that ended in each of the last `WEEKS`
    weeks up to that of `until`, by their Mondays; `called` is what the latest sessions are called,
    by their ids; `more_rules` is how many are not listed."""

    bank: Bank
    counts: Counts
    weeks: dict[str, int]
    until: str
    first: str
    last: str
    sessions: tuple[SessionListing, ...]
    called: Mapping[str, str]
    rules: tuple[Rule, ...]
    more_rules: int
    files: tuple[Entity, ...]
    people: tuple[Entity, ...]
    repositories: tuple[Repository, ...]


def bank_view(memory: Holdfast, bank: Bank, now: str) -> BankView:
    """Read the contents of a bank."""
    reader = memory.reader
    last = reader.sessions.last_end(bank.id)
    today = date.fromisoformat(now[:10])
    earliest = _monday(today) - timedelta(weeks=WEEKS - 1)
    # A bank that was quiet for longer shows the weeks up to its last session.
    until = today if not last or last >= f"{earliest}" else date.fromisoformat(last[:10])
    entities = reader.graph.entities(bank.id, _MAX_ENTITIES)
    rules = reader.rules.all(bank.id)
    sessions = tuple(reader.sessions.page(SessionFilter(bank.id), _LATEST_SESSIONS))
    first = reader.overview.counts_by_period(bank.id, ("digest", "commit", "imported"), 10)
    return BankView(
        bank=bank,
        counts=reader.records.counts(bank.id),
        weeks=_weeks(memory, bank.id, until),
        until=f"{until}",
        first=min((one.period for one in first), default=""),
        last=max([*(one.period for one in first), last[:10]]),
        sessions=sessions,
        called=names_of_listed(reader, sessions),
        rules=tuple(rules[:_MAX_RULES]),
        more_rules=max(0, len(rules) - _MAX_RULES),
        files=_of_kind(entities, EntityKind.FILE),
        people=_of_kind(entities, EntityKind.PERSON),
        repositories=tuple(reader.git.repositories(bank.id)),
    )


def weekly_sessions(memory: Holdfast, now: str) -> dict[str, dict[str, int]]:
    """The sessions of each bank in the last `WEEKS` weeks, by bank and Monday."""
    mondays = _mondays(date.fromisoformat(now[:10]))
    found = {bank.id: dict.fromkeys(mondays, 0) for bank in memory.reader.banks.all()}
    for one in memory.reader.sessions.by_day(None, mondays[0]):
        week = f"{_monday(date.fromisoformat(one.day))}"
        if week in found.get(one.bank, {}):
            found[one.bank][week] += one.sessions
    return found


def _weeks(memory: Holdfast, bank: str, until: date) -> dict[str, int]:
    weeks = dict.fromkeys(_mondays(until), 0)
    for one in memory.reader.sessions.by_day(bank, min(weeks), f"{until + timedelta(days=1)}"):
        weeks[f"{_monday(date.fromisoformat(one.day))}"] += one.sessions
    return weeks


def _mondays(until: date) -> list[str]:
    return [f"{_monday(until) - timedelta(weeks=n)}" for n in reversed(range(WEEKS))]


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _of_kind(entities: list[Entity], kind: EntityKind) -> tuple[Entity, ...]:
    return tuple(one for one in entities if one.kind is kind)[:_MAX_NAMES]
