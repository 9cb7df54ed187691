"""Events as the lines that Claude Code would have written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from . import events as e

CWD = "/home/ada/tidewatch"
SLUG = "-home-ada-tidewatch"
VERSION = "2.1.325"
MODEL = "claude-opus-5-5"

Json = dict[str, Any]

_SECONDS: dict[type[Any], int] = {
    e.User: 95,
    e.Queued: 20,
    e.Says: 9,
    e.Thinks: 6,
    e.Bash: 8,
    e.Ask: 70,
}
_RESUME = "Continue the conversation from where it left off."
_COMPACTED = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The summary below covers the earlier portion of the conversation."
)


def write_sessions(sessions: tuple[e.Session, ...], folder: Path) -> list[Path]:
    """Write every session below a folder, subagents beside their parents."""
    written: list[Path] = []
    for session in sessions:
        scribe = Scribe(session.name, session.start, session.branch)
        scribe.record(session.events)
        for name, lines in scribe.files():
            path = folder / SLUG / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            written.append(path)
    return written


def _uuid(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"https://tidewatch.example/{name}"))


def _short(name: str, length: int) -> str:
    return _uuid(name).replace("-", "")[:length]


class Scribe:
    """Writes one session, or one subagent's part of it, line by line."""

    def __init__(self, name: str, start: str, branch: str, host: str = "", kind: str = "") -> None:
        self._name = name
        self._session = host or _uuid(name)
        self._agent = _short(name, 17) if kind else ""
        self._kind = kind
        self._branch = branch
        self._now = datetime.fromisoformat(start)
        self._lines: list[str] = []
        self._subagents: list[Scribe] = []
        self._parent: str | None = None
        self._prompt = ""
        self._writers: dict[type[Any], Callable[[Any], object]] = {
            e.User: self._user,
            e.Queued: self._queued,
            e.Says: lambda s: self._assistant({"type": "text", "text": s.text}),
            e.Thinks: self._thinks,
            e.Read: self._read,
            e.Edit: self._edit,
            e.Write: self._write,
            e.Bash: self._bash,
            e.Grep: self._grep,
            e.Fetch: self._fetch,
            e.Ask: self._ask,
            e.Delegate: self._delegate,
            e.Hook: self._hook,
            e.Snapshot: self._snapshot,
            e.Command: self._command,
            e.Compacted: self._compacted,
            e.Title: lambda t: self._bare("ai-title", {"aiTitle": t.text}),
            e.Pause: lambda p: self._pass(p.minutes * 60),
        }

    def record(self, happened: tuple[e.Event, ...]) -> None:
        """Write down what happened, in order."""
        for event in happened:
            self._pass(_SECONDS.get(type(event), 3))
            self._writers[type(event)](event)

    def files(self) -> Iterator[tuple[str, list[str]]]:
        """The name below the project's folder and the lines of each file."""
        own = f"{self._session}/subagents/agent-{self._agent}" if self._agent else self._session
        yield f"{own}.jsonl", self._lines
        for subagent in self._subagents:
            yield from subagent.files()

    def _pass(self, seconds: int) -> None:
        self._now += timedelta(seconds=seconds)

    def _time(self) -> str:
        return f"{self._now:%Y-%m-%dT%H:%M:%S}.{137 * (len(self._lines) + 3) % 1000:03d}Z"

    def _next(self, what: str) -> str:
        return f"{self._name}/{len(self._lines)}/{what}"

    def _put(self, record: Json) -> None:
        self._lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def _bare(self, kind: str, fields: Json) -> None:
        self._put({"type": kind, **fields, "sessionId": self._session})

    def _line(self, fields: Json) -> str:
        """A line of the conversation, linked to the one before it."""
        uuid = _uuid(self._next("line"))
        record: Json = {"parentUuid": self._parent, "isSidechain": bool(self._agent)}
        if self._agent:
            record["agentId"] = self._agent
        record |= fields | {"uuid": uuid, "timestamp": self._time()}
        record |= {"userType": "external", "entrypoint": "cli", "cwd": CWD}
        record |= {"sessionId": self._session, "version": VERSION, "gitBranch": self._branch}
        self._put(record)
        self._parent = uuid
        return uuid

    def _message(self, content: str | list[Json], **fields: object) -> None:
        message = {"role": "user", "content": content}
        self._line({"promptId": self._prompt, "type": "user", "message": message, **fields})

    def _user(self, user: e.User) -> None:
        self._prompt = _uuid(self._next("prompt"))
        if self._agent:
            self._message(user.text)
            return
        content: str | list[Json] = user.text
        if user.reminder:
            reminder = f"<system-reminder>\n{user.reminder}\n</system-reminder>"
            content = [{"type": "text", "text": text} for text in (user.text, reminder)]
        self._message(content, origin={"kind": "human"}, promptSource="typed", turnOrigin="human")

    def _queued(self, queued: e.Queued) -> None:
        self._attachment({"type": "queued_command", "prompt": queued.text, "commandMode": "prompt"})

    def _attachment(self, attachment: Json) -> None:
        self._line({"attachment": attachment, "type": "attachment"})

    def _assistant(self, block: Json) -> str:
        calls = block["type"] != "text"
        message: Json = {
            "id": f"msg_{_short(self._next('message'), 22)}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [block],
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 2400 + 180 * len(self._lines), "output_tokens": 60},
        }
        record: Json = {"message": message, "requestId": f"req_{_short(self._next('request'), 20)}"}
        if self._kind:
            record["attributionAgent"] = self._kind
        return self._line(record | {"type": "assistant"})

    def _thinks(self, thought: e.Thinks) -> None:
        signature = _short(self._next("signature"), 32)
        self._assistant({"type": "thinking", "thinking": thought.text, "signature": signature})

    def _call(
        self, name: str, given: Json, result: object, detail: object, failed: bool = False
    ) -> None:
        """A tool call and its result, one line each."""
        call = f"toolu_{_short(self._next('call'), 22)}"
        source = self._assistant({"type": "tool_use", "id": call, "name": name, "input": given})
        self._pass(2)
        block: Json = {"tool_use_id": call, "type": "tool_result", "content": result}
        if failed:
            block["is_error"] = True
        self._message([block], toolUseResult=detail, sourceToolAssistantUUID=source)

    def _read(self, read: e.Read) -> None:
        path, lines = f"{CWD}/{read.path}", read.text.strip("\n").split("\n")
        shown = "\n".join(f"{read.start + n}\t{line}" for n, line in enumerate(lines))
        file = {"filePath": path, "content": "\n".join(lines), "numLines": len(lines)}
        file |= {"startLine": read.start, "totalLines": read.start + len(lines) - 1}
        given: Json = {"file_path": path}
        if read.start > 1:
            given |= {"offset": read.start, "limit": len(lines)}
        self._call("Read", given, shown, {"type": "text", "file": file})

    def _edit(self, edit: e.Edit) -> None:
        path = f"{CWD}/{edit.path}"
        old, new = edit.old.split("\n"), edit.new.split("\n")
        hunk = {"oldStart": edit.line, "oldLines": len(old), "newStart": edit.line}
        changed = [f"-{line}" for line in old] + [f"+{line}" for line in new]
        hunk |= {"newLines": len(new), "lines": changed}
        given = {"file_path": path, "old_string": edit.old, "new_string": edit.new}
        detail = {"filePath": path, "oldString": edit.old, "newString": edit.new}
        detail |= {"structuredPatch": [hunk], "userModified": False, "replaceAll": False}
        self._call("Edit", given, f"The file {path} has been updated successfully.", detail)

    def _write(self, write: e.Write) -> None:
        path = f"{CWD}/{write.path}"
        detail = {"type": "create", "filePath": path, "content": write.text}
        detail |= {"structuredPatch": [], "originalFile": None, "userModified": False}
        given = {"file_path": path, "content": write.text}
        self._call("Write", given, f"File created successfully at: {path}", detail)

    def _bash(self, bash: e.Bash) -> None:
        given = {"command": bash.command}
        output = bash.output.strip("\n")
        if bash.exit:
            text = f"Exit code {bash.exit}\n{output}"
            self._call("Bash", given, text, f"Error: {text}", failed=True)
            return
        detail = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        self._call("Bash", given, output or "(Bash completed with no output)", detail)

    def _grep(self, grep: e.Grep) -> None:
        given = {"pattern": grep.pattern, "path": f"{CWD}/{grep.path}", "output_mode": "content"}
        found = "\n".join(grep.hits)
        detail: Json = {"mode": "content", "numFiles": 0, "filenames": [], "content": found}
        self._call("Grep", given, found, detail | {"numLines": len(grep.hits)})

    def _fetch(self, fetch: e.Fetch) -> None:
        detail = {"bytes": 18211, "code": 200, "codeText": "OK", "result": fetch.result}
        detail |= {"durationMs": 1904, "url": fetch.url}
        self._call("WebFetch", {"url": fetch.url, "prompt": fetch.prompt}, fetch.result, detail)

    def _ask(self, ask: e.Ask) -> None:
        options = [{"label": label, "description": told} for label, told in ask.options]
        question = {"question": ask.question, "header": ask.header, "multiSelect": False}
        questions = [question | {"options": options}]
        answered = f'User has answered your questions: "{ask.question}"="{ask.answer}".'
        detail = {"questions": questions, "answers": {ask.question: ask.answer}}
        self._call("AskUserQuestion", {"questions": questions}, answered, detail)

    def _delegate(self, task: e.Delegate) -> None:
        scribe = Scribe(
            self._next("subagent"), self._now.isoformat(), self._branch, self._session, task.kind
        )
        scribe.record((e.User(task.prompt), *task.steps, e.Says(task.report)))
        self._subagents.append(scribe)
        given = {"description": task.description, "prompt": task.prompt, "subagent_type": task.kind}
        result = [{"type": "text", "text": task.report}]
        detail = {"status": "completed", "prompt": task.prompt, "agentId": scribe._agent}
        self._call("Agent", given, result, detail | {"agentType": task.kind, "content": result})

    def _hook(self, hook: e.Hook) -> None:
        ran = {"type": "hook_success", "hookName": hook.event, "hookEvent": hook.event}
        ran |= {"content": hook.context, "stdout": f"{hook.context}\n", "stderr": ""}
        self._attachment(ran | {"exitCode": 0, "command": hook.command, "durationMs": 41})

    def _snapshot(self, snapshot: e.Snapshot) -> None:
        message = _uuid(self._next("snapshot"))
        backups = {
            path: {"backupFileName": f"{_short(path, 16)}@v1", "version": 1}
            for path in snapshot.files
        }
        whole = {"messageId": message, "trackedFileBackups": backups, "timestamp": self._time()}
        self._put(
            {"type": "file-history-snapshot", "messageId": message, "snapshot": whole}
            | {"isSnapshotUpdate": False}
        )

    def _command(self, command: e.Command) -> None:
        name = command.name
        self._message(
            f"<command-name>/{name}</command-name>\n"
            f"            <command-message>{name}</command-message>\n"
            "            <command-args></command-args>"
        )

    def _compacted(self, compacted: e.Compacted) -> None:
        boundary: Json = {"type": "system", "subtype": "compact_boundary", "level": "info"}
        boundary |= {"content": "Conversation compacted", "isMeta": False}
        self._line(boundary | {"compactMetadata": {"trigger": "auto", "preTokens": 168204}})
        text = f"{_COMPACTED}\n\nSummary:\n{compacted.summary}\n\n{_RESUME}"
        self._message(text, isVisibleInTranscriptOnly=True, isCompactSummary=True)
