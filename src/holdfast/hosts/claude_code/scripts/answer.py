"""Answers a hook of Claude Code: `python -I -S answer.py start|goal|file|error|subagent SESSION`.

Setup copies this file into the home, beside capture.sh. Hooks run it there with any Python from
3.11 on, as a module, so that it is not compiled each time. It imports the standard library alone,
and as little of that as possible, because every module delays the session. It writes the event into
the inbox as capture.sh does, then prints the context to inject, which was prepared ahead, or
nothing. What a brief was made of is compared with what is there now; if it changed, the brief is
made anew, and what people laid down since is added to it. What a session was told it is not told
again. Whatever goes wrong, it exits silently.

Only `installed_package` imports the installed package; pyproject.toml allows no other import.
"""

from __future__ import annotations

import os
import sys
import time

# `json` and `signal` import `re` and `enum`, which would double the CPU time of this script: 31 ms
# instead of 15 before it does anything. Below them lie these modules, which import nothing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any, TypeGuard
else:
    import _signal as signal

EVENTS = {
    "start": "SessionStart",
    "goal": "UserPromptSubmit",
    "file": "PreToolUse",
    "error": "PostToolUseFailure",
    "subagent": "SubagentStart",
}
# Where a session starts with an empty context. On resume it still holds what was injected before.
FRESH_SOURCES = ("startup", "clear", "compact", "fork")
# Claude Code replaces a hook's output of more than 10,000 characters by a stub.
MAX_BRIEF_CHARS = 9_900
# A larger payload is captured, but not parsed.
MAX_PAYLOAD_BYTES = 8_000_000
# How long a running server may take to find what is known about a prompt; with the first one it
# loads its model. What is left of the total must do for the search in this process.
SERVER_TIMEOUT_S = 1.1
# How long it may take to make a brief anew. After that the session gets the prepared one, without
# the files that changed.
REFRESH_TIMEOUT_S = 1.2
# How long another process may keep the database from being read.
DATABASE_TIMEOUT_S = 0.1
# The user waits for this script. After this long the system ends the process.
TOTAL_TIMEOUT_S = 1.8
# What is left for telling the prepared brief, if making a new one took all the time.
MIN_TIMEOUT_S = 0.4
# Events that wait longer for a worker, and briefs that are older, mean that no worker runs.
STALE_S = 86_400
# Shorter prompts are small talk ("go on", "yes please") and say nothing about the goal.
MIN_PROMPT_CHARS = 12
# Of a prompt sent to the server, and of an answer of it: more would take time and add nothing.
MAX_PROMPT_CHARS = 20_000
MAX_ANSWER_BYTES = 100_000
# As `holdfast worth` counts them; no tokenizer of the agent's model is at hand.
CHARACTERS_PER_TOKEN = 4
# Files of one event, session and process. More of them than this means that something is wrong.
MAX_FILES_OF_EVENT = 100
GREETING = "Holdfast remembers what is done here, for later sessions; see `holdfast status`."


class JsonOptions:
    """What the scanner of `_json` is to make of JSON: what `json.loads` makes of it."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def read_json(data: bytes) -> Any:
    """`json.loads`; raises a ValueError for what is no JSON."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(data)
    text = data.decode("utf-8", "surrogatepass").strip(" \t\n\r")
    options: Any = JsonOptions
    try:
        value, end = make_scanner(options)(text, 0)
    except (StopIteration, SystemError):  # the latter where `json`, which has the error, is missing
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def write_json(value: Any) -> str:
    """`json.dumps` of objects, lists, texts and numbers."""
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        import json

        return json.dumps(value)
    encode = make_encoder(None, repr, encode_basestring_ascii, None, ": ", ", ", False, False, True)
    return "".join(encode(value, 0))


