"""What Holdfast adds to the start of a session of Claude Code: the real program, `claude -p`, from
its start to its first request, against a model service on loopback.

Three people take turns inside each round, so that a noisy machine slows all alike: one without
Holdfast, one whose memory has only hooks, one with hooks and the server for agents. Medians of the
time to the first request and of the CPU time until then of the program with all that it started,
the server included; the worker runs apart and is not counted. Also the CPU time until the end, when
two more hooks have run, and the memory of the server before its first call.
"""

from __future__ import annotations

import resource
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from tests.e2e.claude_code.api import Say
from tests.e2e.claude_code.sandbox import Lab, find_claude, install_python

ROUNDS = 20
# Above a session without Holdfast, in seconds.
WALL_LIMIT_S = 0.15
CPU_LIMIT_S = 0.25
MEMORY_LIMIT_MB = 60
# By then the server has said what it offers.
_SETTLED_S = 3.0
# What tests set, so that they wait for servers and leave no files beside the source.
_NOT_AS_A_USER_HAS_IT = (
    "MCP_CONNECTION_NONBLOCKING",
    "MCP_CONNECT_TIMEOUT_MS",
    "MCP_TIMEOUT",
    "PYTHONDONTWRITEBYTECODE",
)
_PLAYS = {"hello": [[Say("Hello.")]]}


class Start(NamedTuple):
    """One session: seconds to its first request, of CPU until then, and of CPU until its end."""

    wall: float
    cpu: float
    cpu_to_end: float


class TimedLab(Lab):
    """A user whose service notes when it was first asked."""

    def start_session(self) -> Start:
        """Run a session."""
        asked = threading.Event()
        reply = self.api.reply

        def note(body: Any) -> Any:
            if body.get("tools") and not asked.is_set():
                times.append(time.perf_counter())
                spent.append(self._cpu_s())
                asked.set()
            return reply(body)

        times: list[float] = []
        spent: list[float] = []
        self.api.reply = note
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        done = self.claude("Fix the rate limiter that drops requests PLAY:hello")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.api.reply = reply
        if done.status or not times:
            raise SystemExit(f"session_start: Claude Code failed: {done.out} {done.err}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Start(times[0] - started, spent[0], cpu)

    def _cpu_s(self) -> float:
        """The CPU time of the program that runs now, and of its children, ended or not. It is in
        hundredths of a second."""
        program = next(one for one in psutil.Process().children() if "-p" in one.cmdline())
        own = program.cpu_times()
        running = [own, *(one.cpu_times() for one in program.children(recursive=True))]
        ended_s = own.children_user + own.children_system
        return ended_s + sum(one.user + one.system for one in running)

    def idle_server_mb(self) -> float:
        """The memory of the server of a session in which it is not called."""
        session = self.start(
            "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"
        )
        try:
            time.sleep(_SETTLED_S)
            servers = [
                process
                for process in psutil.Process(session.pid).children(recursive=True)
                if "mcp" in process.cmdline()
            ]
            return max((process.memory_info().rss / 1e6 for process in servers), default=0.0)
        finally:
            session.communicate("", timeout=30)


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    program = find_claude()
    if program is None:
        return ["session_start: skipped: Claude Code is not here (pip install claude-agent-sdk)"]
    # The workers of the last sessions may still write.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        python = install_python(root / "env")
        labs = {
            name: TimedLab(root / name, program, python, _PLAYS)
            for name in ("plain", "hooks", "server")
        }
        for lab in labs.values():
            for name in _NOT_AS_A_USER_HAS_IT:
                lab.env.pop(name)
        for name in ("hooks", "server"):
            done = labs[name].holdfast("setup", "--yes")
            if done.status:
                raise SystemExit(f"session_start: setup failed: {done.out} {done.err}")
        labs["hooks"].run_claude("mcp", "remove", "--scope", "user", "holdfast")
        starts: dict[str, list[Start]] = {name: [] for name in labs}
        for round in range(ROUNDS + 2):
            for name, lab in labs.items():
                start = lab.start_session()
                lab.wait_until_quiet()
                if round >= 2:
                    starts[name].append(start)
        memory = labs["server"].idle_server_mb()
        for lab in labs.values():
            lab.close()
    return [
        *_report(starts),
        f"session_start: the server before its first call: {memory:.0f} MB "
        f"(limit {MEMORY_LIMIT_MB})",
    ]


def _report(starts: dict[str, list[Start]]) -> list[str]:
    wall = {name: statistics.median(one.wall for one in taken) for name, taken in starts.items()}
    cpu = {name: statistics.median(one.cpu for one in taken) for name, taken in starts.items()}
    ends = {name: statistics.median(one.cpu_to_end for one in of) for name, of in starts.items()}
    return [
        f"session_start: {name}: first request after {wall[name] * 1000:.0f} ms "
        f"(+{(wall[name] - wall['plain']) * 1000:.0f}, limit {WALL_LIMIT_S * 1000:.0f}), "
        f"CPU {cpu[name] * 1000:.0f} ms "
        f"(+{(cpu[name] - cpu['plain']) * 1000:.0f}, limit {CPU_LIMIT_S * 1000:.0f}), "
        f"until the end {ends[name] * 1000:.0f} ms (+{(ends[name] - ends['plain']) * 1000:.0f})"
        for name in starts
    ]


if __name__ == "__main__":
    print("\n".join(run()))
