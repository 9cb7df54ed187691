"""Answers a hook of Claude Code: `python -I -S answer.py start|goal|file|error|subagent SESSION`.

Copied into the home beside capture.sh and run from there by any Python from 3.11 on, with nothing
but the standard library and what was prepared ahead. It keeps the event as capture.sh does, then
prints what is to be put into the session, or nothing. Whatever goes wrong, it exits 0 in silence.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard

EVENTS = {
    "start": "SessionStart",
    "goal": "UserPromptSubmit",
    "file": "PreToolUse",
    "error": "PostToolUseFailure",
    "subagent": "SubagentStart",
}
# On resume the context of the session still holds what it was given.
SOURCES = ("startup", "clear", "compact", "fork")
MOST = 9_900
LONGEST_PAYLOAD = 8_000_000
ASK_S = 0.8
# What all of it may take: after that the system ends this process, whatever it waits for.
PATIENCE_S = 1.8
STALE_S = 86_400
WELCOME = "Holdfast remembers what is done here, for later sessions; see `holdfast status`."


class Place:
    """The folders around this script."""

    def __init__(self) -> None:
        self.hooks = os.path.dirname(os.path.abspath(__file__))
        self.home = os.path.dirname(self.hooks)
        self.inbox = first_line(os.path.join(self.hooks, "inbox"))
        found = os.lstat(self.inbox)
        if found.st_uid != os.getuid() or (found.st_mode & 0o170000) != 0o040000:
            raise OSError("the inbox is not ours")

    def interpreter(self) -> list[str]:
        """The Python that can import the program, and its flags."""
        with open(os.path.join(self.hooks, "python"), encoding="utf-8") as file:
            return [file.readline().strip(), *file.readline().split()]

    def brief(self, name: str) -> dict[str, Any]:
        """A prepared file of this format, {} if there is none."""
        try:
            with open(os.path.join(self.home, "briefs", name + ".json"), "rb") as file:
                value = json.loads(file.read())
        except (OSError, ValueError):
            return {}
        return value if is_object(value) and value.get("v") == 1 else {}

    def mark(self, name: str) -> str:
        """Where something that was done for a session is noted."""
        folder = os.path.join(self.home, "marks")
        os.makedirs(folder, 0o700, exist_ok=True)
        return os.path.join(folder, name)


def first_line(path: str) -> str:
    """The first line of a file, without the ends."""
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether JSON gave an object."""
    return isinstance(value, dict)


def keep(place: Place, event: str, session: str, data: bytes) -> None:
    """Put an event into the inbox as capture.sh does; where there is no room, its name."""
    stem = os.path.join(place.inbox, f"1.{event}.{session}.{os.getpid()}")
    for n in range(100):
        path = stem if not n else f"{stem}.{n}"
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            continue
        try:
            while data:
                data = data[os.write(file, data) :]
        except OSError:
            os.ftruncate(file, 0)
        finally:
            os.close(file)
        return


def give(place: Place, kind: str, session: str, cwd: str, brief: dict[str, Any]) -> None:
    """Print a brief, and leave a note of it, which holds no words and may rest anywhere."""
    text, id = brief.get("text"), brief.get("id")
    if not isinstance(text, str) or not isinstance(id, str) or not text or len(text) > MOST:
        return
    event = EVENTS[kind]
    answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    note = {
        "id": f"{id}.{session}.{time.time_ns() // 1000}",
        "kind": "start" if kind == "subagent" else kind,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "characters": len(text),
        "records": brief.get("records", []),
        "cwd": cwd,
    }
    keep(place, "HoldfastInjected", session, json.dumps(note).encode())


def bank_of(place: Place, cwd: str) -> str:
    """The bank of a folder: by its own name, by a folder around it, by its repository."""
    known = place.brief("folders")
    folders, aliases = known.get("folders", {}), known.get("aliases", {})
    if known.get("all"):
        return known["all"]
    cwd = os.path.normpath(cwd)
    home = os.path.expanduser("~")
    while os.path.isabs(cwd):
        if cwd in folders:
            return folders[cwd]
        git = os.path.join(cwd, ".git")
        if os.path.exists(git):
            return by_repository(cwd, git, aliases)
        above = os.path.dirname(cwd)
        if above in (cwd, home):
            break
        cwd = above
    return ""


def by_repository(top: str, git: str, aliases: dict[str, str]) -> str:
    common = git
    if os.path.isfile(git):
        common = os.path.join(top, first_line(git).partition("gitdir:")[2].strip())
        shared = os.path.join(common, "commondir")
        common = os.path.join(common, first_line(shared) if os.path.isfile(shared) else "")
    common = os.path.realpath(common)
    found, url = aliases.get("gitdir:" + common, ""), remote(common)
    return found or (aliases.get("remote:" + normal_remote(url, top), "") if url else "")


