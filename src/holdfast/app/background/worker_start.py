"""Starting a worker for agents whose hooks do not: when their session starts our server.

Only where another agent than Claude Code was set up, whose own hooks see to it, and where the last
look through all transcripts is long enough ago.
"""

from __future__ import annotations

import subprocess
import threading
from contextlib import suppress

from holdfast.app.background.transcript_queue import TranscriptQueue
from holdfast.capture.home_paths import HomePaths
from holdfast.hosts.claude_code.install_record import OTHER_AGENTS, InstallRecord
from holdfast.locks import is_locked
from holdfast.settings import Settings


def start_worker_if_due(settings: Settings) -> bool:
    """Start a worker in the background, if one is due; whether one was."""
    places = HomePaths(settings.home)
    if (
        not InstallRecord(settings.home, OTHER_AGENTS).files
        or not TranscriptQueue(settings, places).scan_is_due()
    ):
        return False
    if is_locked(places.worker_lock):
        return False
    with suppress(OSError):
        python, flags = places.interpreter.read_text("utf-8").splitlines()[:2]
        started = subprocess.Popen(
            [python, *flags.split(), "-m", "holdfast", "worker", "--nudged"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        # Its end is waited for, or it would stay in the list of processes as long as we do.
        threading.Thread(target=started.wait, name="nudged", daemon=True).start()
        return True
    return False
