"""Answers a hook of another agent than Claude Code: `python -I -S elsewhere.py EVENT`.

Lies beside answer.py and does as that does. A session that starts gets its brief. Of any other
event only the place of the transcript is kept, which has all the words, and is read at once.
Whatever goes wrong, it exits 0 in silence.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT = ("session_id", "transcript_path", "cwd")
# The name of no file: what waits is never our own.
NOTHING = "/"
# Codex lets in 2,500 tokens and counts four bytes as one; a little is left for what it adds.
MOST_BYTES = 9_900
# The empty line, the last word and the end of the frame, which stay.
END = 3


def main(event: str) -> None:
    """Tell a session what is known, or that it may be read."""
    os.umask(0o077)
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    answer: Any = import_module("answer")
    place = answer.Place()
    data = sys.stdin.buffer.read(answer.LONGEST_PAYLOAD)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, answer.PATIENCE_S)
    payload = json.loads(data)
    if not answer.is_object(payload):
        return
    session = payload.get("session_id")
    if not isinstance(session, str) or not is_name(session):
        session = "none"
    if event == answer.EVENTS["start"]:
        place.brief = fitting(place.brief)
        answer.start(place, session, payload)
        return
    told = {**{name: payload.get(name) for name in KEPT}, "reason": "other"}
    answer.keep(place, "SessionEnd", session, json.dumps(told).encode())
    answer.nudge(place, NOTHING)


def fitting(brief: Any) -> Any:
    """What reads a brief, as long as these agents let in: its last lines are left out, whole."""

    def read(name: str) -> Any:
        found = brief(name)
        lines = str(found.get("text", "")).split("\n")
        while len("\n".join(lines).encode()) > MOST_BYTES and len(lines) > 2 * END:
            del lines[-END - 1]
        return {**found, "text": "\n".join(lines)} if "text" in found else found

    return read


def is_name(session: str) -> bool:
    """Whether a session's id may be part of a file's name."""
    return bool(session) and all(c.isascii() and (c.isalnum() or c == "-") for c in session)


if __name__ == "__main__":
    try:
        if not os.environ.get("HOLDFAST_OFF"):
            main(sys.argv[1])
    finally:
        os._exit(0)  # whatever happened, no traceback
