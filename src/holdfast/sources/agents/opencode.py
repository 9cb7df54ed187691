"""OpenCode (0.3 to 1.18): `~/.local/share/opencode`, one record a message and one for each part.

Since 1.2 they are in a database, before that in many small files, and `opencode export` writes
those of one session to a document; the records are the same. They are read as lines, a part before
its message, and only once the message is finished, because its parts change until then. A session
of the database is the source `opencode.db/SESSION`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from holdfast.model.ledgers.lines import SkipReason
from holdfast.regex import regex
from holdfast.sources import database, tool_mapping
from holdfast.sources.agent import Agent, LineLayout, home_folders
from holdfast.sources.claude_code import prompts
from holdfast.sources.draft import DraftSession, FileInfo, ParsedLine, captured, skipped
from holdfast.sources.fingerprint import stamp_of
from holdfast.sources.json_fields import Record, mapping, normal_time, objects, string

_TOOLS = tool_mapping.tool_names(
    {
        "Bash": "bash shell",
        "Read": "read",
        "Write": "write",
        "Edit": "edit",
        "MultiEdit": "multiedit",
        tool_mapping.PATCH: "patch apply_patch",
        "Grep": "grep",
        "Glob": "glob",
        "LS": "list",
        "WebFetch": "webfetch",
        "WebSearch": "websearch",
        "Agent": "task",
        "TodoWrite": "todowrite",
        "Skill": "skill",
        "AskUserQuestion": "question",
    },
    own="todoread lsp plan_enter plan_exit invalid",
)
_HOUSEKEEPING = frozenset("step-start step-finish snapshot patch agent subtask retry".split())
_SUBAGENT = regex(r"\(@(\S+) subagent\)")
# Fields of a message that do not change while it is written.
_STABLE_FIELDS = ("id", "role", "sessionID", "agent", "mode", "modelID", "providerID", "parentID")

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
    """A message, its parts, and when either changed last, in seconds of Unix time."""

    info: Record
    parts: Sequence[Record]
    changed: float


class _Session(NamedTuple):
    info: Record
    messages: Sequence[_Message]


def _find(path: Path, problems: list[str]) -> Iterator[Path]:
    files = [path] if path.is_file() else sorted(path.glob("opencode*.db"))
    for file in files:
        if database.is_database(file):
            yield from database.find_sessions(file, _stamps, problems)
        else:
            yield file
    if not path.is_file():
        yield from path.glob("storage/session/*/ses_*.json")


def _recognises(path: Path, head: bytes) -> bool:
    if database.is_database(path, head):
        return path.name.startswith("opencode")
    start = head[:2000]
    return b'"ses_' in start and b'"directory"' in start and b'"version"' in start


def _read_session(path: Path, head: bytes) -> DraftSession:
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
        names = ("id", "parentID", "directory", "title", "version")
        rows = database.query(path.parent, _INFO, path.name)
        return dict(zip(names, rows[0], strict=True)) if rows else {}
    document = _read(path)
    return mapping(document.get("info")) or document


def _read(path: Path) -> Record:
    try:
        return mapping(orjson.loads(path.read_bytes()))
    except orjson.JSONDecodeError as error:
        raise OSError(f"{path} is not whole: {error}") from error


def _stamps(file: Path) -> dict[str, str]:
    """A stamp of each session of a database. That of a session with an unfinished message says
    that it is open, until nothing more has come for a while."""
    stamps = {str(id): str(updated) for id, updated in database.query(file, _SESSIONS)}
    for id, count, updated in database.query(file, _MESSAGES):
        if id in stamps:
            stamps[id] += f":{count}:{updated}"
    for id, updated in database.query(file, _UNFINISHED):
        if id in stamps and database.is_open(updated / 1000):
            stamps[id] += ":open"
    return stamps


def _stamp(path: Path) -> str:
    if not path.is_file():
        return database.session_stamp(path, _stamps)
    own = stamp_of(path.stat())
    folder = _messages_folder(path)
    if folder is None:
        return own
    times = [entry.stat().st_mtime_ns for entry in folder.iterdir()] if folder.is_dir() else []
    open_mark = ":open" if times and database.is_open(max(times) / 1e9) else ""
    return f"{own}:{len(times)}:{max(times, default=0)}{open_mark}"


def _messages_folder(path: Path) -> Path | None:
    """The folder of messages, for a session that is a small file of its own."""
    storage = path.parents[2]
    return storage / "message" / path.stem if path.parents[1].name == "session" else None


def _to_lines(path: Path) -> bytes:
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
    for message, id, data in database.query(file, _PART_ROWS, session):
        parts.setdefault(message, []).append({"id": id, **mapping(orjson.loads(data))})
    for id, updated, data in database.query(file, _MESSAGE_ROWS, session):
        info = {"id": id, **mapping(orjson.loads(data))}
        yield _Message(info, parts.get(id, ()), updated / 1000)


def _from_files(folder: Path) -> Iterable[_Message]:
    found: list[_Message] = []
    for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        of_message = folder.parents[1] / "part" / file.stem
        parts = [_read(part) for part in sorted(of_message.glob("*.json"))]
        found.append(_Message(_read(file), parts, file.stat().st_mtime))
    return sorted(found, key=lambda one: _created(one.info))


def _created(info: Record) -> tuple[float, str]:
    at = mapping(info.get("time")).get("created")
    return (float(at) if isinstance(at, int | float) else 0.0, string(info, "id"))


def _lines(session: _Session) -> Iterator[Record]:
    """The finished messages, after the facts of the session that do not change any more."""
    info = session.info
    yield {"session": {key: info.get(key) for key in ("id", "parentID", "directory", "version")}}
    last = len(session.messages) - 1
    for number, message in enumerate(session.messages):
        times = mapping(message.info.get("time"))
        done = string(message.info, "role") != "assistant" or bool(times.get("completed"))
        if number == last and not done and database.is_open(message.changed):
            return
        stub: Record = {key: message.info[key] for key in _STABLE_FIELDS if key in message.info}
        stub["created"] = times.get("created")
        if message.info.get("summary") is True:
            stub["summary"] = True
        yield from ({"message": stub, "part": part} for part in message.parts)
        yield {"message": {k: v for k, v in message.info.items() if k not in ("summary", "tools")}}


def _read_record(record: Record, file: FileInfo) -> ParsedLine:
    message, part = mapping(record.get("message")), mapping(record.get("part"))
    if not part:
        known = "message" in record or "session" in record
        return skipped(SkipReason.HOUSEKEEPING if known else SkipReason.UNKNOWN_TYPE)
    kind = string(part, "type")
    if kind in _HOUSEKEEPING:
        return skipped(SkipReason.HOUSEKEEPING)
    if kind == "compaction" or message.get("summary") is True:
        return _summary(message, part, file)
    reader = _PARTS.get(kind, SkipReason.UNKNOWN_TYPE)
    return skipped(reader) if isinstance(reader, SkipReason) else reader(message, part, file)


def _time(message: Record, part: Record) -> str:
    start = mapping(part.get("time")).get("start")
    return normal_time(start) or normal_time(message.get("created"))


def _summary(message: Record, part: Record, file: FileInfo) -> ParsedLine:
    """A part of the agent's summary of the session so far."""
    key = (string(part, "id"), "summary")
    text = string(part, "text") if string(part, "type") == "text" else ""
    turn = tool_mapping.summary_turn(text, key, _time(message, part))
    if not turn.text or string(message, "role") != "assistant":
        return skipped(SkipReason.COMPACTION)
    return captured(file, [turn], ref=string(part, "id"))


