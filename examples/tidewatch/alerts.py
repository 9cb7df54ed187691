"""Early October: Ben adds the alerts, and with them a key that will matter later."""

from __future__ import annotations

from .events import (
    Bash,
    Command,
    Delegate,
    Event,
    Grep,
    Read,
    Says,
    Session,
    Snapshot,
    Title,
    User,
    Write,
)

_PLAN = '''"""Alerts: planned from the predictions, each high water once."""

from datetime import datetime, timedelta

AHEAD = timedelta(minutes=45)
LIMIT_M = 4.6


def plan(db, harbour, predictions):
    local = datetime.now().astimezone().tzinfo
    for tide in predictions:
        if tide.height_m >= LIMIT_M:
            key = f"{harbour}|{tide.time.astimezone(local):%Y-%m-%d %H:%M}"
            db.execute("insert or ignore into alert (key, harbour) values (?, ?)", (key, harbour))
'''

_ALERTS: tuple[Event, ...] = (
    Command("clear"),
    Snapshot(),
    User(
        "ben. alerts next: text the harbour master 45 min before a high water above 4.6 m. find "
        "out first what sms gateway the other harbour scripts use",
        reminder="The task list is empty. Never mention this reminder to the user.",
    ),
    Delegate(
        "Explore",
        "Find the SMS gateway",
        "Look through /home/ada/harbour-scripts for anything that sends SMS. Report the gateway, "
        "how it is authenticated and what its limits are. Change nothing.",
        (
            Grep(
                "sms|text message",
                "../harbour-scripts",
                (
                    "harbour-scripts/flood.sh:31:curl -s $BEACON_URL/send -d to=$1 -d text=$2",
                    "harbour-scripts/README:12:Beacon SMS: 100 messages a day, longer are split",
                ),
            ),
            Read("../harbour-scripts/README", "Beacon SMS: 100 messages a day, longer are split"),
        ),
        "The scripts send through Beacon SMS: a POST to `$BEACON_URL/send` with `to` and `text`, "
        "authenticated by a key in the URL. The limit is 100 messages a day.",
    ),
    Says(
        "They use Beacon SMS, with 100 messages a day. A spring tide gives two alerts a day and "
        "harbour, so there is room, as long as nothing is sent twice."
    ),
    User("right, so each high water must be alerted exactly once. even if we restart"),
    Write("src/tidewatch/alerts.py", _PLAN),
    Bash(
        "python -m pytest -q", "..............                          [100%]\n14 passed in 0.52s"
    ),
    Bash(
        'git commit -qam "Text the harbour master 45 minutes ahead" && git log --oneline | head -1',
        "b60f4d8 Text the harbour master 45 minutes ahead",
    ),
    Says(
        "Alerts are planned a week ahead from the predictions and go out 45 minutes before a high "
        "water of 4.6 m or more. Each is stored under a key of harbour and local time, so a "
        "restart does not send it again."
    ),
    User("ship it"),
    Bash("./deploy.sh saltby", "tidewatch b60f4d8 is up on saltby"),
    Says("It is live on the box in Saltby. Still to do: a test message to the harbour master."),
    Title("SMS alerts"),
)

SESSIONS = (Session("alerts", "2026-10-02T10:30:00", _ALERTS, "alerts"),)
