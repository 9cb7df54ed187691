"""Answers a hook of another agent than Claude Code: `python -I -S other_agents.py EVENT [AGENT]`.

Setup copies this file beside answer.py, whose functions it uses. A session that starts gets its
brief. Of any other event only the path of the transcript is written to the inbox: the transcript
has all the text. Whatever goes wrong, it exits 0 and prints nothing.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT_FIELDS = ("session_id", "transcript_path", "cwd")
# What agents call these fields; Codex and Gemini name them as Claude Code does.
FIELD_NAMES = {
    "session_id": ("session_id", "sessionId", "conversation_id"),
    "transcript_path": ("transcript_path", "transcriptPath"),
    "cwd": ("cwd",),
}
# The field of their answer in which agents take a brief, where it is not as in Claude Code.
BRIEF_FIELDS = {
    "copilot": "additionalContext",
    "cursor": "additional_context",
    "opencode": "additionalContext",
}
# Part of no file's name: every event in the inbox is a reason to start a worker.
NO_OWN_EVENT = "/"
# Codex lets in 2,500 tokens and counts four bytes as one; a little is left for what it adds.
MAX_BRIEF_BYTES = 9_900
# The last lines of a brief always stay: an empty line, the last sentence, the end of the frame.
FRAME_END_LINES = 3


def main(event: str, agent: str = "") -> None:
    """Inject the brief into a session that starts; of any other event note the transcript."""
    os.umask(0o077)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    answer: Any = import_module("answer")
    home = answer.HookHome()
    data = sys.stdin.buffer.read(answer.MAX_PAYLOAD_BYTES)
    answer.signal.signal(answer.signal.SIGALRM, answer.signal.SIG_DFL)
    answer.signal.setitimer(answer.signal.ITIMER_REAL, answer.TOTAL_TIMEOUT_S)
    payload = answer.read_json(data)
    if not answer.is_object(payload):
        return
    payload = renamed(payload, agent)
    id = payload.get("session_id")
    session = answer.session_name(id if isinstance(id, str) else "")
    if event == answer.EVENTS["start"]:
        home.fit = shortened
        if agent in BRIEF_FIELDS:
            home.reply = reply_in(BRIEF_FIELDS[agent])
        answer.answer_start(home, session, payload)
        return
    fields = {**{name: payload.get(name) for name in KEPT_FIELDS}, "reason": "other"}
    answer.write_event(home, "SessionEnd", session, answer.write_json(fields).encode())
    answer.start_worker(home, NO_OWN_EVENT)


def reply_in(field: str) -> Any:
    """A function that makes the answer which has a brief in this field."""

    def reply(event: str, text: str) -> dict[str, str]:
        return {field: text}

    return reply


def renamed(payload: dict[str, Any], agent: str) -> dict[str, Any]:
    """A payload with the names that Claude Code has for its fields."""
    found = {
        name: next((payload[key] for key in keys if payload.get(key)), None)
        for name, keys in FIELD_NAMES.items()
    }
    roots = payload.get("workspace_roots")
    if not found["cwd"] and isinstance(roots, list) and roots:
        found["cwd"] = roots[0]
    source = payload.get("source")
    # Copilot calls a session new; Cursor runs this hook for new sessions only.
    if agent in BRIEF_FIELDS and source in (None, "new"):
        source = "startup"
    return {**found, "source": source}


def shortened(text: str) -> str:
    """A brief with whole lines left out before the end, until these agents accept it."""
    lines = text.split("\n")
    while len("\n".join(lines).encode()) > MAX_BRIEF_BYTES and len(lines) > 2 * FRAME_END_LINES:
        del lines[-FRAME_END_LINES - 1]
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        if not os.environ.get("HOLDFAST_OFF"):
            main(*sys.argv[1:3])
    finally:
        os._exit(0)  # whatever happened, no traceback
