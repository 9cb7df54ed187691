"""A program goes with whoever started it, and when it is not wanted any more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from holdfast.inference.child_process import supervise
from tests.support.waiting import wait_until

HELD = """
import subprocess, sys
from holdfast.inference.child_process import supervise
with supervise("/bin/sleep") as program:
    running = subprocess.Popen([program.command, "60"], cwd=program.work_folder)
    print(running.pid, program.work_folder.parent, flush=True)
    running.wait()
"""


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")  # whoever inherits it may not have looked yet
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_child_program_ends_when_its_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", HELD], stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        pid, folder = held.stdout.readline().split(" ", 1)
        assert not is_gone(int(pid))
        held.send_signal(signal.SIGKILL)
    wait_until(lambda: is_gone(int(pid)), "the program is gone")
    wait_until(lambda: not Path(folder.strip()).exists(), "its folder is gone")


def test_a_child_program_can_be_killed_at_once_and_released_after_it_ends() -> None:
    with supervise("/bin/sleep") as program:
        running = subprocess.Popen([program.command, "60"], cwd=program.work_folder)
        assert list(program.work_folder.iterdir()) == []
        program.kill()
        assert running.wait(60) == -signal.SIGKILL
    with supervise("/bin/echo") as program:
        done = subprocess.run([program.command, "a b", "$c"], capture_output=True, text=True)
        program.release()
        assert (done.returncode, done.stdout) == (0, "a b $c\n")
    assert not program.work_folder.exists()