class HookHome:
    """The folder of the home, as seen from this script, and what was prepared in it. `notice` is
    whether the user sees a line about the brief of a session that starts."""

    def __init__(self) -> None:
        self.notice = False
        self.hooks = os.path.dirname(os.path.abspath(__file__))
        self.folder = os.path.dirname(self.hooks)
        self.inbox = first_line(os.path.join(self.hooks, "inbox"))
        found = os.lstat(self.inbox)
        if found.st_uid != os.getuid() or (found.st_mode & 0o170000) != 0o040000:
            raise OSError("the inbox belongs to somebody else")

    def interpreter(self) -> list[str]:
        """The Python that can import the installed package, and its flags."""
        with open(os.path.join(self.hooks, "python"), encoding="utf-8") as file:
            return [file.readline().strip(), *file.readline().split()]

    def brief(self, name: str) -> dict[str, Any]:
        """A prepared JSON file; {} if there is none, or it has another format."""
        try:
            with open(os.path.join(self.folder, "briefs", name + ".json"), "rb") as file:
                value = read_json(file.read())
        except (OSError, ValueError):
            return {}
        return value if is_object(value) and value.get("v") == 1 else {}

    def fit(self, text: str) -> str:
        """A brief as the agent accepts it."""
        return text

    def reply(self, event: str, text: str) -> dict[str, Any]:
        """What the agent reads to get a brief."""
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}

    def mark(self, name: str) -> str:
        """The path of a file that notes what was done for a session."""
        folder = os.path.join(self.folder, "marks")
        os.makedirs(folder, 0o700, exist_ok=True)
        return os.path.join(folder, name)