def remote(common: str) -> str:
    """The url of the remote that names a repository: origin, upstream, else the first by name."""
    urls: dict[str, str] = {}
    section = ""
    with open(os.path.join(common, "config"), encoding="utf-8", errors="replace") as file:
        lines = file.read(200_000).splitlines()
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = line[1:].rstrip("]").strip()
        elif section.startswith('remote "') and line.partition("=")[0].strip() == "url":
            urls.setdefault(section[8:].rstrip('"'), line.partition("=")[2].strip())
    return next((urls[n] for n in ("origin", "upstream", *sorted(urls)) if urls.get(n)), "")


def normal_remote(url: str, folder: str) -> str:
    """One spelling for all the ways to name a repository: `github.com/org/repo`."""
    url = url.strip()
    scheme, found, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if not slash or scheme.lower() == "file":
        host, colon, path = url.partition(":")
        if found or not colon or not path or "/" in host or path.startswith("//"):
            path = os.path.normpath(os.path.join(folder, url.removeprefix("file://")))
            return f"local{path}".removesuffix(".git")
    host = host.rpartition("@")[2]
    if found:
        ends = host.find("]") + 1
        host = host[:ends] + host[ends:].partition(":")[0]
    path = path.strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}".lower()


def start(place: Place, session: str, payload: dict[str, Any], kind: str = "start") -> None:
    """The session brief, ready made."""
    cwd = str(payload.get("cwd") or "")
    wanted = place.brief("settings")
    bank = bank_of(place, cwd)
    brief = place.brief(bank) if bank else {}
    if kind == "subagent":
        if wanted.get("subagents"):
            give(place, kind, session, cwd, brief)
        return
    if payload.get("source") in SOURCES and wanted.get("session", True):
        if brief.get("text"):
            give(place, kind, session, cwd, brief)
        else:
            welcome(place)
    nudge(place)


def welcome(place: Place) -> None:
    """Once in the life of a home; the user sees it, the model does not."""
    if once(os.path.join(place.hooks, "greeted")):
        sys.stdout.write(json.dumps({"systemMessage": WELCOME}))
        sys.stdout.flush()


def nudge(place: Place, own: str = f".{os.getpid()}") -> None:
    """Start a worker if there is something for it to do, besides our `own`, and none runs."""
    if any(works(os.path.join(place.hooks, name)) for name in ("worker.pid", "nudged")):
        return
    path = os.path.join(place.home, "briefs", "folders.json")
    waits = [e for e in os.scandir(place.inbox) if e.name[:2] == "1." and own not in e.name]
    since = time.time() - STALE_S
    if not waits and os.path.exists(path) and os.stat(path).st_mtime > since:
        return
    if any(event.stat().st_mtime < since for event in waits):
        # Nobody comes for the words: names must do, until a worker says otherwise.
        once(os.path.join(place.hooks, "names-only"))
    python, *flags = place.interpreter()
    command = [python, *flags, "-m", "holdfast", "worker", "--nudged"]
    null = [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in range(3)]
    os.chdir("/")  # away from the user's folder, and below in a session of its own
    around = {**os.environ, "HOLDFAST_HOME": place.home}
    try:
        os.posix_spawn(python, command, around, file_actions=null, setsid=True)
    except NotImplementedError:
        os.posix_spawn(python, command, around, file_actions=null, setpgroup=0)


def works(path: str) -> bool:
    """Whether a worker runs. A number outlives its process, and the next may be anyone's."""
    try:
        with open(path) as file:
            number, *began = file.read().split()
        os.kill(int(number), 0)
        if not os.path.isdir("/proc/self"):
            return True
        with open(f"/proc/{number}/stat") as file:
            known = file.read().rpartition(") ")[2].split()
            return known[0] != "Z" and began == known[19:20]
    except (OSError, ValueError):
        return False


def goal(place: Place, session: str, payload: dict[str, Any]) -> None:
    """Asked of a running server, else found by words alone. Small talk uses up no brief."""
    prompt, cwd = payload.get("prompt"), str(payload.get("cwd") or "")
    if not isinstance(prompt, str) or len(prompt) < 12 or prompt.lstrip()[:1] in ("<", "/", "!"):
        return
    if session == "none" or not once(place.mark(session + ".goal")):
        return
    bank = bank_of(place, cwd) if place.brief("settings").get("goal", True) else ""
    if bank:
        answer = ask(place, session, cwd, prompt)
        give(place, "goal", session, cwd, think(place, bank, prompt) if answer is None else answer)


