"""A storm of sessions with the real worker: what hooks start must take up every event, once, stay
small, and leave.

As in `hooks`, but the worker runs while the events come. Its memory is read from /proc all the
while; at the end no process may be there that works on the home.
"""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.hooks import AT_ONCE, EVENTS, SESSIONS, count, hooked_home, play
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import list_events

MOST_MB = 80
_LOOK_S = 0.2
_PATIENCE_S = 600.0


def workers_of(places: HomePaths) -> list[Path]:
    """The processes that work on a home, as /proc knows them."""
    mark = f"HOLDFAST_HOME={places.home}".encode()
    found: list[Path] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(process)
        except OSError:
            continue
    return found


class Watch:
    """Looks at the workers until it is told to stop: the largest, and how many at once."""

    def __init__(self, places: HomePaths) -> None:
        self.peak_kb = 0
        self.most = 0
        self._places = places
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(_LOOK_S):
            sizes = [size for process in workers_of(self._places) if (size := _peak(process))]
            self.most = max(self.most, len(sizes))
            self.peak_kb = max([self.peak_kb, *sizes])


def _peak(process: Path) -> int:
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def _settle(places: HomePaths) -> float:
    """Wait until the last worker has left; returns how long that took."""
    began = time.perf_counter()
    while workers_of(places) and time.perf_counter() - began < _PATIENCE_S:
        time.sleep(_LOOK_S)
    return time.perf_counter() - began


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    names = [f"storm-{number:05d}" for number in range(SESSIONS)]
    with hooked_home() as places:
        places.interpreter.write_text(f"{sys.executable}\n-B\n")
        places.session_marks.mkdir()
        for name in names:
            (places.session_marks / f"{name}.goal").touch()
        watch = Watch(places)
        began = time.perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(play, [places] * len(names), names))
        spent = time.perf_counter() - began
        settled = _settle(places)
        watch.stop()
        lost, twice = count(places, names)
        inbox = places.inbox()
        left = len(list_events(inbox).events) if inbox else 0
        report = [
            f"storm: {SESSIONS} sessions with {EVENTS} events, {AT_ONCE} at a time, worker at "
            f"work: {spent:.0f} s, and {settled:.0f} s until it left; {lost} lost, {twice} twice, "
            f"{left} left",
            f"storm: worker peak {watch.peak_kb / 1000:.0f} MB (limit {MOST_MB}), "
            f"{watch.most} at once, {len(workers_of(places))} processes left (limit 0)",
        ]
    return report


if __name__ == "__main__":
    print("\n".join(run()))