def _text(message: Record, part: Record, file: FileInfo) -> ParsedLine:
    text = string(part, "text").strip()
    if part.get("synthetic") is True or part.get("ignored") is True:
        return skipped(SkipReason.MACHINE)
    if not text:
        return skipped(SkipReason.EMPTY)
    key, moment = (string(part, "id"), text), _time(message, part)
    if string(message, "role") == "assistant":
        turn = tool_mapping.assistant_turn(text, key, moment)
        return captured(file, [turn], ref=string(part, "id"))
    # A prompt from the command line comes with the quotes around it.
    typed = text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
    prompt = prompts.read_prompt(typed)
    if prompt.skip is not None:
        return skipped(prompt.skip)
    turn = tool_mapping.user_turn(prompt.text, key, moment, file.user_trust)
    return captured(file, [turn], ref=string(part, "id"))


def _file(message: Record, part: Record, file: FileInfo) -> ParsedLine:
    if string(message, "role") == "assistant":
        return skipped(SkipReason.HOUSEKEEPING)
    image = string(part, "mime").startswith("image/")
    name = "[image]" if image else f"[file {string(part, 'filename')}]"
    key, moment = (string(part, "id"), name), _time(message, part)
    return captured(file, [tool_mapping.user_turn(name, key, moment)], ref=string(part, "id"))


def _tool(message: Record, part: Record, file: FileInfo) -> ParsedLine:
    state = mapping(part.get("state"))
    times = mapping(state.get("time"))
    moment = normal_time(times.get("start")) or _time(message, part)
    name, call = string(part, "tool"), string(part, "callID") or string(part, "id")
    given, mark = mapping(state.get("input")), (string(part, "id"), moment)
    turns = tool_mapping.mapped_tool_turns(
        _TOOLS, name or "tool", given, file.root, call, moment, mark
    )
    parsed = captured(file, turns, ref=string(part, "id"))
    if string(state, "status") not in ("completed", "error"):
        return parsed
    code = mapping(state.get("metadata")).get("exit")
    ok = string(state, "status") == "completed" and code in (0, None)
    text = string(state, "output") or string(state, "error")
    ended = normal_time(times.get("end")) or moment
    results = tool_mapping.call_results(turns, _TOOLS.get(name), ok, text, ended)
    return parsed._replace(results=results)


_PARTS: dict[str, Callable[[Record, Record, FileInfo], ParsedLine] | SkipReason] = {
    "text": _text,
    "reasoning": SkipReason.THINKING,
    "file": _file,
    "tool": _tool,
}


def _tool_outputs(record: Record) -> Iterator[tuple[str, str]]:
    part = mapping(record.get("part"))
    if string(part, "type") == "tool":
        yield string(part, "callID"), string(mapping(part.get("state")), "output")


AGENT = Agent(
    name="opencode",
    title="OpenCode",
    folders=home_folders("XDG_DATA_HOME", ".local/share", "opencode"),
    find=_find,
    recognises=_recognises,
    read_session=_read_session,
    read_record=_read_record,
    tool_outputs=_tool_outputs,
    layout=LineLayout(stamp=_stamp, to_lines=_to_lines),
)
