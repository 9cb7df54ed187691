"""A small memory with known answers, and what is asked of it in the tests beside."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from holdfast.app.memory import Holdfast
from holdfast.recall.core.plan import Budget
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

NOW = "2026-09-20T12:00:00.000Z"  # a Sunday
BUDGETS = (Budget.LOW, Budget.MID)

# Each a day, what the person said and what the assistant answered.
SESSIONS = (
    (
        "2026-03-10",
        "Which broker should carry the mailer queue?",
        "Redis streams carry the mailer queue, because ordering matters.",
    ),
    (
        "2026-05-02",
        "Please look at parseHTTPRequest, it drops the last header.",
        "The loop in parseHTTPRequest was one short; parse_http_request in src/ui/rest.js:42 too.",
    ),
    (
        "2026-06-11",
        "Deploying fails with TypeError: cannot unpack non-iterable NoneType object",
        "The stage file was empty, so its loader gave nothing back.",
    ),
    (
        "2026-07-01",
        "Please open a pull request for the colour picker.",
        "The pull request for the picker waits for Maria.",
    ),
    (
        "2026-07-15",
        "There is a defect in the invoice totals: cents vanish.",
        "Rounding came before the sum; the totals are right now.",
    ),
    ("2026-08-01", "My dog is sick.", "Get well soon to him."),
    (
        "2026-08-10",
        "The editor theme I like best is Solarized.",
        "I recommend Gruvbox as a theme for the editor in the evening.",
    ),
    (
        "2026-08-20",
        "What about the cookies of a session?",
        "We decided to keep session cookies alive for thirty days in the browser.",
    ),
    (
        "2026-09-05",
        "What about those session cookies again?",
        "We decided to keep session cookies alive for seven days in the browser and on phones.",
    ),
    (
        "2026-09-12",
        "The avatar upload accepts any size.",
        "Avatars are capped at two megabytes now.",
    ),
    (
        "2026-09-19",
        "Write the tour of the checkout page.",
        "The checkout tour has four steps. Next: translate the tour into Danish.",
    ),
)
COMMITS = (
    ("2026-06-30T12:00:00Z", "Bump the colour library"),
    ("2026-08-15T12:00:00Z", "Release v2: checkout for everyone"),
    ("2026-09-01T12:00:00Z", "Draft the notes of v20, then v2.1"),
)


def talk(number: int, day: str, *said: str, cwd: str = "/home/dev/shop") -> Script:
    """A session in which two speak by turns."""
    start = datetime.fromisoformat(f"{day}T09:00:00+00:00").astimezone(UTC)
    script = Script(f"{number:08d}-0000-4000-8000-000000000001", cwd=cwd, start=start)
    for place, text in enumerate(said):
        (script.assistant if place % 2 else script.user)(text)
    return script


def open_home(folder: Path, now: str = NOW, embed_model: str = "") -> Holdfast:
    """A memory in a folder, at a fixed moment."""
    settings = Settings(home=folder / "home", claude_dir=folder, embed_model=embed_model)
    return Holdfast(with_empty_memory(settings), now=lambda: now)


def open_with_sessions(folder: Path, *scripts: Script, embed_model: str = "") -> Holdfast:
    """A memory of some sessions, without vectors."""
    for script in scripts:
        script.write(folder / "p")
    memory = open_home(folder, embed_model=embed_model)
    memory.ingest(memory.ingestion.find([folder / "p"]))
    memory.ingestion.update()
    return memory


def make_shop(folder: Path) -> Holdfast:
    """All of the above in the bank `shop`, a little in the bank `farm`, everything embedded."""
    sessions = [talk(n, *session) for n, session in enumerate(SESSIONS, start=1)]
    fed = talk(90, "2026-09-18", "Feed the llamas.", "The llamas ate.", cwd="/home/dev/farm")
    shorn = talk(91, "2026-09-19", "Shear two llamas.", "Both are shorn.", cwd="/home/dev/farm")
    memory = open_with_sessions(folder, *sessions, fed, shorn)
    memory.ingestion.ingest_git(_repository(folder / "repo"), "shop")
    memory.ingestion.update()
    assert memory.ingestion.embed() == 0
    return memory


def _repository(top: Path) -> Path:
    top.mkdir()
    _git(top, "init", "-q", "-b", "main")
    for time, subject in COMMITS:
        _git(top, "commit", "-q", "--allow-empty", "-m", subject, time=time)
    return top


def _git(top: Path, *arguments: str, time: str = "") -> None:
    dates = {"GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time} if time else {}
    identity = ("-c", "user.name=Ann Ex", "-c", "user.email=ann@x.org")
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(top), **dates}
    subprocess.run(["git", *identity, "-C", str(top), *arguments], check=True, env=env)
