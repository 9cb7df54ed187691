"""September: Ada starts the service, picks a database, and learns how the gauge behaves."""

from __future__ import annotations

from .events import (
    Ask,
    Bash,
    Edit,
    Event,
    Fetch,
    Hook,
    Queued,
    Read,
    Says,
    Session,
    Snapshot,
    Thinks,
    Title,
    User,
    Write,
)

# Put together here so that no scanner mistakes this file for a leak.
FAKE_TOKEN = "ghp_" + "FAKE" * 9

_STORE = '''"""Readings and predictions, in one SQLite file."""

import sqlite3

SCHEMA = """
create table if not exists reading (
    harbour text not null,
    time    text not null,
    height  real not null,
    primary key (harbour, time)
) without rowid;
"""


def connect(path):
    db = sqlite3.connect(path)
    db.execute("pragma journal_mode = wal")
    db.executescript(SCHEMA)
    return db
'''

_FETCH = '''"""The harbour office's gauge."""

import httpx

URL = "https://api.saltby-harbour.example/v2/gauge"


def latest(client: httpx.Client) -> dict:
    answer = client.get(URL, timeout=10)
    answer.raise_for_status()
    return answer.json()
'''

_STORAGE: tuple[Event, ...] = (
    Hook("SessionStart", "git status --short", "On branch main. No commits yet."),
    Snapshot(),
    User(
        "new project: tidewatch. fetches the tide gauge of Saltby harbour, keeps the readings, "
        "and warns people before the quay floods. start with storage, which database?"
    ),
    Thinks(
        "One gauge, one writer, a Raspberry Pi class machine. Postgres would be a second thing to "
        "run. But ask about other readers first: a dashboard on another host changes the answer."
    ),
    Says(
        "Before I pick: a reading every few minutes is about 90,000 rows a year, which either "
        "handles without noticing. What decides it is who else reads the data."
    ),
    Ask(
        "Will anything besides the service itself write to the database?",
        "Writers",
        (
            ("Only the service", "One process on one machine writes"),
            ("Several machines", "A second writer over the network"),
        ),
        "Only the service",
    ),
    Says(
        "Then SQLite. We chose SQLite over Postgres because only one process on one small box "
        "writes, and a backup is one file; Postgres would be a second server to patch and watch."
    ),
    Write("src/tidewatch/store.py", _STORE),
    Write(
        "tests/test_store.py",
        "from tidewatch.store import connect\n\n\n"
        "def test_a_reading_is_kept_once(tmp_path):\n"
        "    db = connect(tmp_path / 't.db')\n"
        "    for _ in range(2):\n"
        "        db.execute(\"insert or ignore into reading values ('saltby', 't', 3.1)\")\n"
        "    assert db.execute('select count(*) from reading').fetchone() == (1,)\n",
    ),
    Bash(
        "python -m pytest -q", ".                                       [100%]\n1 passed in 0.04s"
    ),
    Bash(
        'git add -A && git commit -m "Keep readings in one SQLite file"',
        "[main (root-commit) 4be1f0c] Keep readings in one SQLite file\n"
        " 4 files changed, 61 insertions(+)",
    ),
    Says(
        "The store is in `src/tidewatch/store.py`, in WAL mode so that a report can read while "
        "the fetcher writes. If a second machine ever has to write, revisit this."
    ),
    Title("Storage for tidewatch"),
)

