"""OpenCode (0.3 to 1.18): `~/.local/share/opencode`, one record a message and one for each part.

They lie in a database since 1.2, in many small files before, and `opencode export` puts those of
one session into a document; in each way they are the same. They are laid out as lines, a part
before its message, and only once a message is finished, because until then its parts change. A
session of the database is the source `opencode.db/SESSION`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from time import time
from typing import NamedTuple

import orjson

from holdfast.model.ledger import Fate, Skip
from holdfast.model.trust import Trust
from holdfast.sources import database, tool_mapping
from holdfast.sources.agent import Agent, Layout, Where
from holdfast.sources.claude_code import prompts
from holdfast.sources.draft import DraftSession, DraftTurn, FileInfo, Reading, skipped
from holdfast.sources.file_stamp import stamp_of
from holdfast.sources.json_fields import Record, mapping, normal_time, objects, string

NAME = "opencode"
_TOOLS = {
    "bash": "Bash",
    "shell": "Bash",
    "read": "Read",
    "write": "Write",
    "edit": "Edit",
    "multiedit": "MultiEdit",
    "patch": tool_mapping.PATCH,
    "apply_patch": tool_mapping.PATCH,
    "grep": "Grep",
    "glob": "Glob",
    "list": "LS",
    "webfetch": "WebFetch",
    "websearch": "WebSearch",
    "task": "Agent",
    "todowrite": "TodoWrite",
    "todoread": "todoread",
    "skill": "Skill",
    "question": "AskUserQuestion",
    "lsp": "lsp",
    "plan_enter": "plan_enter",
    "plan_exit": "plan_exit",
    "invalid": "invalid",
}
_CONTENTS = ("Read", "Grep", "Glob", "LS")
_HOUSEKEEPING = frozenset("step-start step-finish snapshot patch agent subtask retry".split())
_SUBAGENT = re.compile(r"\(@(\S+) subagent\)")
_STILL_S = 600
_STABLE = ("id", "role", "sessionID", "agent", "mode", "modelID", "providerID", "parentID")

_SESSIONS = "SELECT id, time_updated FROM session"
_MESSAGES = "SELECT session_id, count(*), max(time_updated) FROM message GROUP BY session_id"
_UNFINISHED = (
    "SELECT session_id, max(time_updated) FROM message WHERE json_extract(data, '$.role') = "
    "'assistant' AND json_extract(data, '$.time.completed') IS NULL GROUP BY session_id"
)
_INFO = "SELECT id, parent_id, directory, title, version FROM session WHERE id = ?"
_MESSAGE_ROWS = (
    "SELECT id, time_updated, data FROM message WHERE session_id = ? ORDER BY time_created, id"
)
_PART_ROWS = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY message_id, id"


class _Message(NamedTuple):
    """A message, its parts, and when either changed last, in seconds."""

    info: Record
    parts: Sequence[Record]
    changed: float


class _Session(NamedTuple):
    info: Record
    messages: Sequence[_Message]


def _folders(where: Where) -> Sequence[Path]:
    data = Path(where.env.get("XDG_DATA_HOME") or where.home / ".local" / "share")
    return [data / "opencode"]


def _find(path: Path, problems: list[str]) -> Iterator[Path]:
    files = [path] if path.is_file() else sorted(path.glob("opencode*.db"))
    for file in files:
        if not database.is_database(file):
            yield file
            continue
        try:
            yield from (file / id for id in _stamps(file))
        except OSError as error:
            problems.append(f"{file}: {error}")
    if not path.is_file():
        yield from path.glob("storage/session/*/ses_*.json")


def _knows(path: Path, head: bytes) -> bool:
    if database.is_database(path, head):
        return path.name.startswith("opencode")
    start = head[:2000]
    return b'"ses_' in start and b'"directory"' in start and b'"version"' in start


def _about(path: Path, head: bytes) -> DraftSession:
    info = _info(path)
    id, parent, title = string(info, "id"), string(info, "parentID"), string(info, "title")
    role = _SUBAGENT.search(title)
    return DraftSession(
        id or path.stem,
        parent or id or path.stem,
        parent=parent,
        subagent=(role.group(1) if role else "subagent") if parent else "",
        title=title,
        cwd=string(info, "directory"),
        version=string(info, "version"),
    )


def _info(path: Path) -> Record:
    if not path.is_file():
        for id, parent, directory, title, version in database.rows(path.parent, _INFO, path.name):
            told = {"id": id, "parentID": parent, "directory": directory}
            return {**told, "title": title, "version": version}
        return {}
    document = _read(path)
    return mapping(document.get("info")) or document


def _read(path: Path) -> Record:
    try:
        return mapping(orjson.loads(path.read_bytes()))
    except orjson.JSONDecodeError as error:
        raise OSError(f"{path} is not whole: {error}") from error


def _stamps(file: Path) -> dict[str, str]:
    """What changes with each session of a database. What is unfinished is looked at again when
    nothing more has come of it for a while."""
    told = {str(id): str(updated) for id, updated in database.rows(file, _SESSIONS)}
    for id, count, updated in database.rows(file, _MESSAGES):
        if id in told:
            told[id] += f":{count}:{updated}"
    for id, updated in database.rows(file, _UNFINISHED):
        if id in told and _still(updated / 1000):
            told[id] += ":open"
    return told


def _still(changed: float) -> bool:
    return abs(time() - changed) < _STILL_S


def _stamp(path: Path) -> str:
    if not path.is_file():
        stamps = database.kept(path.parent, _stamps)
        if path.name not in stamps:
            raise FileNotFoundError(f"{path} is not there")
        return stamps[path.name]
    own = stamp_of(path.stat())
    folder = _messages_folder(path)
    if folder is None:
        return own
    times = [entry.stat().st_mtime_ns for entry in folder.iterdir()] if folder.is_dir() else []
    still = ":open" if times and _still(max(times) / 1e9) else ""
    return f"{own}:{len(times)}:{max(times, default=0)}{still}"


def _messages_folder(path: Path) -> Path | None:
    """Where the messages of a session lie that is a small file of its own."""
    storage = path.parents[2]
    return storage / "message" / path.stem if path.parents[1].name == "session" else None


def _lay_out(path: Path) -> bytes:
    return b"".join(orjson.dumps(line) + b"\n" for line in _lines(_load(path)))


def _load(path: Path) -> _Session:
    if not path.is_file():
        return _Session(_info(path), list(_from_database(path.parent, path.name)))
    document = _read(path)
    folder = _messages_folder(path)
    if folder is not None:
        return _Session(document, list(_from_files(folder)))
    messages = [
        _Message(mapping(message.get("info")), objects(message.get("parts")), 0.0)
        for message in objects(document.get("messages"))
    ]
    return _Session(mapping(document.get("info")), messages)


def _from_database(file: Path, session: str) -> Iterator[_Message]:
    parts: dict[str, list[Record]] = {}
    for message, id, data in database.rows(file, _PART_ROWS, session):
        parts.setdefault(message, []).append({"id": id, **mapping(orjson.loads(data))})
    for id, updated, data in database.rows(file, _MESSAGE_ROWS, session):
        info = {"id": id, **mapping(orjson.loads(data))}
        yield _Message(info, parts.get(id, ()), updated / 1000)


def _from_files(folder: Path) -> Iterable[_Message]:
    found: list[_Message] = []
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        kept = folder.parents[1] / "part" / file.stem
        parts = [_read(part) for part in sorted(kept.glob("*.json"))] if kept.is_dir() else []
        found.append(_Message(_read(file), parts, file.stat().st_mtime))
    return sorted(found, key=lambda one: _created(one.info))


def _created(info: Record) -> tuple[float, str]:
    at = mapping(info.get("time")).get("created")
    return (float(at) if isinstance(at, int | float) else 0.0, string(info, "id"))


def _lines(session: _Session) -> Iterator[Record]:
    """What is finished, first the facts of the session that do not change any more."""
    info = session.info
    yield {"session": {key: info.get(key) for key in ("id", "parentID", "directory", "version")}}
    last = len(session.messages) - 1
    for number, message in enumerate(session.messages):
        told = mapping(message.info.get("time"))
        done = string(message.info, "role") != "assistant" or bool(told.get("completed"))
        if number == last and not done and _still(message.changed):
            return
        stub: Record = {key: message.info[key] for key in _STABLE if key in message.info}
        stub["created"] = told.get("created")
        if message.info.get("summary") is True:
            stub["summary"] = True
        yield from ({"message": stub, "part": part} for part in message.parts)
        yield {"message": {k: v for k, v in message.info.items() if k not in ("summary", "tools")}}


def read_record(record: Record, file: FileInfo) -> Reading:
    """What one line gives."""
    message, part = mapping(record.get("message")), mapping(record.get("part"))
    if not part:
        known = "message" in record or "session" in record
        return skipped(Skip.HOUSEKEEPING if known else Skip.UNKNOWN_TYPE)
    kind = string(part, "type")
    if kind in _HOUSEKEEPING:
        return skipped(Skip.HOUSEKEEPING)
    if kind == "compaction" or message.get("summary") is True:
        return skipped(Skip.COMPACTION)
    reader = _PARTS.get(kind)
    if reader is None:
        return skipped(Skip.UNKNOWN_TYPE)
    return reader(message, part, file)


def _kept(file: FileInfo, turns: Sequence[DraftTurn], part: Record) -> Reading:
    return Reading(Fate.CAPTURED, "", file.session.id, "", turns, (), string(part, "id"))


def _time(message: Record, part: Record) -> str:
    told = mapping(part.get("time")).get("start")
    return normal_time(told) or normal_time(message.get("created"))


def _text(message: Record, part: Record, file: FileInfo) -> Reading:
    text = string(part, "text").strip()
    if part.get("synthetic") is True or part.get("ignored") is True:
        return skipped(Skip.MACHINE)
    if not text:
        return skipped(Skip.EMPTY)
    key, moment = (string(part, "id"), text), _time(message, part)
    if string(message, "role") == "assistant":
        return _kept(file, [tool_mapping.said(text, key, moment)], part)
    # The command line hands a prompt on in the quotes that it was given in.
    typed = text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
    found = prompts.read_prompt(typed)
    if found.skip is not None:
        return skipped(found.skip)
    trust = Trust.ASSISTANT if file.session.parent else Trust.USER
    return _kept(file, [tool_mapping.prompt(found.text, key, moment, trust)], part)


def _reasoning(message: Record, part: Record, file: FileInfo) -> Reading:
    return skipped(Skip.THINKING)


def _file(message: Record, part: Record, file: FileInfo) -> Reading:
    if string(message, "role") == "assistant":
        return skipped(Skip.HOUSEKEEPING)
    image = string(part, "mime").startswith("image/")
    name = "[image]" if image else f"[file {string(part, 'filename')}]"
    key, moment = (string(part, "id"), name), _time(message, part)
    return _kept(file, [tool_mapping.prompt(name, key, moment)], part)


def _tool(message: Record, part: Record, file: FileInfo) -> Reading:
    state = mapping(part.get("state"))
    told = mapping(state.get("time"))
    moment = normal_time(told.get("start")) or _time(message, part)
    name, call = string(part, "tool"), string(part, "callID") or string(part, "id")
    given, mark = mapping(state.get("input")), (string(part, "id"), moment)
    turns = tool_mapping.known(_TOOLS, name or "tool", given, file.root, call, moment, mark)
    reading = _kept(file, turns, part)
    if string(state, "status") not in ("completed", "error"):
        return reading
    ok, text = _outcome(state)
    shown = _TOOLS.get(name) not in _CONTENTS
    ended = normal_time(told.get("end")) or moment
    calls = [turn.tool.call for turn in turns if turn.tool]
    return reading._replace(results=[tool_mapping.came(id, ok, text, ended, shown) for id in calls])


def _outcome(state: Record) -> tuple[bool, str]:
    code = mapping(state.get("metadata")).get("exit")
    ok = string(state, "status") == "completed" and code in (0, None)
    return ok, string(state, "output") or string(state, "error")


_PARTS: dict[str, Callable[[Record, Record, FileInfo], Reading]] = {
    "text": _text,
    "reasoning": _reasoning,
    "file": _file,
    "tool": _tool,
}


def printed(record: Record) -> Iterator[tuple[str, str]]:
    """What tools printed, each with the id of its call."""
    part = mapping(record.get("part"))
    if string(part, "type") == "tool":
        yield string(part, "callID"), string(mapping(part.get("state")), "output")


AGENT = Agent(
    NAME,
    "OpenCode",
    _folders,
    _find,
    _knows,
    _about,
    read_record,
    printed=printed,
    layout=Layout(_stamp, _lay_out),
)
