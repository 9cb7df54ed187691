"""November: backups, and a second harbour."""

from __future__ import annotations

from .events import Bash, Edit, Event, Read, Says, Session, Snapshot, Title, User, Write

_BACKUP: tuple[Event, ...] = (
    User("backups. cron with cp of the db file every night, ok?"),
    Says(
        "Not with `cp`: in WAL mode the newest rows are in a second file, so a copy taken while "
        "the fetcher writes can be torn. `sqlite3 .backup` takes a consistent copy while running."
    ),
    User("ok let's go with .backup then, keep 14 days"),
    Write(
        "ops/backup.sh",
        "#!/bin/sh\nset -eu\nday=$(date -u +%F)\n"
        'sqlite3 /var/lib/tidewatch/tidewatch.db ".backup /backup/tidewatch-$day.db"\n'
        "find /backup -name 'tidewatch-*.db' -mtime +14 -delete\n",
    ),
    Bash(
        "sh ops/backup.sh",
        'Error: cannot open "/backup/tidewatch-2026-11-05.db"',
        exit=1,
    ),
    Bash(
        "sudo install -d -o ada /backup && sh ops/backup.sh && ls /backup",
        "tidewatch-2026-11-05.db",
    ),
    Bash(
        "sqlite3 /backup/tidewatch-2026-11-05.db 'pragma integrity_check; "
        "select count(*) from reading'",
        "ok\n14771",
    ),
    Bash(
        'git add ops && git commit -qm "Back up every night with .backup, keep 14 days"',
        "",
    ),
    Says(
        "A backup runs every night at 02:30 UTC with `sqlite3 .backup` and is kept 14 days. I "
        "checked today's: it is whole, with 14,771 readings."
    ),
    Title("Nightly backups"),
)

_SECOND: tuple[Event, ...] = (
    Snapshot(("config/harbours.toml",)),
    User("ben. the folks in Skerry want it too. what must change for a second harbour?"),
    Read(
        "config/harbours.toml",
        '[saltby]\ngauge = "https://api.saltby-harbour.example/v2/gauge"\nlimit_m = 4.6\n'
        'zone = "Europe/London"\n',
    ),
    Says(
        "Little: every table has the harbour in its key. Skerry needs an entry in "
        "config/harbours.toml with its own flood limit, and the loop must ask the gauges one after "
        "the other, since both count against the same 20 requests a minute."
    ),
    User("and the database, is it still good enough for two?"),
    Says(
        "SQLite stays, and not Postgres, because it is still one process that writes. A second "
        "harbour only adds another 90,000 rows a year."
    ),
    User("limit for skerry is 3.9, quay is lower there"),
    Edit(
        "config/harbours.toml",
        5,
        "",
        '[skerry]\ngauge = "https://api.saltby-harbour.example/v2/gauge?at=skerry"\n'
        'limit_m = 3.9\nzone = "Europe/London"',
    ),
    Bash(
        "python -m pytest -q", "........................                [100%]\n24 passed in 0.71s"
    ),
    Bash(
        'git commit -qam "Watch Skerry, flood limit 3.9 m" && git log --oneline | head -1',
        "f41b7a9 Watch Skerry, flood limit 3.9 m",
    ),
    Says(
        "Skerry is watched from the next round on, with a flood limit of 3.9 m because its quay is "
        "lower. Still open: a phone number for their harbour master, until then alerts for Skerry "
        "are planned but not sent."
    ),
    Title("A second harbour"),
)

SESSIONS = (
    Session("backup", "2026-11-05T14:10:00", _BACKUP),
    Session("second-harbour", "2026-11-12T10:00:00", _SECOND, "skerry"),
)
