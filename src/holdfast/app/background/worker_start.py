"""Starts a worker when an agent starts the MCP server.

Only needed for agents other than Claude Code, whose hooks start the worker themselves, and only if
a scan of all transcripts is due.
"""

from __future__ import annotations

import subprocess
import threading

from holdfast.app.background.transcript_queue import TranscriptQueue
from holdfast.capture.home_paths import HomePaths
from holdfast.hosts.claude_code.install_record import OTHER_AGENTS, InstallRecord
from holdfast.locks import is_locked
from holdfast.operating_system import detached
from holdfast.settings import Settings


def start_worker_if_due(settings: Settings) -> bool:
    """Start a worker in the background if one is due; returns whether one was started."""
    paths, quiet = HomePaths(settings.home), subprocess.DEVNULL
    if not InstallRecord(settings.home, OTHER_AGENTS).files or is_locked(paths.worker_lock):
        return False
    if not TranscriptQueue(settings, paths).scan_is_due():
        return False
    try:
        python, flags = paths.interpreter.read_text("utf-8").splitlines()[:2]
        program = [python, *flags.split(), "-m", "holdfast", "worker", "--nudged"]
        started = subprocess.Popen(
            program, cwd="/", stdin=quiet, stdout=quiet, stderr=quiet, **detached()
        )
    except OSError:
        return False
    # Waiting for its end keeps it from remaining as a zombie process while this server runs.
    threading.Thread(target=started.wait, name="worker-wait", daemon=True).start()
    return True