def once(path: str) -> bool:
    """Whether nobody did this before."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    return True


def ask(place: Place, session: str, cwd: str, prompt: str) -> dict[str, Any] | None:
    """What a running server says; None where none answers in time."""
    import _socket  # the module around it takes as long to load as all of this

    until = time.monotonic() + ASK_S
    line = {"v": 1, "op": "goal", "session": session, "cwd": cwd, "prompt": prompt[:20_000]}
    data = b""
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(ASK_S)
        connection.connect(os.path.join(place.inbox, "ask.sock"))
        connection.sendall(json.dumps(line).encode() + b"\n")
        while not data.endswith(b"\n") and len(data) < 100_000:
            connection.settimeout(max(0.01, until - time.monotonic()))
            part = connection.recv(65_536)
            if not part:
                break
            data += part
        answer = json.loads(data)
    except (OSError, ValueError):
        return None
    return answer if is_object(answer) and answer.get("v") == 1 and "id" in answer else None


def think(place: Place, bank: str, prompt: str) -> dict[str, Any]:
    """The same in this process, by words alone."""
    import gc
    import site

    gc.disable()  # this process is over before there is anything to collect
    site.main()
    if "-I" not in place.interpreter()[1:]:
        site.addsitedir(site.getusersitepackages())
    from holdfast.app.briefs.goal import goal_now

    return goal_now(place.home, bank, prompt)


def file(place: Place, session: str, payload: dict[str, Any]) -> None:
    """What was settled about a file that is about to be edited."""
    given = payload.get("tool_input")
    path = given.get("file_path") or given.get("notebook_path") if is_object(given) else ""
    if not isinstance(path, str) or not path or payload.get("agent_id"):
        return
    cwd = str(payload.get("cwd") or "")
    known = triggers(place, cwd).get("files", {})
    end = path.replace("\\", "/")
    while end:
        if end in known:
            return trigger(place, "file", session, cwd, known[end])
        end = end.partition("/")[2]


def error(place: Place, session: str, payload: dict[str, Any]) -> None:
    """What an error turned out to be that was seen before."""
    text, cwd = payload.get("error"), str(payload.get("cwd") or "")
    if not isinstance(text, str) or payload.get("is_interrupt") or payload.get("agent_id"):
        return
    prepared = triggers(place, cwd)
    known = prepared.get("errors", {})
    for signature in signatures(text, prepared["patterns"]) if known else ():
        if signature in known:
            return trigger(place, "error", session, cwd, known[signature])


def triggers(place: Place, cwd: str) -> dict[str, Any]:
    """What is prepared for the bank of a folder, if it is wanted."""
    bank = bank_of(place, cwd) if place.brief("settings").get("triggers", True) else ""
    return place.brief(bank + ".triggers") if bank else {}


def trigger(place: Place, kind: str, session: str, cwd: str, briefs: list[dict[str, Any]]) -> None:
    """The first that this session was not told yet; none where that cannot be known."""
    path = place.mark(session + ".told")
    try:
        with open(path, encoding="utf-8") as file:
            told = set(file.read().split())
    except FileNotFoundError:
        told = set[str]()
    for brief in briefs:
        if session != "none" and brief.get("id") not in told:
            mark = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
            os.write(mark, (brief["id"] + "\n").encode())
            os.close(mark)
            return give(place, kind, session, cwd, brief)


def signatures(text: str, patterns: dict[str, Any]) -> list[str]:
    """The error lines of an output without what differs from run to run, the last first."""
    import re

    found: list[str] = []
    for line in reversed(text[-20_000:].splitlines()):
        if re.search(patterns["says"], line, re.IGNORECASE):
            for pattern, word in patterns["replaced"]:
                line = re.sub(pattern, word, line)
            found.append(line.strip()[: patterns["longest"]])
    return found


def main(taken: list[bytes]) -> None:
    """Keep the event, then answer. `taken` holds the payload from when it is read on."""
    if os.environ.get("HOLDFAST_OFF"):
        return
    os.umask(0o077)
    what, session = sys.argv[1], (sys.argv[2] if len(sys.argv) > 2 else "none")
    if not session or not all(c.isascii() and (c.isalnum() or c == "-") for c in session):
        session = "none"
    place = Place()
    data = sys.stdin.buffer.read()
    taken.append(data)
    if what != "file":
        bare = os.path.exists(os.path.join(place.hooks, "names-only"))
        keep(place, EVENTS[what], session, b"" if bare else data)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    payload = json.loads(data) if len(data) <= LONGEST_PAYLOAD else None
    if not is_object(payload):
        return
    if what in ("start", "subagent"):
        start(place, session, payload, what)
    else:
        {"goal": goal, "file": file, "error": error}[what](place, session, payload)


if __name__ == "__main__":
    taken: list[bytes] = []
    try:
        main(taken)
    finally:
        # Whatever happened, no traceback. What was never read is left for capture.sh.
        os._exit(0 if taken or os.environ.get("HOLDFAST_OFF") else 1)
