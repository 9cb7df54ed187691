"""Holdfast, hook format 1, for systems without `sh`: puts one event into the inbox and goes.

Run as `python -I -S capture.py EVENT` with the event's payload on standard input; does what
capture.sh does, and like it ends with success and without a word, whatever happens.
"""

from __future__ import annotations

import os
import subprocess
import sys

_ANSWERS = {"SessionStart": "start", "PreToolUse": "file", "PostToolUseFailure": "error"}
_ENDING = ("Stop", "SessionEnd", "PreCompact")
_TRIES = 100


def main(event: str) -> None:
    """Keep the event, answer it where that is due, and see that somebody comes for it."""
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
    # What answers needs signals and sockets of POSIX; elsewhere events are kept, and no more.
    answer = due(event, home, session) if os.name == "posix" else ""
    if answer and os.path.isfile(python):
        script = os.path.join(here, "answer.py")
        command = [python, "-I", "-S", script, answer, session]
        if subprocess.run(command, stderr=subprocess.DEVNULL).returncode in (0, -14):
            return
    if event == "PreToolUse":
        return
    leave(inbox, event, session, os.path.join(here, "names-only"))
    if event in _ENDING and os.path.isfile(python):
        nudge([python, *flags.split(), "-m", "holdfast", "worker", "--nudged"], home)


def due(event: str, home: str, session: str) -> str:
    """Which answer an event gets, if any."""
    if event == "UserPromptSubmit":
        mark = os.path.join(home, "marks", session + ".goal")
        return "" if os.path.exists(mark) else "goal"
    if event == "SubagentStart":
        told = os.path.exists(os.path.join(home, "briefs", "subagents"))
        return "subagent" if told else ""
    return _ANSWERS.get(event, "")


def leave(inbox: str, event: str, session: str, names_only: str) -> None:
    """Write the payload into a new file, made by nobody else; its name alone where words must
    not lie on a disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    for number in range(_TRIES):
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


def nudge(command: list[str], home: str) -> None:
    """Start a worker that outlives us; one that is not needed leaves by itself."""
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
        # Whatever happened, in silence: nothing after this is carried out, no trace either.
        os._exit(0)