def first_line(path: str) -> str:
    """The first line of a file, stripped."""
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether JSON gave an object."""
    return isinstance(value, dict)


def write_event(home: HookHome, event: str, session: str, data: bytes) -> None:
    """Write an event into the inbox as capture.sh does; an empty file where there is no room."""
    stem = os.path.join(home.inbox, f"1.{event}.{session}.{os.getpid()}")
    for n in range(MAX_FILES_OF_EVENT):
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


def inject(home: HookHome, kind: str, session: str, cwd: str, brief: dict[str, Any]) -> None:
    """Print a brief, and write an event that says which one, without its text."""
    text, id = brief.get("text"), brief.get("id")
    if not isinstance(text, str) or not isinstance(id, str):
        return
    if kind not in ("start", "subagent", "goal"):  # what a prompt is about is told whole
        text = untold(home, session, text)
    text = home.fit(text)
    if not text or len(text) > MAX_BRIEF_CHARS:
        return
    answer = home.reply(EVENTS[kind], text)
    if kind == "start" and home.notice and "hookSpecificOutput" in answer:
        answer |= {"systemMessage": notice(brief, text)}
    sys.stdout.write(write_json(answer))
    sys.stdout.flush()
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    keep_injected(home, session, {"kind": kind, "time": now, "text": text})
    note = {
        "id": f"{id}.{session}.{time.time_ns() // 1000}",
        "kind": "start" if kind == "subagent" else kind,
        "time": now,
        "characters": len(text),
        "records": brief.get("records", []),
        "cwd": cwd,
    }
    write_event(home, "HoldfastInjected", session, write_json(note).encode())


def notice(brief: dict[str, Any], text: str) -> str:
    """The line that the user sees when a session starts. The model does not see it."""
    notes = text.count("\n- ")
    tokens = -(-len(text) // CHARACTERS_PER_TOKEN)
    last = f", last: {brief['last']}" if brief.get("last") else ""
    return f"Holdfast: {notes:,} note{'s' * (notes != 1)}, {tokens:,} tokens{last}"


def keep_injected(home: HookHome, session: str, entry: dict[str, Any]) -> None:
    """Keep what was injected into a session, for `holdfast brief session`. One that cannot be
    kept is injected all the same."""
    if session == "none":
        return
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        file = os.open(home.mark(session + ".injected"), flags, 0o600)
        try:
            os.write(file, write_json(entry).encode() + b"\n")
        finally:
            os.close(file)
    except OSError:
        return


def untold(home: HookHome, session: str, text: str) -> str:
    """A brief without what this session was told already, as the script beside this one finds
    it."""
    try:
        with open(home.mark(session + ".injected"), "rb") as file:
            lines = [read_json(line) for line in file if line.endswith(b"\n")]
    except (OSError, ValueError):
        return text
    find_scripts(home)
    script: Any = __import__("told_once")  # `importlib` takes 1 ms to import
    return script.without_told(text, [line for line in lines if is_object(line)])


def find_scripts(home: HookHome) -> None:
    """Make the scripts beside this one importable. Each is for events that are rare, or late."""
    if home.hooks not in sys.path:
        sys.path.insert(0, home.hooks)


def find_bank(home: HookHome, cwd: str) -> str:
    """The bank of a folder: by its own path, by a folder above it, or by its repository."""
    known = home.brief("folders")
    folders, aliases = known.get("folders", {}), known.get("aliases", {})
    if known.get("all"):
        return known["all"]
    cwd = os.path.normpath(cwd)
    user_folder = os.path.expanduser("~")
    while os.path.isabs(cwd):
        if cwd in folders:
            return folders[cwd]
        git = os.path.join(cwd, ".git")
        if os.path.exists(git):
            return bank_of_repository(home, cwd, git, aliases)
        above = os.path.dirname(cwd)
        if above in (cwd, user_folder):
            break
        cwd = above
    return ""


def bank_of_repository(home: HookHome, top: str, git: str, aliases: dict[str, str]) -> str:
    """The bank of a repository, as the script beside this one finds it: few folders need it."""
    find_scripts(home)
    script: Any = __import__("repository_bank")
    return script.bank_of_repository(top, git, aliases)


def answer_start(
    home: HookHome, session: str, payload: dict[str, Any], kind: str = "start"
) -> None:
    """Inject the brief of the bank, and start a worker if there is work."""
    cwd = str(payload.get("cwd") or "")
    settings = home.brief("settings")
    bank = find_bank(home, cwd)
    brief = home.brief(bank) if bank else {}
    is_current = not bank or brief_is_current(home, bank, brief)
    # After a compaction the session goes on: the user has seen the line.
    home.notice = settings.get("notice", True) and payload.get("source") != "compact"
    if kind == "subagent":
        if settings.get("subagents"):
            tell_brief(home, kind, session, cwd, bank, brief, is_current)
        return
    try:
        if payload.get("source") in FRESH_SOURCES and settings.get("session", True):
            tell_brief(home, kind, session, cwd, bank, brief, is_current)
    finally:
        start_worker(home, is_needed=not is_current)


def tell_brief(
    home: HookHome,
    kind: str,
    session: str,
    cwd: str,
    bank: str,
    brief: dict[str, Any],
    is_current: bool,
) -> None:
    """Inject a prepared brief, if it is current. Else inject what it would be now or, where that
    fails, what was prepared without the files that changed. What people laid down since is added
    in either case."""
    said: dict[str, Any] = {}
    try:
        if not is_current and not files_are_unchanged(brief):
            brief = brief.get("without_files", brief)
        unread = find_unread(home, session, cwd)
        if any(unread) or not is_current:
            with RefreshLimit():
                package = installed_package(home)
                if any(unread):
                    said = package.said_since(home.folder, cwd, *unread)
                if not is_current:
                    brief = package.session_brief_now(home.folder, bank)
    finally:
        if said.get("rules"):
            script: Any = __import__("unread_prompts")
            brief = script.with_rules(brief, said, MAX_BRIEF_CHARS)
        if brief.get("text"):
            inject(home, kind, session, cwd, brief)
        elif kind == "start":
            greet_once(home)


def brief_is_current(home: HookHome, bank: str, brief: dict[str, Any]) -> bool:
    """Whether all that a prepared brief was made of is as it was."""
    if not brief or not files_are_unchanged(brief):
        return False
    return bank_revision(home, bank) in (None, brief.get("revision"))


def files_are_unchanged(brief: dict[str, Any]) -> bool:
    """Whether the files that a brief may quote are as they were when it was made."""
    return all(file_stamp(file) == stamp for file, stamp in brief.get("files", {}).items())


def file_stamp(file: str) -> str:
    """A text that changes with a file; "" where there is none. Does the same as
    `holdfast.sources.rule_locations.file_stamp`, which it must not import."""
    try:
        seen = os.stat(file)
    except OSError:
        return ""
    return f"{seen.st_mtime_ns}-{seen.st_size}-{seen.st_ino}"


def bank_revision(home: HookHome, bank: str) -> int | None:
    """The number of the latest change of a bank, as `StageProgress.revision` has it; None where it
    cannot be read, as that of a memory on a server."""
    path = os.path.join(home.folder, "memory.db")
    if not os.path.exists(path):
        return None
    try:
        import _sqlite3  # `sqlite3` imports modules for types that are not needed here
    except ImportError:
        return None
    for character in "%?#":
        path = path.replace(character, f"%{ord(character):02X}")
    try:
        database = _sqlite3.connect(f"file:{path}?mode=ro", timeout=DATABASE_TIMEOUT_S, uri=True)
        try:
            query = "SELECT max(number) FROM session_change WHERE bank = ? AND session <> ?"
            return database.execute(query, (bank, ":vectors")).fetchone()[0] or 0
        finally:
            database.close()
    except _sqlite3.Error:
        return None


def find_unread(home: HookHome, session: str, cwd: str) -> tuple[list[str], list[str]]:
    """The events in the inbox, and the sessions with journals, that have prompts of this project
    which no brief knows; there are some only seconds after another session had a prompt."""
    prompts = f"1.{EVENTS['goal']}."
    own = f"{prompts}{session}."
    names = (entry.name for entry in os.scandir(home.inbox))
    events = [name for name in names if name.startswith(prompts) and not name.startswith(own)]
    sessions: list[str] = []
    if os.path.exists(os.path.join(home.hooks, "unread")):
        with open(os.path.join(home.hooks, "unread"), encoding="utf-8") as file:
            sessions = [id for id in file.read().split() if id != session]
    if not events and not sessions:
        return [], []
    find_scripts(home)
    script: Any = __import__("unread_prompts")
    return script.of_project(home, cwd, events, sessions, find_bank, read_json)


class RefreshLimit:
    """Breaks off what takes longer than a brief may take to be made anew, so that there is time to
    tell the prepared one instead."""

    def __enter__(self) -> None:
        self.started = time.monotonic()
        signal.signal(signal.SIGALRM, out_of_time)
        self.left, _ = signal.setitimer(signal.ITIMER_REAL, REFRESH_TIMEOUT_S)

    def __exit__(self, *failed: object) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        spent = time.monotonic() - self.started
        signal.setitimer(signal.ITIMER_REAL, max(MIN_TIMEOUT_S, self.left - spent))


class OutOfTime(BaseException):
    """Not caught by what is broken off: whoever opens a file expects a TimeoutError."""


def out_of_time(signum: int, frame: object) -> None:
    """Break off what is being done."""
    raise OutOfTime


def greet_once(home: HookHome) -> None:
    """Greet the user, once in the life of a home. The model does not see it."""
    if create_marker(os.path.join(home.hooks, "greeted")):
        sys.stdout.write(write_json({"systemMessage": GREETING}))
        sys.stdout.flush()


def start_worker(home: HookHome, own: str = f".{os.getpid()}", is_needed: bool = False) -> None:
    """Start a worker if none runs and events wait, other than those with `own` in their name, or
    the briefs are old, or `is_needed`."""
    if any(is_running(os.path.join(home.hooks, name)) for name in ("worker.pid", "nudged")):
        return
    path = os.path.join(home.folder, "briefs", "folders.json")
    waiting = [e for e in os.scandir(home.inbox) if e.name[:2] == "1." and own not in e.name]
    since = time.time() - STALE_S
    is_recent = os.path.exists(path) and os.stat(path).st_mtime > since
    if not waiting and is_recent and not is_needed:
        return
    if any(event.stat().st_mtime < since for event in waiting):
        # No worker takes the payloads out of the inbox: write only names until one runs again.
        create_marker(os.path.join(home.hooks, "names-only"))
    python, *flags = home.interpreter()
    command = [python, *flags, "-m", "holdfast", "worker", "--nudged"]
    null = [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in range(3)]
    os.chdir("/")  # so that the worker does not keep the user's folder busy
    environment = {**os.environ, "HOLDFAST_HOME": home.folder}
    try:
        os.posix_spawn(python, command, environment, file_actions=null, setsid=True)
    except NotImplementedError:
        os.posix_spawn(python, command, environment, file_actions=null, setpgroup=0)


def is_running(path: str) -> bool:
    """Whether the worker of a pid file runs. Its start time tells it from a later process with the
    same number."""
    try:
        with open(path) as file:
            number, *started = file.read().split()
        os.kill(int(number), 0)
        if not os.path.isdir("/proc/self"):
            return True
        with open(f"/proc/{number}/stat") as file:
            state, *fields = file.read().rpartition(") ")[2].split()
            return state != "Z" and started == fields[18:19]
    except (OSError, ValueError):
        return False


def answer_prompt(home: HookHome, session: str, payload: dict[str, Any]) -> None:
    """Inject what is known about the first real prompt of a session: as a running server finds it,
    or by a search for words in this process."""
    prompt, cwd = payload.get("prompt"), str(payload.get("cwd") or "")
    if not isinstance(prompt, str) or len(prompt) < MIN_PROMPT_CHARS:
        return
    if prompt.lstrip()[:1] in ("<", "/", "!"):
        return
    if session == "none" or not create_marker(home.mark(session + ".goal")):
        return
    bank = find_bank(home, cwd) if home.brief("settings").get("goal", True) else ""
    if bank:
        brief = ask_server(home, session, prompt, {"cwd": cwd, "bank": bank})
        if brief is None:
            brief = installed_package(home).goal_brief_by_words(home.folder, bank, prompt)
        inject(home, "goal", session, cwd, brief)


def create_marker(path: str) -> bool:
    """Create an empty file; False where it is there already, or cannot be created."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    return True


