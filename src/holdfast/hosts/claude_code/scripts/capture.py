"""Holdfast, hook format 1, for systems without `sh`: writes one event into the inbox.

Run as `python -I -S capture.py EVENT` with the event's payload on standard input. It does what
capture.sh does: whatever happens, it exits 0 and prints nothing of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

_ANSWERS = {"SessionStart": "start", "PreToolUse": "file", "PostToolUseFailure": "error"}
_ENDING = ("Stop", "SessionEnd", "PreCompact")
# As in answer.py: files of one event, session and process.
_MAX_FILES_OF_EVENT = 100
# As in capture.sh.
_RUN_ANSWER = (
    "import sys; sys.path.insert(0, sys.argv[1]); import answer; "
    "del sys.path[0], sys.argv[1]; answer.run()"
)
# Exit codes of answer.py after which the event is in the inbox: success, and ended by its alarm.
_CAPTURED = (0, -14)


def main(event: str) -> None:
    """Answer the event or write it into the inbox; at the end of a session start a worker."""
    here = os.path.dirname(os.path.abspath(__file__))
    home = os.path.dirname(here)
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    if not session or not session.replace("-", "").isalnum() or not session.isascii():
        session = "none"
    with open(os.path.join(here, "inbox"), encoding="utf-8") as file:
        inbox = file.readline().rstrip("\r\n")
    if not os.path.isdir(inbox):
        os.mkdir(inbox, 0o700)
    if os.path.islink(inbox):
        return
    with open(os.path.join(here, "python"), encoding="utf-8") as file:
        python, flags = [*file.read().splitlines(), "", ""][:2]
    # answer.py needs signals and sockets of POSIX; other systems only write the event.
    answer = answer_kind(event, home, session) if os.name == "posix" else ""
    if answer and os.path.isfile(python):
        command = [python, "-I", "-S", "-c", _RUN_ANSWER, here, answer, session]
        if subprocess.run(command, stderr=subprocess.DEVNULL).returncode in _CAPTURED:
            return
    if event == "PreToolUse":
        return
    write_event(inbox, event, session, os.path.join(here, "names-only"))
    if event in _ENDING and os.path.isfile(python):
        start_worker([python, *flags.split(), "-m", "holdfast", "worker", "--nudged"], home)


def answer_kind(event: str, home: str, session: str) -> str:
    """The argument of answer.py for an event; "" where it gets no answer."""
    if event == "UserPromptSubmit":
        mark = os.path.join(home, "marks", session + ".goal")
        return "" if os.path.exists(mark) else "goal"
    if event == "SubagentStart":
        wanted = os.path.exists(os.path.join(home, "briefs", "subagents"))
        return "subagent" if wanted else ""
    return _ANSWERS.get(event, "")


def write_event(inbox: str, event: str, session: str, names_only: str) -> None:
    """Write the payload into a new file; an empty file while the file `names_only` exists, because
    then nobody takes payloads out of the inbox."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    for number in range(_MAX_FILES_OF_EVENT):
        name = f"1.{event}.{session}.{os.getpid()}" + (f".{number}" if number else "")
        try:
            descriptor = os.open(os.path.join(inbox, name), flags, 0o600)
        except FileExistsError:
            continue
        with os.fdopen(descriptor, "wb") as file:
            if not os.path.exists(names_only):
                try:
                    file.write(sys.stdin.buffer.read())
                    file.flush()
                except OSError:
                    file.truncate(0)
        return


def start_worker(command: list[str], home: str) -> None:
    """Start a worker that outlives this process. It ends by itself where another one runs."""
    detached: int = getattr(subprocess, "DETACHED_PROCESS", 0)
    group: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    subprocess.Popen(
        command,
        env={**os.environ, "HOLDFAST_HOME": home},
        cwd=os.path.abspath(os.sep),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=os.name == "posix",
        creationflags=detached | group,
    )


if __name__ == "__main__" and not os.environ.get("HOLDFAST_OFF"):
    try:
        main(sys.argv[1])
    finally:
        # No traceback, whatever happened.
        os._exit(0)
