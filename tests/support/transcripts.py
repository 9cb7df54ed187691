"""Claude Code transcripts for tests: real record shapes, made from a few words.

Ids and times follow from the order of calls, so the same script gives the same bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True)
class Script:
    """A session that is written line by line."""

    session: str = "11111111-0000-4000-8000-000000000001"
    cwd: str = "/home/dev/proj"
    branch: str = "main"
    start: datetime = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)
    lines: list[Json] = field(default_factory=list[Json])
    _count: int = 0

    def _base(self, kind: str) -> Json:
        self._count += 1
        moment = self.start + timedelta(seconds=20 * self._count)
        return {
            "parentUuid": None,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.325",
            "gitBranch": self.branch,
            "type": kind,
            "uuid": f"{self.session[:8]}-{self._count:04d}-4000-8000-000000000000",
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }

    def add(self, record: Json) -> Json:
        """Any record, as it is."""
        self.lines.append(record)
        return record

    def user(self, text: str, **more: Any) -> Json:
        """A person's message."""
        return self.add(
            {**self._base("user"), "message": {"role": "user", "content": text}, **more}
        )

    def assistant(self, text: str, **more: Any) -> Json:
        """A message of the assistant."""
        return self._say({"type": "text", "text": text}, **more)

    def thinking(self, text: str = "hm") -> Json:
        """A thinking block of the model."""
        return self._say({"type": "thinking", "thinking": text, "signature": "x"})

    def _say(self, block: Json, **more: Any) -> Json:
        message = {"role": "assistant", "model": "claude-x", "content": [block]}
        return self.add({**self._base("assistant"), "message": message, **more})

    def call(self, name: str, **given: Any) -> str:
        """A tool call; returns its id."""
        id = f"toolu_{self.session[:8]}_{self._count + 1}"
        self._say({"type": "tool_use", "id": id, "name": name, "input": given})
        return id

    def result(self, call: str, text: str = "", error: bool = False, detail: Any = None) -> Json:
        """The result of a tool call."""
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}
        record = {**self._base("user"), "message": {"role": "user", "content": [block]}}
        record["toolUseResult"] = f"Error: {text}" if error else (detail or {"stdout": text})
        return self.add(record)

    def tool(self, name: str, result: str = "", error: bool = False, **given: Any) -> None:
        """A tool call with its result."""
        self.result(self.call(name, **given), result, error)

    def dumps(self) -> bytes:
        """The transcript as bytes."""
        return b"".join(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            for line in self.lines
        )

    def write(self, folder: Path) -> Path:
        """Write the transcript where Claude Code would."""
        slug = "".join(c if c.isalnum() else "-" for c in self.cwd)
        path = folder / slug / f"{self.session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.dumps())
        return path


def bug_hunt(session: str = "22222222-0000-4000-8000-000000000001") -> Script:
    """A short session with a request, a dead end, a fix and a passing test."""
    script = Script(session)
    script.user("The nightly import loads every row twice. Please find out why and fix it.")
    script.thinking()
    script.assistant("I'll look at the importer first.")
    script.tool("Read", "1\tdef load(): ...", file_path="/home/dev/proj/src/importer.py")
    script.tool("Bash", "2 failed in 0.31s", error=True, command="pytest tests/test_importer.py")
    script.assistant("The retry wrapper calls load() again after a timeout, so rows double.")
    script.tool(
        "Edit",
        "updated",
        file_path="/home/dev/proj/src/importer.py",
        old_string="retry(load)",
        new_string="retry(load, idempotent=True)",
    )
    script.tool("Bash", "12 passed in 0.40s", command="pytest tests/test_importer.py")
    script.assistant(
        "Fixed. The root cause was the retry wrapper: after a timeout it ran load() a second time "
        "although the first had finished. It now passes an idempotency key."
    )
    return script
