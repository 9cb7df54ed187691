"""What `bench.year` measures of a memory at the end of a month, in a fresh process."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench import year_plants
from holdfast.app.memory import Holdfast
from holdfast.app.status.period_digest import digest
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import make_inbox
from holdfast.hosts.claude_code.install import scripts
from holdfast.settings import Settings
from holdfast.times import format_time

ASKED = 15
_ROUNDS = 5
_MAIN = "from holdfast.interfaces.cli.main import main; raise SystemExit(main())"


def timed(do: Callable[[], object]) -> float:
    """The processor time of a call."""
    began = time.process_time()
    do()
    return time.process_time() - began


def _control() -> object:
    return sorted(str(n * 7919 % 100_003) for n in range(60_000))


def measure(settings: Settings, now: str, month: int = 0) -> dict[str, Any]:
    """What the memory is like at the end of a month. With its number, what was planted in
    the months up to then is judged, too."""
    with Holdfast(settings, lambda: now, create=False) as memory:
        questions = _questions(settings.database)
        banks = [bank.id for bank in memory.reader.banks.all()]
        largest = max(banks, key=lambda bank: memory.reader.records.counts(bank).sessions)
        memory.recall(questions[0], bank="all")  # loads what is loaded once
        recalls, briefs, controls = list[float](), list[float](), list[float]()
        for question in questions:
            controls.append(timed(_control))
            recalls.append(timed(lambda q=question: memory.recall(q, bank="all")))
            briefs.append(timed(lambda: memory.briefs.session_brief(largest)))
        texts = [memory.briefs.session_brief(bank).text for bank in banks]
        control = statistics.median(controls)
        judged = _judged(memory, largest, now, month, control) if month else {}
        folder = memory.reader.sessions.latest(largest, 1)[0].cwd
    return {
        "recall": statistics.median(recalls) / control,
        "brief": statistics.median(briefs) / control,
        **_commands(settings, questions[0], largest, folder),
        "recall_mb": peak_mb(),
        "brief_lines": statistics.mean(len(text.splitlines()) for text in texts),
        "brief_characters": statistics.mean(map(len, texts)),
        **judged,
        **_sizes(settings.home),
        "records": counts(settings.database),
    }


def _sizes(home: Path) -> dict[str, float]:
    """Sizes and numbers of files."""
    return {
        "database_mb": _size(home, ("memory.db",)),
        "vectors_mb": _size(home, ("vectors",)),
        "backups_mb": _size(home, ("backups",)),
        "rest_mb": _size(home) - _size(home, ("memory.db", "vectors", "backups")),
        "files": sum(1 for path in home.rglob("*") if path.is_file()),
        "journals": _files_in(HomePaths(home).journals),
        "marks": _files_in(HomePaths(home).session_marks),
        "backups": _files_in(home / "backups"),
        "briefs": _files_in(HomePaths(home).briefs),
        "log_kb": _size(home, ("worker.log",)) * 1024,
        "transcripts": _files_in(home.parent / ".claude"),
    }


def _judged(memory: Holdfast, bank: str, now: str, month: int, control: float) -> dict[str, Any]:
    """What was planted, as the memory tells it, and a digest of the month."""
    judged = year_plants.judge(memory, bank, month)
    since = format_time(datetime.fromisoformat(now) - timedelta(days=30))
    began = time.process_time()
    told = digest(memory, "all", since, now, shown=1000)
    digest_s = time.process_time() - began
    texts = [item.text for section in told.sections for item in section.items]
    planted = year_plants.said_in(month)
    return {
        "judged": judged._asdict(),
        "digest": digest_s / control,
        "digest_lines": len(texts),
        "planted": len(planted),
        "digest_planted": sum(any(said.words in text for text in texts) for said in planted),
    }


def _questions(database: Path) -> list[str]:
    """The first words of statements that the memory holds, the same for the same memory."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        found = connection.execute("SELECT what FROM retained_memory ORDER BY id LIMIT ?", (ASKED,))
        return [" ".join(text.split()[:8]) for (text,) in found]


def _commands(settings: Settings, question: str, bank: str, folder: str) -> dict[str, float]:
    """The processor time of commands, their start included, in times of `python -c pass`: a recall,
    a start brief, and the hook of a session that starts, which tells a prepared one."""
    home = settings.home
    env = {**os.environ, "HOME": str(home.parent), "HOLDFAST_HOME": str(home)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling would be measured instead
    recall = (sys.executable, "-c", _MAIN, "recall", question, "--bank", "all")
    brief = (sys.executable, "-c", _MAIN, "brief", "--bank", bank)
    used = {"command": list[float](), "brief_command": list[float](), "start": list[float]()}
    control = list[float]()
    with tempfile.TemporaryDirectory() as temporary:
        hooks = _hooked_home(Path(temporary), home)
        payload = json.dumps(
            {"session_id": "year", "cwd": folder, "hook_event_name": "SessionStart",
             "source": "startup"}
        )  # fmt: skip
        for _ in range(_ROUNDS):
            used["command"].append(_cpu_of(recall, env))
            used["brief_command"].append(_cpu_of(brief, env))
            for event in Path((hooks / "inbox").read_text().strip()).iterdir():
                event.unlink()  # one that waits would start a worker
            start = ("sh", str(hooks / "capture.sh"), "SessionStart")
            used["start"].append(_cpu_of(start, env, payload, "additionalContext"))
            control.append(_cpu_of((sys.executable, "-c", "pass"), env))
        shutil.rmtree((hooks / "inbox").read_text().strip(), ignore_errors=True)
    once = statistics.median(control)
    return {name: statistics.median(times) / once for name, times in used.items()}


def _hooked_home(folder: Path, home: Path) -> Path:
    """The hooks of a home beside the given one, with its memory and its prepared briefs: the one
    that is simulated starts no worker by itself."""
    paths = HomePaths(folder)
    paths.hooks.mkdir(parents=True)
    for name, content in scripts().items():
        (paths.hooks / name).write_bytes(content)
    paths.interpreter.write_text(f"{sys.executable}\n-I\n")
    make_inbox(paths)
    for name in ("memory.db", "briefs"):
        (folder / name).symlink_to(home / name)
    return paths.hooks


def _cpu_of(
    command: Sequence[str], env: dict[str, str], given: str = "", expected: str = ""
) -> float:
    """The processor time of a command, which must succeed and print what is expected."""
    began = children_cpu()
    done = subprocess.run(
        command, env=env, input=given, stdout=subprocess.PIPE, text=True, check=True
    )
    if expected not in done.stdout:
        raise SystemExit(f"year: {' '.join(command)} printed {done.stdout[:200]!r}")
    return children_cpu() - began


def peak_mb() -> float:
    """The most memory that this process has used. `getrusage` would count that of the process which
    started it, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (used,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(used) / 1024


def children_cpu() -> float:
    """The processor time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _size(home: Path, prefixes: tuple[str, ...] = ("",)) -> float:
    """Megabytes of the files whose path below the home begins so."""
    files = (path for path in home.rglob("*") if path.is_file())
    return sum(
        path.stat().st_size
        for path in files
        if path.relative_to(home).as_posix().startswith(prefixes)
    ) / (1024 * 1024)


def _files_in(folder: Path) -> int:
    return sum(1 for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0


def counts(database: Path) -> dict[str, int]:
    """Rows of every table but those of full text."""
    wanted = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'passage_fts%'"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute(wanted)]
        rows = {name: connection.execute(f'SELECT count(*) FROM "{name}"') for name in tables}
        return {name: row.fetchone()[0] for name, row in rows.items()}
