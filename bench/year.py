"""A year of use: five sessions a day for 365 days, and what grows by month.

Real sessions are written again and again into a Claude Code folder, each time with new ids, the
dates of their day and other names of symbols. Hooks note their start and end, as in life; at the
end of a day a worker runs with the clock of that day, and files get its time, so that what is kept
for a while goes when that while is over. Every month has a process of its own, as long
as it lasts, and ends with a backup and measurements in a fresh process: processor time of a recall,
of a start brief and of `holdfast recall` as a command, each in times of a control (`python -c pass`
for the command, the same sorting of numbers for the others), sizes on disk, and counts of records.
A memory whose recall takes longer because it holds more is expected; one whose *work per session*
or whose other files grow with age is not.

`HOLDFAST_BENCH_DAYS` and `HOLDFAST_BENCH_A_DAY` change the length. `HOLDFAST_BENCH_YEAR` names a
folder in which the year is kept: an interrupted run continues there. With
`HOLDFAST_BENCH_MEASURED=2`, only the last two days of a month have a worker run each and are
measured; the days before are read in one run. Measured days repeat the same sessions every month.
The folder keeps the memory as it was before them (`before-DAY`): put it in place of the folder's
own, and `python -m bench.year days FOLDER DAY LAST` measures them again, with other code.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from bench.corpus import real_transcripts
from holdfast.app.background.steps import STEPS
from holdfast.app.background.worker import WorkerOptions, run_worker
from holdfast.app.memory import Holdfast
from holdfast.app.transfer.backup import back_up
from holdfast.capture.home_paths import INJECTED_SUFFIX, HomePaths
from holdfast.capture.inbox import inbox_folders, make_inbox
from holdfast.hosts import claude_code
from holdfast.settings import Settings, load_settings
from holdfast.times import format_time

DAYS = int(os.environ.get("HOLDFAST_BENCH_DAYS", "365"))
A_DAY = int(os.environ.get("HOLDFAST_BENCH_A_DAY", "5"))
MONTH = 30
MEASURED = int(os.environ.get("HOLDFAST_BENCH_MEASURED", MONTH))
FIRST = datetime(2025, 11, 1, 9, tzinfo=UTC)
# Sessions of an ordinary length: a year of the longest would take a day to simulate.
SMALLEST, LARGEST = 100_000, 400_000
BACKUPS_KEPT = 3
ASKED = 15
_CAPTURE_SCRIPT = Path(claude_code.__file__).parent / "scripts" / "capture.sh"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_IDS = re.compile(r"\b(toolu|msg|req)_(\w+)")
# A symbol: a word in camelCase or with underscores, as code has them and prose has not.
_SYMBOL = re.compile(r"\b(?:[a-z]+[A-Z]\w+|[a-z]+_[a-z_]+\w)\b")
_SPOKEN = frozenset({"text", "content", "prompt", "command", "new_string", "old_string", "stdout"})


def main() -> int:
    """Simulate the year, and print a line a month."""
    if sys.argv[1:2] == ["month"]:
        simulate_month(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        return 0
    if sys.argv[1:2] == ["days"]:
        place, first, last = Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
        print(json.dumps(measure_days(place, settings_of(place), first, last)))
        return 0
    if sys.argv[1:2] == ["measure"]:
        print(json.dumps(measure(Path(sys.argv[2]), sys.argv[3])))
        return 0
    with ExitStack() as stack:
        found = stack.enter_context(real_transcripts())
        if found is None:
            print("year: no real transcripts at hand ($HOLDFAST_BENCH_DATA): nothing is measured")
            return 0
        kept = os.environ.get("HOLDFAST_BENCH_YEAR")
        place = Path(kept or stack.enter_context(tempfile.TemporaryDirectory()))
        home = make_home(place, chosen(found))
        print_table(run_months(home))
    return 0


def chosen(found: Sequence[Path]) -> list[Path]:
    """The sessions that are repeated: of ordinary length, of all projects in turn."""
    by_project: dict[str, list[Path]] = {}
    for path in found:
        if SMALLEST <= path.stat().st_size <= LARGEST:
            by_project.setdefault(path.parent.name, []).append(path)
    most = max(map(len, by_project.values()))
    return [paths[n] for n in range(most) for paths in by_project.values() if n < len(paths)]


def make_home(place: Path, sources: Sequence[Path]) -> Path:
    """A home with hooks that start no worker, and the sessions to repeat."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "sources").mkdir(exist_ok=True)
    for number, path in enumerate(sources):
        target = place / "sources" / f"{number:03d}@{path.parent.name}.jsonl"
        if not target.exists():
            shutil.copy(path, target)
    paths = HomePaths(place / ".holdfast")
    if not paths.hooks.exists():
        make_inbox(paths)
        shutil.copy(_CAPTURE_SCRIPT, paths.hooks)
        paths.interpreter.write_text("/bin/true\n-I\n")
    return place