def ask_server(home: HookHome, session: str, prompt: str, at: Any) -> dict[str, Any] | None:
    """The brief that a running server finds `at` a folder and its bank; None where none answers in
    time."""
    path = os.path.join(home.inbox, "ask.sock")
    if not os.path.exists(path):
        return None
    import _socket  # `socket` takes as long to import as all the rest of this script

    until = time.monotonic() + SERVER_TIMEOUT_S
    asked = {"v": 1, "op": "goal", "session": session, "prompt": prompt[:MAX_PROMPT_CHARS], **at}
    # Otherwise a program waits, such as a script that runs `claude -p`.
    asked["interactive"] = os.environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli"
    data = b""
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.settimeout(SERVER_TIMEOUT_S)
            connection.connect(path)
            connection.sendall(write_json(asked).encode() + b"\n")
            while not data.endswith(b"\n") and len(data) < MAX_ANSWER_BYTES:
                connection.settimeout(max(0.01, until - time.monotonic()))
                part = connection.recv(65_536)
                if not part:
                    break
                data += part
        finally:
            connection.close()
        answer = read_json(data)
    except (OSError, ValueError):
        return None
    return answer if is_object(answer) and answer.get("v") == 1 and "id" in answer else None


def installed_package(home: HookHome) -> Any:
    """The module of the installed package that makes briefs in this process. The only way into it:
    makes the package importable, then imports one module that loads no model."""
    import gc
    import site

    gc.disable()  # this process ends before there is anything to collect
    site.main()
    if "-I" not in home.interpreter()[1:]:
        site.addsitedir(site.getusersitepackages())
    from holdfast.app.briefs import hook_briefs

    return hook_briefs


