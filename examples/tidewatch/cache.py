"""A cache comes and goes: Redis in September, no Redis in October."""

from __future__ import annotations

from .events import (
    Ask,
    Bash,
    Edit,
    Event,
    Grep,
    Read,
    Says,
    Session,
    Snapshot,
    Thinks,
    Title,
    User,
    Write,
)

_REDIS: tuple[Event, ...] = (
    User(
        "ben here on ada's machine. the dashboard takes 3s because every page load asks the "
        "harbour api. can we cache that?"
    ),
    Grep(
        "fetch.latest",
        "src",
        (
            "src/tidewatch/web.py:22:    now = fetch.latest(client)",
            "src/tidewatch/loop.py:14:        reading = fetch.latest(client)",
        ),
    ),
    Says(
        "Two callers: the loop, every six minutes, and every page load of the dashboard. Keeping "
        "what the gauge last said would take the page load to almost nothing."
    ),
    User("let's use Redis for it, I know it well and we get expiry for free"),
    Write(
        "src/tidewatch/cache.py",
        '"""API responses, kept for six minutes."""\n\nimport json\n\nimport redis\n\n'
        "SECONDS = 360\n_redis = redis.Redis()\n\n\n"
        "def remember(key, make):\n"
        "    held = _redis.get(key)\n"
        "    if held is None:\n"
        "        held = json.dumps(make())\n"
        "        _redis.set(key, held, ex=SECONDS)\n"
        "    return json.loads(held)\n",
    ),
    Bash(
        "python -m pytest -q tests/test_cache.py",
        "E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. "
        "Connection refused.\n1 failed in 0.52s",
        exit=1,
    ),
    Bash("docker run -d --name tidewatch-redis -p 6379:6379 redis:7", "9f27c1aa04de"),
    Bash("python -m pytest -q tests/test_cache.py", ".\n1 passed in 0.11s"),
    Bash(
        'git commit -qam "Cache API responses in Redis" && git log --oneline | head -1',
        "77d0b1e Cache API responses in Redis",
    ),
    Says(
        "We cache API responses in Redis for six minutes, because that is how often the gauge "
        "publishes. The dashboard's page load fell from 3.1 s to 0.2 s."
    ),
    Title("A cache for the dashboard"),
)

_NO_REDIS: tuple[Event, ...] = (
    Snapshot(("src/tidewatch/cache.py",)),
    User("the box rebooted last night and the dashboard was dead until 9. why?"),
    Bash(
        "journalctl -u tidewatch --since today | tail -4",
        "04:11:52 tidewatch[411]: redis.exceptions.ConnectionError: Error 111 connecting to "
        "localhost:6379\n04:11:52 systemd[1]: tidewatch.service: Failed with result 'exit-code'.\n"
        "04:12:22 systemd[1]: tidewatch.service: Start request repeated too quickly.\n"
        "09:03:10 systemd[1]: Started tidewatch.service.",
    ),
    Says(
        "The Redis container has no restart policy, so after the reboot it stayed down, and the "
        "service refuses to start without it. A cache took the whole warning service down."
    ),
    Thinks(
        "A restart policy is the small fix. But the cache holds one row of 400 bytes. SQLite is "
        "already there, and the API sends ETags. Offer both."
    ),
    Ask(
        "How should we keep the service up when Redis is away?",
        "Cache",
        (
            ("Restart policy", "Keep Redis, let Docker restart it"),
            ("Table in SQLite", "Drop Redis; one table with an expiry column"),
        ),
        "Table in SQLite",
    ),
    Read(
        "src/tidewatch/cache.py",
        '"""API responses, kept for six minutes."""\n\nimport json\n\nimport redis\n',
    ),
    Edit(
        "src/tidewatch/cache.py",
        10,
        "def remember(key, make):\n    held = _redis.get(key)",
        "def remember(db, key, make):\n"
        '    held = db.execute("select body from response where key = ? and until_utc > ?", '
        "(key, now())).fetchone()",
    ),
    Bash(
        "docker rm -f tidewatch-redis && python -m pytest -q",
        "tidewatch-redis\n...................                     [100%]\n19 passed in 0.60s",
    ),
    Bash(
        "git commit -qam \"Cache API responses in SQLite, drop Redis\" -m 'Supersedes 77d0b1e.' "
        "&& git log --oneline | head -1",
        "e5a90d3 Cache API responses in SQLite, drop Redis",
    ),
    Says(
        "We no longer cache API responses in Redis: they are a table in SQLite now, because after "
        "a reboot the missing Redis kept the whole service down. This supersedes the decision of "
        "11 September; the page load is still 0.2 s."
    ),
    User("good riddance. one thing less to run"),
    Edit("pyproject.toml", 17, '    "httpx",\n    "redis",', '    "httpx",'),
    Edit("ops/README.md", 8, "Start Redis first: docker start tidewatch-redis\n", ""),
    Says("I removed `redis` from pyproject.toml and its line from the deployment notes as well."),
    Title("Why the dashboard was down"),
)

SESSIONS = (
    Session("redis", "2026-09-11T09:20:00", _REDIS, "dashboard"),
    Session("no-redis", "2026-10-14T09:15:00", _NO_REDIS),
)