def run_months(place: Path) -> Iterator[dict[str, Any]]:
    """Simulate and measure each month; months that a kept folder has are read from it."""
    for first in range(0, DAYS, MONTH):
        last = min(first + MONTH, DAYS)
        noted = place / f"month-{first:03d}-{last:03d}.json"
        if not noted.exists():
            began = _children_cpu()
            _run("month", str(place), str(first), str(last))
            worked = json.loads((place / "worked.json").read_text())
            worked["cpu_s"] = _children_cpu() - began
            measured = json.loads(_run("measure", str(place), day_time(last - 1)))
            noted.write_text(json.dumps({"month": first // MONTH + 1, **worked, **measured}))
        yield json.loads(noted.read_text())


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", "bench.year", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def day_time(day: int, hour: int = 9) -> str:
    """The evening of a day of the year."""
    return format_time(FIRST + timedelta(days=day, hours=hour))


def settings_of(place: Path) -> Settings:
    """The settings of the simulated user."""
    env = {"HOME": str(place), "HOLDFAST_HOME": str(place / ".holdfast")}
    return load_settings(env)


def simulate_month(place: Path, first: int, last: int) -> None:
    """Write the sessions of these days, and let a worker read them."""
    settings = settings_of(place)
    measured_from = max(first, last - MEASURED)
    for day in range(first, measured_from):
        write_day(place, day, day * A_DAY)
        drain_day(settings, day)
    if measured_from > first:
        work_a_day(settings, measured_from - 1)
        keep_copy(place, measured_from)
    by_day = measure_days(place, settings, measured_from, last)
    backup_began = time.process_time()
    backup = back_up(settings, None, lambda: day_time(last - 1))
    backup_s = time.process_time() - backup_began
    for old in sorted(backup.path.parent.iterdir())[:-BACKUPS_KEPT]:
        old.unlink()
    worked = {
        "sessions": last * A_DAY,
        "worker_s_a_session": sum(by_day) / (len(by_day) * A_DAY),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "backup_s": backup_s,
    }
    (place / "worked.json").write_text(json.dumps(worked))


def measure_days(place: Path, settings: Settings, first: int, last: int) -> list[float]:
    """Simulate days with a worker run each; returns the processor time of each. If they are only a
    part of the month, their sessions are the same every month, so that months can be compared."""
    by_day: list[float] = []
    for day in range(first, last):
        write_day(place, day, (day - first if MEASURED < MONTH else day) * A_DAY)
        by_day.append(work_a_day(settings, day))
    return by_day


def write_day(place: Path, day: int, first_source: int) -> None:
    """Write the sessions of a day, made from the sources from the given one on."""
    sources = sorted((place / "sources").iterdir())
    for n in range(A_DAY):
        source = sources[(first_source + n) % len(sources)]
        write_session(place, source, day * A_DAY + n, day, n)


def keep_copy(place: Path, day: int) -> None:
    """Keep the memory as it is before a day. Transcripts are linked: they do not change."""
    kept = place / f"before-{day:03d}"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(place / ".holdfast", kept / ".holdfast")
    shutil.copytree(place / ".claude", kept / ".claude", copy_function=os.link)


def drain_day(settings: Settings, day: int) -> None:
    """Move the events of a day from the inbox into journals, and give both the time of that day.
    Journals get it before they are read: by their time they are known again."""
    paths, worker = HomePaths(settings.home), WorkerOptions(start_delay_s=0, linger_s=0)
    re_date(day, *inbox_folders(paths), paths.session_marks)
    run_worker(settings, worker, STEPS[:1], lambda: day_time(day))
    re_date(day, paths.journals)


def work_a_day(settings: Settings, day: int) -> float:
    """Let a worker do the work that waits at the end of a day; returns the processor time."""
    before = time.process_time()
    drain_day(settings, day)
    run_worker(settings, WorkerOptions(start_delay_s=0, linger_s=0), now=lambda: day_time(day))
    return time.process_time() - before


def re_date(day: int, *folders: Path) -> None:
    """Give the files that were written just now the time of a day."""
    then, end = (FIRST + timedelta(days=day)).timestamp(), day_end()
    for folder in folders:
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.is_file() and path.stat().st_mtime > end:
                os.utime(path, (then, then))


def day_end() -> float:
    """The end of the last day: whatever is later was not given its time yet."""
    return (FIRST + timedelta(days=DAYS)).timestamp()


def write_session(place: Path, source: Path, number: int, day: int, of_day: int) -> None:
    """A session again: new ids, the time of its day, and other symbols in each round."""
    project = source.stem.partition("@")[2]
    folder = f"/home/dev/{project}"
    session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"session {number}"))
    start = FIRST + timedelta(days=day, hours=1.5 * of_day)
    target = place / ".claude" / "projects" / folder.replace("/", "-").replace("_", "-")
    target.mkdir(parents=True, exist_ok=True)
    path = target / f"{session}.jsonl"
    shift: timedelta | None = None
    rename = _renamed(number)
    with path.open("w", encoding="utf-8") as out:
        for line in source.read_text("utf-8").splitlines():
            record = cast(dict[str, Any], json.loads(line))
            if said := record.get("timestamp"):
                shift = shift or start - datetime.fromisoformat(said)
                record["timestamp"] = format_time(datetime.fromisoformat(said) + shift)
            record = cast(dict[str, Any], _spoken(record, rename))
            text = _IDS.sub(rf"\1_\2y{number}", json.dumps(record, ensure_ascii=False))
            text = _UUID.sub(
                lambda m: str(uuid.uuid5(uuid.NAMESPACE_URL, f"{number} {m[0]}")), text
            )
            again = cast(dict[str, Any], json.loads(text))
            if "sessionId" in again:
                again["sessionId"] = session
            if "cwd" in again:
                again["cwd"] = folder
            out.write(json.dumps(again, ensure_ascii=False) + "\n")
    os.utime(path, (start.timestamp(), start.timestamp()))
    hook(place, "SessionStart", session, path, folder)
    hook(place, "SessionEnd", session, path, folder)
    # As the hook that tells the brief leaves it.
    marks = HomePaths(place / ".holdfast").session_marks
    marks.mkdir(exist_ok=True)
    (marks / f"{session}{INJECTED_SUFFIX}").write_text('{"kind": "start", "text": "…"}\n')


def _renamed(number: int) -> Callable[[str], str]:
    """Gives symbols other names in each session, so that no two say the same of the same."""
    return lambda text: _SYMBOL.sub(lambda m: f"{m[0]}{number % 97}", text)


def _spoken(value: object, rename: Callable[[str], str], is_spoken: bool = False) -> object:
    """The same value with other symbols in what was said, and nowhere else."""
    if isinstance(value, str):
        return rename(value) if is_spoken else value
    if isinstance(value, list):
        return [_spoken(item, rename, is_spoken) for item in cast(list[object], value)]
    if isinstance(value, Mapping):
        items = cast(Mapping[str, object], value).items()
        return {key: _spoken(item, rename, key in _SPOKEN) for key, item in items}
    return value


def hook(place: Path, event: str, session: str, path: Path, folder: str) -> None:
    """What Claude Code gives to a hook, given to it."""
    payload = {
        "session_id": session, "transcript_path": str(path), "cwd": folder,
        "hook_event_name": event, "source": "startup", "reason": "exit",
    }  # fmt: skip
    home = place / ".holdfast"
    subprocess.run(
        ["sh", str(HomePaths(home).hooks / "capture.sh"), event],
        input=json.dumps(payload).encode(),
        env={"PATH": os.environ["PATH"], "HOME": str(place), "HOLDFAST_HOME": str(home)},
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _timed(do: Callable[[], object]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began


def _control() -> object:
    return sorted(str(n * 7919 % 100_003) for n in range(60_000))


def measure(place: Path, now: str) -> dict[str, Any]:
    """What the memory is like at the end of a month."""
    settings = settings_of(place)
    with Holdfast(settings, lambda: now, create=False) as memory:
        questions = _questions(settings.database)
        banks = [bank.id for bank in memory.reader.banks.all()]
        memory.recall(questions[0], bank="all")  # loads what is loaded once
        recalls, briefs, controls = list[float](), list[float](), list[float]()
        for question in questions:
            controls.append(_timed(_control))
            recalls.append(_timed(lambda q=question: memory.recall(q, bank="all")))
            briefs.append(_timed(lambda: memory.briefs.session_brief(banks[0])))
        texts = [memory.briefs.session_brief(bank).text for bank in banks]
    control = statistics.median(controls)
    home = settings.home
    return {
        "recall": statistics.median(recalls) / control,
        "brief": statistics.median(briefs) / control,
        "command": _command_ratio(place, questions[0]),
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
        "brief_lines": statistics.mean(len(text.splitlines()) for text in texts),
        "brief_characters": statistics.mean(map(len, texts)),
        "records": _counts(home / "memory.db"),
    }


def _questions(database: Path) -> list[str]:
    """The first words of statements that the memory holds, the same for the same memory."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        found = connection.execute("SELECT what FROM retained_memory ORDER BY id LIMIT ?", (ASKED,))
        return [" ".join(text.split()[:8]) for (text,) in found]


def _command_ratio(place: Path, question: str) -> float:
    env = {**os.environ, "HOME": str(place), "HOLDFAST_HOME": str(place / ".holdfast")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling would be measured instead
    main = "from holdfast.interfaces.cli.main import main; raise SystemExit(main())"

    def used(*arguments: str) -> float:
        began = _children_cpu()
        subprocess.run(
            [sys.executable, *arguments], env=env, stdout=subprocess.DEVNULL, check=False
        )
        return _children_cpu() - began

    subject, control = list[float](), list[float]()
    for _ in range(7):
        subject.append(used("-c", main, "recall", question, "--bank", "all"))
        control.append(used("-c", "pass"))
    return statistics.median(subject) / statistics.median(control)


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


def _counts(database: Path) -> dict[str, int]:
    """Rows of every table but those of full text."""
    wanted = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'passage_fts%'"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute(wanted)]
        rows = {name: connection.execute(f'SELECT count(*) FROM "{name}"') for name in tables}
        return {name: row.fetchone()[0] for name, row in rows.items()}


def print_table(months: Iterator[dict[str, Any]]) -> None:
    """A line a month, as it comes."""
    columns = (
        ("month", "month", 0), ("sessions", "sessions", 0), ("worker s", "worker_s_a_session", 2),
        ("peak MB", "peak_mb", 0), ("recall", "recall", 2), ("brief", "brief", 2),
        ("command", "command", 1), ("database MB", "database_mb", 0),
        ("vectors MB", "vectors_mb", 0), ("rest MB", "rest_mb", 1), ("files", "files", 0),
        ("journals", "journals", 0), ("marks", "marks", 0), ("backup s", "backup_s", 1),
        ("brief lines", "brief_lines", 1),
    )  # fmt: skip
    print("| " + " | ".join(name for name, _, _ in columns) + " |")
    print("|" + "---|" * len(columns))
    for month in months:
        print("| " + " | ".join(f"{month[key]:.{digits}f}" for _, key, digits in columns) + " |", flush=True)  # fmt: skip # noqa: E501


if __name__ == "__main__":
    sys.exit(main())
