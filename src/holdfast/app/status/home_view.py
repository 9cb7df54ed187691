"""What the first page shows: the latest sessions and which of them are new, what waits for a
decision, and how much was done in the last weeks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.views.review_queue import WaitingCounts, waiting_counts
from holdfast.model.bank import Bank
from holdfast.recall.lookup.origins import names_of_listed
from holdfast.store.records.sessions import SessionFilter, SessionListing

WEEKS = 12
_LATEST_SESSIONS = 8
# Bars have six colours; the banks with the fewest sessions share the last one.
_MAX_BANKS = 5
OTHER_BANKS = "other banks"


class Activity(NamedTuple):
    """How many sessions ended on a day in a bank, by its name."""

    day: str
    bank: str
    sessions: int


class TurnsByDay(NamedTuple):
    """How many turns there were, by day and the name of their bank, up to the day `until`."""

    amounts: dict[tuple[str, str], int]
    until: str


class HomeView(NamedTuple):
    """The first page. `since` is when its reader was last here, "" if never, and `new` how many
    sessions ended after that; `called` is what the sessions are called, by their ids. `activity`
    counts sessions by day and bank, in the weeks up to the day `until`: today, or the last one with
    a session if the memory was quiet for longer."""

    banks: tuple[Bank, ...]
    since: str
    new: int
    sessions: tuple[SessionListing, ...]
    called: Mapping[str, str]
    waiting: WaitingCounts
    activity: tuple[Activity, ...]
    until: str


def gather_home(memory: Holdfast, since: str, now: str) -> HomeView:
    """Read what the first page shows."""
    reader = memory.reader
    counts = reader.sessions.by_day(None, since) if since else []
    last = reader.sessions.last_end()
    until = last if last and last < _first_day(now) else now
    sessions = tuple(reader.sessions.page(SessionFilter(), _LATEST_SESSIONS))
    return HomeView(
        banks=tuple(reader.banks.all()),
        since=since,
        new=sum(one.sessions for one in counts),
        sessions=sessions,
        called=names_of_listed(reader, sessions),
        waiting=waiting_counts(memory),
        activity=activity(memory, _first_day(until)),
        until=until[:10],
    )


def activity(
    memory: Holdfast, since: str, until: str = "", bank: str | None = None
) -> tuple[Activity, ...]:
    """How many sessions ended by day and by the name of their bank; banks with few are added up."""
    names = {bank.id: bank.name for bank in memory.reader.banks.all()}
    counts = memory.reader.sessions.by_day(bank, since, until)
    by_bank: Counter[str] = Counter()
    for one in counts:
        by_bank[names.get(one.bank, one.bank)] += one.sessions
    named = {name for name, _ in by_bank.most_common(_MAX_BANKS if len(by_bank) > 6 else 6)}
    found: Counter[tuple[str, str]] = Counter()
    for one in counts:
        name = names.get(one.bank, one.bank)
        found[one.day, name if name in named else OTHER_BANKS] += one.sessions
    return tuple(Activity(day, name, count) for (day, name), count in found.items())


def turns_by_day(memory: Holdfast, bank: str | None, days: int, now: str) -> TurnsByDay:
    """How many turns were captured in the last days, or in those up to the last session if the
    memory was quiet for longer."""
    reader = memory.reader
    last = reader.sessions.last_end(bank)
    today = datetime.fromisoformat(now).date()
    first = today - timedelta(days=days - 1)
    if last and last < f"{first}":
        today = datetime.fromisoformat(last).date()
        first = today - timedelta(days=days - 1)
    until = f"{today + timedelta(days=1)}"
    counts = {
        one.name: reader.overview.counts_by_period(one.id, ("turn",), 10, f"{first}", until)
        for one in reader.banks.all()
        if bank in (None, one.id)
    }
    totals = Counter({name: sum(one.records for one in of) for name, of in counts.items()})
    named = {name for name, _ in totals.most_common(_MAX_BANKS if len(+totals) > 6 else 6)}
    amounts: Counter[tuple[str, str]] = Counter()
    for name, found in counts.items():
        for one in found:
            amounts[one.period, name if name in named else OTHER_BANKS] += one.records
    return TurnsByDay(dict(amounts), f"{today}")


def _first_day(until: str) -> str:
    """The Monday of the first week that is shown."""
    today = datetime.fromisoformat(until).date()
    return f"{today - timedelta(days=today.weekday(), weeks=WEEKS - 1)}"