def session_name(session: str) -> str:
    """A session's id, if it may be part of a file's name; else "none"."""
    return session if session.isascii() and session.replace("-", "a").isalnum() else "none"


def main(received: list[bytes]) -> None:
    """Write the event, then answer it. The payload is added to `received` once it is read."""
    if os.environ.get("HOLDFAST_OFF"):
        return
    os.umask(0o077)
    kind, session = sys.argv[1], session_name("".join(sys.argv[2:3]))
    home = HookHome()
    data = sys.stdin.buffer.read()
    received.append(data)
    if kind != "file":
        names_only = os.path.exists(os.path.join(home.hooks, "names-only"))
        write_event(home, EVENTS[kind], session, b"" if names_only else data)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, TOTAL_TIMEOUT_S)
    payload = read_json(data) if len(data) <= MAX_PAYLOAD_BYTES else None
    if not is_object(payload):
        return
    if session == "none":  # run by hand, or by an agent that gives the id in the payload alone
        session = session_name(str(payload.get("session_id") or ""))
    if kind in ("start", "subagent"):
        return answer_start(home, session, payload, kind)
    if kind == "goal":
        return answer_prompt(home, session, payload)
    find_scripts(home)
    script: Any = __import__("file_notes")
    script.answer(sys.modules[__name__], home, kind, session, payload)


def run() -> None:
    """Answer the hook that this process is for, and end the process."""
    received: list[bytes] = []
    try:
        main(received)
    finally:
        # No traceback, whatever happened. With exit code 1 the payload was not read, and
        # capture.sh writes it.
        os._exit(0 if received or os.environ.get("HOLDFAST_OFF") else 1)


if __name__ == "__main__":
    run()
