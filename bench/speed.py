"""The figures of speed of a version: recorded in `speed.json`, shown in docs/speed.md, compared
with those of the last release in `releases`.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from bench import answers, hooks, ingest, pages, refine, scale, servers, startup
from bench.figures import Figure
from holdfast.version import __version__

MEASURED: Mapping[str, Callable[[], list[Figure]]] = {
    "hooks": hooks.figures,
    "answers": answers.figures,
    "startup": startup.figures,
    "scale": scale.figures,
    "refine": refine.figures,
    "ingest": ingest.figures,
    "pages": pages.figures,
    "servers": servers.figures,
}
# As they come in a developer's day.
TOPICS = ("Hook", "Session start", "Recall", "Ask", "Ingest", "Refine", "Page", "Server")
RECORDED = Path(__file__).with_name("speed.json")
RELEASES = Path(__file__).with_name("releases")
# Two runs of the same code on one machine differ by this share even if the rounds of each agree:
# other addresses in memory, another clock rate.
_BETWEEN_RUNS = 0.05


class Machine(NamedTuple):
    """Where it was measured."""

    system: str
    processor: str
    cores: int
    python: str
    # Processes that wanted to run when it began; an idle machine has less than one.
    load: float


class Speed(NamedTuple):
    """All figures of a run."""

    version: str
    commit: str
    date: str
    machine: Machine
    figures: tuple[Figure, ...]


def describe_run(figures: Iterable[Figure], load: float) -> Speed:
    """Figures with what must be known of where they come from."""
    machine = Machine(
        f"{platform.system()} {platform.release()}",
        _processor(),
        os.cpu_count() or 1,
        platform.python_version(),
        round(load, 1),
    )
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    return Speed(__version__, _commit(), date, machine, tuple(figures))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    folder = Path(__file__).parent
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def write(speed: Speed, path: Path) -> None:
    """Write figures as JSON."""
    figures = [one._asdict() for one in speed.figures]
    told = {**speed._asdict(), "machine": speed.machine._asdict(), "figures": figures}
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")


def read(path: Path) -> Speed:
    """Read figures that `write` wrote."""
    told: dict[str, Any] = json.loads(path.read_text("utf-8"))
    figures = tuple(Figure(**one) for one in told.pop("figures"))
    return Speed(machine=Machine(**told.pop("machine")), figures=figures, **told)


def last_release() -> tuple[str, Speed]:
    """The newest release, and its figures. They name the commit that was measured, which may
    precede the one that raised the version."""
    newest = max(RELEASES.glob("*.json"), key=lambda path: [int(n) for n in path.stem.split(".")])
    return newest.stem, read(newest)


def changes(now: Sequence[Figure], before: Sequence[Figure]) -> list[str]:
    """What differs by more than the noise of both, and what was measured only once."""
    known = {(one.topic, one.name): one for one in before}
    told: list[str] = []
    for one in now:
        old = known.pop((one.topic, one.name), None)
        if old is None:
            told.append(f"new: {one.topic}: {one.name}: {one.ratio:.2f}")
        elif abs(one.ratio - old.ratio) > one.noise + old.noise + old.ratio * _BETWEEN_RUNS:
            word = "slower" if one.ratio > old.ratio else "faster"
            share = abs(one.ratio / old.ratio - 1)
            told.append(
                f"{word}: {one.topic}: {one.name}: {old.ratio:.2f} ± {old.noise:.2f} → "
                f"{one.ratio:.2f} ± {one.noise:.2f} ({share:.0%})"
            )
    measured = {one.module for one in now}
    gone = [one for one in known.values() if one.module in measured]
    return told + [f"no longer measured: {one.topic}: {one.name}" for one in gone]


def page(speed: Speed) -> str:
    """The generated part of docs/speed.md."""
    machine = speed.machine
    rows = [
        f"| {one.topic} | {one.name} | {_ratio(one)} | {one.noise:.2f} | {_limit(one)} | "
        f"{one.control} | {_time(one)} | `python -m bench {one.module}` |"
        for topic in TOPICS
        for one in speed.figures
        if one.topic == topic
    ]
    return "\n".join(
        [
            f"Version {speed.version}, commit `{speed.commit}`, {speed.date}; {machine.processor}, "
            f"{machine.cores} cores, {machine.system}, Python {machine.python}, "
            f"{_describe_load(machine)}.",
            "",
            "| | what | ratio | noise | limit | control | time | command |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
        ]
    )


def _describe_load(machine: Machine) -> str:
    if machine.load < 1:
        return f"idle (load {machine.load:g})"
    return f"**not idle** (load {machine.load:g}): times by the clock are too long"


def _ratio(figure: Figure) -> str:
    return f"**{figure.ratio:.2f}, missed**" if figure.missed else f"{figure.ratio:.2f}"


def _time(figure: Figure) -> str:
    digits = 0 if figure.milliseconds >= 100 else 1
    return f"{figure.milliseconds:,.{digits}f} ms, {figure.by}"


def _limit(figure: Figure) -> str:
    return "–" if figure.limit is None else f"{figure.limit:g}"
