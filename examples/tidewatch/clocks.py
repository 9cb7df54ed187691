"""The clocks go back on 25 October, and every alert comes twice."""

from __future__ import annotations

from .events import (
    Bash,
    Compacted,
    Edit,
    Event,
    Grep,
    Pause,
    Read,
    Says,
    Session,
    Snapshot,
    Thinks,
    Title,
    User,
    Write,
)

_HUNT: tuple[Event, ...] = (
    User("ben. harbour master phoned, since the weekend every alert comes twice. he is not amused"),
    Says("First suspect: two services running, the old one never stopped at the last deploy."),
    Bash(
        "ssh saltby 'pgrep -af tidewatch'",
        "388 /opt/tidewatch/bin/python -m tidewatch.loop",
    ),
    Says("Only one process, so it is not a second service. Next: does the gateway send twice?"),
    Bash(
        "ssh saltby 'grep beacon /var/log/tidewatch.log | tail -4'",
        "2026-10-26T03:01:07Z beacon POST /send 200 id=51877 to=harbourmaster\n"
        "2026-10-26T04:01:07Z beacon POST /send 200 id=51880 to=harbourmaster\n"
        "2026-10-26T15:22:07Z beacon POST /send 200 id=51902 to=harbourmaster\n"
        "2026-10-26T16:22:07Z beacon POST /send 200 id=51904 to=harbourmaster",
    ),
    Says(
        "Not the gateway: Beacon got two separate requests from us, with two message ids, both "
        "answered 200."
    ),
    User("the retry thing then? it times out and we send again?"),
    Grep(
        "retry",
        "src/tidewatch",
        ("src/tidewatch/fetch.py:12:    # retry the gauge, never the gateway",),
    ),
    Bash(
        "ssh saltby 'grep -c \"beacon.*timeout\" /var/log/tidewatch.log'",
        "0",
        exit=1,
    ),
    Says(
        "Not the retry policy either: only the gauge is retried, and no request to Beacon ever "
        "timed out. But look at the times: the second text always comes exactly 60 minutes after "
        "the first."
    ),
    User("exactly an hour, on the weekend the clocks changed. smells. out of time today, ada?"),
    Says(
        "Ruled out so far: a second process, the gateway, the retry policy. Next step: look at the "
        "rows in the `alert` table on both sides of the clock change."
    ),
    Title("Every alert comes twice"),
)

_TEST = """from datetime import datetime, timezone

import time_machine

from tidewatch.alerts import plan


def test_a_high_water_is_planned_once_across_the_clock_change(db, high_water):
    for day in (24, 26):  # the clocks go back on the 25th
        with time_machine.travel(datetime(2026, 10, day, 12, tzinfo=timezone.utc)):
            plan(db, "saltby", [high_water(day=26, hour=3, minute=46)])
    assert db.execute("select count(*) from alert").fetchone() == (1,)
"""

_CAUSE: tuple[Event, ...] = (
    Snapshot(("src/tidewatch/alerts.py", "tests/test_alerts.py")),
    User(
        "ada. taking over the double alerts from ben. he ruled out second process, gateway and "
        "retries; always 60 min apart"
    ),
    Bash(
        "ssh saltby 'sqlite3 tidewatch.db \"select key, planned_utc from alert "
        "where key like '\\''%10-26%'\\''\"'",
        "saltby|2026-10-26 03:46|2026-10-25T09:00:04Z\n"
        "saltby|2026-10-26 04:46|2026-10-24T09:00:03Z",
    ),
    Says(
        "There it is: one high water, two keys. It was planned on the 24th as 04:46 and again on "
        "the 25th as 03:46."
    ),
    Compacted(
        "Ada is hunting duplicate alerts. A second process, the gateway and retries are ruled "
        "out. The alert table holds two keys an hour apart for one high water. Next: read "
        "src/tidewatch/alerts.py."
    ),
    Read(
        "src/tidewatch/alerts.py",
        "def plan(db, harbour, predictions):\n"
        "    local = datetime.now().astimezone().tzinfo\n"
        "    for tide in predictions:\n"
        "        if tide.height_m >= LIMIT_M:\n"
        '            key = f"{harbour}|{tide.time.astimezone(local):%Y-%m-%d %H:%M}"',
        start=9,
    ),
    Thinks(
        "datetime.now().astimezone().tzinfo is a fixed offset, today's, not a zone. So a tide "
        "after the change is written with summer time when planned before it."
    ),
    Bash(
        "TZ=Europe/London python -c 'from datetime import *; "
        "print(repr(datetime.now().astimezone().tzinfo))'",
        "datetime.timezone(datetime.timedelta(0), 'GMT')",
    ),
    Says(
        "The root cause of the duplicate alerts: the key is made from local time with the UTC "
        "offset of the day of planning, so when the clocks went back the same high water got a "
        "second key an hour earlier. `datetime.now().astimezone().tzinfo` is a fixed offset, not "
        "a time zone."
    ),
    User("nice one. test first, then fix. and clean the table on the box"),
    Write("tests/test_clock_change.py", _TEST),
    Bash(
        "python -m pytest -q tests/test_clock_change.py",
        "E       assert (2,) == (1,)\n"
        "FAILED tests/test_clock_change.py::test_a_high_water_is_planned_once\n"
        "1 failed in 0.22s",
        exit=1,
    ),
    Edit(
        "src/tidewatch/alerts.py",
        10,
        "    local = datetime.now().astimezone().tzinfo\n    for tide in predictions:\n"
        "        if tide.height_m >= LIMIT_M:\n"
        '            key = f"{harbour}|{tide.time.astimezone(local):%Y-%m-%d %H:%M}"',
        "    for tide in predictions:\n        if tide.height_m >= LIMIT_M:\n"
        '            key = f"{harbour}|{tide.time.astimezone(UTC):%Y-%m-%dT%H:%MZ}"',
    ),
    Bash(
        "python -m pytest -q", ".....................                   [100%]\n21 passed in 0.66s"
    ),
    Bash(
        'git commit -qam "Key alerts by UTC, not local time" -m \'The offset of the day of '
        "planning gave one high water two keys when the clocks went back.' "
        "&& git log --oneline | head -1",
        "c2f8a61 Key alerts by UTC, not local time",
    ),
    Bash(
        "./deploy.sh saltby && ssh saltby 'sqlite3 tidewatch.db \"delete from alert where key not "
        "like '\\''%Z'\\''\"'",
        "tidewatch c2f8a61 is up on saltby",
    ),
    Says(
        "The test failed before and passes now; the fix is live. Keys are in UTC, and "
        'ZoneInfo("Europe/London") is used only for the text of the message.'
    ),
    Pause(7 * 60),
    User(
        "one text this evening, not two, harbour master says thanks. rule from now on: UTC "
        "everywhere, local time only in what people read"
    ),
    Edit(
        "CONTRIBUTING.md",
        17,
        "## Times",
        "## Times\n\n- UTC everywhere. Local time only in what people read.",
    ),
    Says("Written into CONTRIBUTING.md, next to the rule on units in column names."),
    Title("Double alerts after the clock change"),
)

SESSIONS = (
    Session("hunt", "2026-10-26T16:40:00", _HUNT, "double-alerts"),
    Session("cause", "2026-10-27T08:30:00", _CAUSE, "double-alerts"),
)