_FETCHING: tuple[Event, ...] = (
    Snapshot(("src/tidewatch/store.py",)),
    User("now the fetcher. read their api docs first pls, harbour office is touchy about load"),
    Fetch(
        "https://api.saltby-harbour.example/docs",
        "How often may the gauge be asked, and what happens when one asks too often?",
        "The gauge publishes a new height every six minutes. Clients are allowed 20 requests a "
        "minute; above that the API answers 429 with a Retry-After header in seconds. Responses "
        "carry an ETag. Outages are announced on the status page.",
    ),
    Says(
        "The gauge publishes every six minutes, so asking more often brings nothing. I will ask "
        "every six minutes and keep well under their 20 requests a minute."
    ),
    Write("src/tidewatch/fetch.py", _FETCH),
    Bash(
        "python -m tidewatch.fetch --once",
        "Traceback (most recent call last):\n"
        '  File "/home/ada/tidewatch/src/tidewatch/fetch.py", line 11, in latest\n'
        "    answer.raise_for_status()\n"
        "httpx.HTTPStatusError: Server error '503 Service Unavailable'",
        exit=1,
    ),
    Says("Their side is down at the moment (503), which is a fair reminder: what do we do then?"),
    User(
        "retry, but politely. three tries, then give up until the next round. and never retry a "
        "4xx, they block IPs for that. except 429 obviously"
    ),
    Edit(
        "src/tidewatch/fetch.py",
        9,
        "    answer = client.get(URL, timeout=10)\n    answer.raise_for_status()\n"
        "    return answer.json()",
        "    for wait in (2, 8, 32):\n"
        "        answer = client.get(URL, timeout=10)\n"
        "        if answer.status_code == 429:\n"
        '            wait = int(answer.headers.get("Retry-After", wait))\n'
        "        elif answer.status_code < 500:\n"
        "            return answer.raise_for_status().json()\n"
        "        sleep(wait)\n"
        "    raise GaugeDown(answer.status_code)",
    ),
    Queued("and add a bit of jitter, Ben's scripts hit the same api on the full minute"),
    Edit("src/tidewatch/fetch.py", 15, "sleep(wait)", "sleep(wait * uniform(0.8, 1.2))"),
    Bash(
        "python -m pytest -q", "......                                  [100%]\n6 passed in 0.31s"
    ),
    Bash(
        'git commit -qam "Retry the gauge three times, politely" && git log --oneline | head -1',
        "a1d77c2 Retry the gauge three times, politely",
    ),
    Says(
        "The retry policy: a failed fetch is retried three times, after 2, 8 and 32 seconds with "
        "20% jitter. A 4xx is never retried, except 429, which waits as long as Retry-After says."
    ),
)

_NAMES: tuple[Event, ...] = (
    User("wind and pressure come with the v2 api too, add them to the reading table"),
    Read("src/tidewatch/store.py", _STORE.split("\n\n\n", maxsplit=1)[0]),
    Edit(
        "src/tidewatch/store.py",
        9,
        "    height  real not null,",
        "    height  real not null,\n    wind    real,\n    pressure real,",
    ),
    Says("Added `wind` and `pressure` to `reading`, both nullable because old rows lack them."),
    User(
        "hm. wind in what? knots? From now on always put the unit in a column's name, like "
        "height_m or wind_kn. I lost a weekend to feet once"
    ),
    Edit(
        "src/tidewatch/store.py",
        8,
        "    time    text not null,\n    height  real not null,\n    wind    real,\n"
        "    pressure real,",
        "    time_utc     text not null,\n    height_m     real not null,\n"
        "    wind_kn      real,\n    pressure_hpa real,",
    ),
    Bash(
        "python -m pytest -q", "........                                [100%]\n8 passed in 0.35s"
    ),
    Bash(
        'git commit -qam "Name columns with their unit" && git log --oneline | head -1',
        "0c93e5b Name columns with their unit",
    ),
    Edit(
        "CONTRIBUTING.md",
        14,
        "## Names",
        "## Names\n\n- A column carries its unit: `height_m`, `wind_kn`, `time_utc`.",
    ),
    Says(
        "Renamed: `time_utc`, `height_m`, `wind_kn`, `pressure_hpa`. The rule is in "
        "CONTRIBUTING.md so that the next column follows it."
    ),
    User(f"ok. CI needs to push the image, here: GITHUB_TOKEN={FAKE_TOKEN} put it in the workflow"),
    Edit(
        ".github/workflows/image.yml",
        21,
        "          password: TODO",
        "          password: ${{ secrets.REGISTRY_TOKEN }}",
    ),
    Says(
        "I have not written that token into a file: the workflow now refers to "
        "`secrets.REGISTRY_TOKEN`, and you add it once in the repository's settings. Please revoke "
        "the one you pasted; a chat is not a safe place for it."
    ),
    User("fair. revoked"),
    Says("Good. The workflow is ready and will run as soon as the new secret is there."),
)

SESSIONS = (
    Session("storage", "2026-09-02T08:12:00", _STORAGE),
    Session("fetching", "2026-09-04T13:40:00", _FETCHING, "fetcher"),
    Session("names", "2026-09-09T16:05:00", _NAMES),
)
