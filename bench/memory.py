"""Memory of `holdfast ingest`, all its processes together, for a large file, a giant line
and a session of nothing but words.

PSS where the system tells it (pages that processes share count once), RSS otherwise; the
highest of samples taken all along the run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from tests.support.transcripts import Script

LIMIT_MB = 250
LARGE_MB = int(os.environ.get("HOLDFAST_BENCH_LARGE_MB", "1024"))
GIANT_MB = 200
WORDS_MB = 300


def run_and_sample(path: Path, home: Path) -> tuple[float, float]:
    """Ingest a file; the peak in MB, and the seconds it took."""
    main = "import sys; from holdfast.interfaces.cli.main import main; sys.exit(main())"
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", main, "ingest", str(path)],
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        stdout=subprocess.DEVNULL,
    )
    peak = 0
    while process.poll() is None:
        try:
            family = [psutil.Process(process.pid)]
            family += family[0].children(recursive=True)
            peak = max(peak, sum(_size(member) for member in family))
        except psutil.NoSuchProcess:
            continue
        time.sleep(0.02)
    assert process.returncode == 0
    return peak / 1e6, time.monotonic() - started


def _size(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (AttributeError, psutil.Error):
        return int(process.memory_info().rss)


def write_large(path: Path) -> None:
    """Ordinary lines, up to the wanted size."""
    script = Script()
    script.user("Look at the log and tell me what is wrong with it")
    script.tool("Bash", "log line with words and numbers 12345\n" * 1500, command="cat app.log")
    script.assistant("The log shows that the worker restarts every hour.")
    block = [json.dumps(line, separators=(",", ":")) for line in script.lines]
    size = number = 0
    with path.open("w") as file:
        while size < LARGE_MB * 1_000_000:
            for line in block:
                unique = line.replace("11111111-", f"{number:08x}-")
                size += file.write(unique + "\n")
            number += 1


def write_giant(path: Path) -> None:
    """One line of the wanted size between two ordinary ones."""
    script = Script()
    script.user("before")
    call = script.call("Bash", command="cat huge")
    script.result(call, "0123456789abcdef\\u00e9\n" * (GIANT_MB * 1_000_000 // 24))
    script.assistant("after")
    path.write_bytes(script.dumps())


def write_words(path: Path) -> None:
    """A session of nothing but the assistant's words, all of which are kept."""
    script = Script()
    script.user("Write down everything you know")
    script.assistant("words")
    first, said = script.lines
    with path.open("w") as file:
        file.write(json.dumps(first) + "\n")
        for number in range(WORDS_MB * 1_000_000 // 5000):
            words = f"lorem ipsum dolor sit amet number {number} " * 120
            said["uuid"] = f"{number:08x}-0000-4000-8000-000000000000"
            said["message"]["content"] = [{"type": "text", "text": words}]
            file.write(json.dumps(said, separators=(",", ":")) + "\n")


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    report: list[str] = []
    for name, write in (
        ("large file", write_large),
        ("giant line", write_giant),
        ("session of words", write_words),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "11111111-0000-4000-8000-000000000001.jsonl"
            write(path)
            peak, seconds = run_and_sample(path, Path(folder) / "home")
            size = path.stat().st_size / 1e6
            report.append(
                f"memory: {name} of {size:.0f} MB: peak {peak:.0f} MB (limit {LIMIT_MB}), "
                f"{seconds:.1f} s"
            )
    return report


if __name__ == "__main__":
    print("\n".join(run()))
