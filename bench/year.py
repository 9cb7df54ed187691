"""A year of use: five sessions a day for 365 days, and what grows by month.

Real sessions are written again and again into a Claude Code folder, each time with new ids, the
dates of their day and other names of symbols. Hooks note their start and end, as in life; at the
end of a day a worker runs with the clock of that day, and files get its time, so that what is kept
for a while goes when that while is over. Transcripts are removed after 30 days, as Claude Code does
it; the worker's log notes each. Every month has a process of its own, as long as it lasts, and ends
with a backup, which is checked, and measurements in a fresh process: processor time of a recall, of
a start brief and of a digest in times of a control (sorting numbers), of commands and of the hook
at the start of a session in times of `python -c pass`, sizes on disk, and counts of records. What
people lay down and later replace is judged each month (`bench.year_plants`), and after the sixth
month everything is derived again as by another release (`bench.year_upgrade`). A memory whose
recall takes longer because it holds more is expected; one whose *work per session* or whose other
files grow with age is not.

`HOLDFAST_BENCH_DAYS`, `HOLDFAST_BENCH_MONTH` and `HOLDFAST_BENCH_A_DAY` change the length.
`HOLDFAST_BENCH_YEAR` names a folder in which the year is kept: an interrupted run continues there.
With `HOLDFAST_BENCH_MEASURED=2`, only the last two days of a month have a worker run each and are
measured; the days before are read in one run, in which a text that differs from an earlier one only
in the numbers of its symbols gets its vector. Measured days repeat the same sessions every month.
The folder keeps the memory as it was before them (`before-DAY`): put it in place of the folder's
own, and `python -m bench.year days FOLDER DAY LAST` measures them again, with other code.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from bench import year_plants, year_upgrade
from bench.corpus import real_transcripts
from bench.year_measures import children_cpu, measure, peak_mb
from bench.year_vectors import reused_vectors
from holdfast.app.background.steps import STEPS
from holdfast.app.background.worker import WorkerOptions, run_worker
from holdfast.app.transfer.backup import back_up, check_backup
from holdfast.capture.home_paths import INJECTED_SUFFIX, HomePaths
from holdfast.capture.inbox import inbox_folders, make_inbox
from holdfast.hosts import claude_code
from holdfast.settings import Settings, load_settings
from holdfast.times import format_time

DAYS = int(os.environ.get("HOLDFAST_BENCH_DAYS", "365"))
A_DAY = int(os.environ.get("HOLDFAST_BENCH_A_DAY", "5"))
MONTH = int(os.environ.get("HOLDFAST_BENCH_MONTH", "30"))
MEASURED = int(os.environ.get("HOLDFAST_BENCH_MEASURED", MONTH))
FIRST = datetime(2025, 11, 1, 9, tzinfo=UTC)
# Sessions of an ordinary length: a year of the longest would take a day to simulate.
SMALLEST, LARGEST = 100_000, 400_000
BACKUPS_KEPT = 3
# After this long, Claude Code removes transcripts.
TRANSCRIPTS_KEPT = timedelta(days=30)
# After this month, everything is derived again.
UPGRADE_AFTER = 6
_CAPTURE_SCRIPT = Path(claude_code.__file__).parent / "scripts" / "capture.sh"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_IDS = re.compile(r"\b(toolu|msg|req)_(\w+)")
# A symbol: a word in camelCase or with underscores, as code has them and prose has not.
_SYMBOL = re.compile(r"\b(?:[a-z]+[A-Z]\w+|[a-z]+_[a-z_]+\w)\b")
_SPOKEN = frozenset({"text", "content", "prompt", "command", "new_string", "old_string", "stdout"})


def main() -> int:
    """Simulate the year, and print a line a month."""
    if sys.argv[1:2] == ["month"]:
        place = Path(sys.argv[2])
        if not _upgraded(place).exists():
            year_upgrade.be_an_older_release()
        simulate_month(place, int(sys.argv[3]), int(sys.argv[4]))
        return 0
    if sys.argv[1:2] == ["days"]:
        place, first, last = Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
        print(json.dumps(measure_days(place, settings_of(place), first, last)))
        return 0
    if sys.argv[1:2] == ["measure"]:
        settings = settings_of(Path(sys.argv[2]))
        print(json.dumps(measure(settings, sys.argv[3], int(sys.argv[4]))))
        return 0
    if sys.argv[1:2] == ["derive"]:
        now = sys.argv[3]
        settings = settings_of(Path(sys.argv[2]))
        print(json.dumps(year_upgrade.derive_again(settings, lambda: now)))
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
        last, month = min(first + MONTH, DAYS), first // MONTH + 1
        noted, upgraded = place / f"month-{first:03d}-{last:03d}.json", _upgraded(place)
        if month == UPGRADE_AFTER + 1 and not upgraded.exists():
            now = day_time(first - 1, 12)
            done = year_upgrade.upgrade(settings_of(place), UPGRADE_AFTER, now)
            upgraded.write_text(json.dumps(done))
        if not noted.exists():
            began = time.monotonic(), children_cpu()
            _run("month", str(place), str(first), str(last))
            worked = json.loads((place / "worked.json").read_text())
            worked["wall_s"] = time.monotonic() - began[0]
            worked["cpu_s"] = children_cpu() - began[1]
            measured = json.loads(_run("measure", str(place), day_time(last - 1), str(month)))
            noted.write_text(json.dumps({"month": month, **worked, **measured}))
        yield json.loads(noted.read_text())


def _upgraded(place: Path) -> Path:
    """The file that notes the upgrade of a simulated year, once it was made."""
    return place / "upgrade.json"


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", "bench.year", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


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
        with reused_vectors(place / "vectors.npz"):
            work_a_day(settings, measured_from - 1)
        keep_copy(place, measured_from)
    by_day = measure_days(place, settings, measured_from, last)
    backup_began = time.process_time()
    backup = back_up(settings, None, lambda: day_time(last - 1))
    backup_s = time.process_time() - backup_began
    check_backup(settings, backup.path)
    for old in sorted(backup.path.parent.iterdir())[:-BACKUPS_KEPT]:
        old.unlink()
    worked = {
        "sessions": last * A_DAY,
        "worker_s_a_session": sum(by_day) / (len(by_day) * A_DAY),
        "peak_mb": peak_mb(),
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
    if day % MONTH == year_plants.DAY_OF_MONTH:
        plant(place, sources, day)


def plant(place: Path, sources: Sequence[Path], day: int) -> None:
    """Write the sessions in which something is laid down, in the project with the most sessions."""
    projects = Counter(source.stem.partition("@")[2] for source in sources)
    folder = f"/home/dev/{projects.most_common(1)[0][0]}"
    for n, said in enumerate(year_plants.said_in(day // MONTH + 1)):
        session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"said {said.text}"))
        start = FIRST + timedelta(days=day, hours=8, minutes=n)
        path = year_plants.write_plant(place / ".claude" / "projects", said, session, folder, start)
        end_session(place, session, path, folder, start)


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
    remove_transcripts(settings.home.parent, day)
    before = time.process_time()
    drain_day(settings, day)
    run_worker(settings, WorkerOptions(start_delay_s=0, linger_s=0), now=lambda: day_time(day))
    return time.process_time() - before


def remove_transcripts(place: Path, day: int) -> None:
    """Remove the transcripts that Claude Code would have removed by now."""
    oldest = (FIRST + timedelta(days=day) - TRANSCRIPTS_KEPT).timestamp()
    for path in (place / ".claude").rglob("*.jsonl"):
        if path.stat().st_mtime < oldest:
            path.unlink()


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
    end_session(place, session, path, folder, start)


def end_session(place: Path, session: str, path: Path, folder: str, start: datetime) -> None:
    """What a session leaves besides its transcript, which gets its time."""
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


def print_table(months: Iterator[dict[str, Any]]) -> None:
    """A line a month, as it comes."""
    columns = (
        ("month", "month", 0), ("sessions", "sessions", 0), ("worker s", "worker_s_a_session", 2),
        ("peak MB", "peak_mb", 0), ("recall", "recall", 2), ("brief", "brief", 2),
        ("command", "command", 1), ("start", "start", 1), ("database MB", "database_mb", 0),
        ("vectors MB", "vectors_mb", 0), ("rest MB", "rest_mb", 1), ("files", "files", 0),
        ("journals", "journals", 0), ("marks", "marks", 0), ("backup s", "backup_s", 1),
        ("log KB", "log_kb", 0), ("brief lines", "brief_lines", 1), ("digest", "digest", 1),
    )  # fmt: skip
    print("| " + " | ".join(name for name, _, _ in columns) + " |")
    print("|" + "---|" * len(columns))
    for month in months:
        print("| " + " | ".join(f"{month[key]:.{digits}f}" for _, key, digits in columns) + " |", flush=True)  # fmt: skip # noqa: E501


if __name__ == "__main__":
    sys.exit(main())
