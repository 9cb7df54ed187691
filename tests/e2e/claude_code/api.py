"""A model service on loopback that says what a test wrote down for it.

A prompt picks a play by the words `PLAY:name`; how far it has come is the number of replies
after that prompt, so the service keeps no state and subagents play their own. `{project}` in a
play is the project's folder. What the service was sent is kept for the test to look at.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, cast

Json = dict[str, Any]
SUMMARY = "The plan was kept: the parser comes first."
_MARK = re.compile(r"PLAY:([a-z]+)")


class Say(NamedTuple):
    """The model says something."""

    text: str

    def block(self) -> Json:
        return {"type": "text", "text": self.text}


class Use(NamedTuple):
    """The model calls a tool."""

    tool: str
    input: Json

    def block(self) -> Json:
        id = f"toolu_{uuid.uuid4().hex[:22]}"
        return {"type": "tool_use", "id": id, "name": self.tool, "input": self.input}


class Refuse(NamedTuple):
    """The service fails."""

    status: int


Step = Sequence[Say | Use] | Refuse
Plays = Mapping[str, Sequence[Step]]


def texts(content: Any) -> list[str]:
    """The texts of a message."""
    if isinstance(content, str):
        return [content]
    blocks = cast(list[Json], content or [])
    return [block.get("text", "") for block in blocks if block.get("type") == "text"]


class Api:
    """The service; `requests` are the bodies of the questions asked of the model, in order."""

    def __init__(self, plays: Plays, folder: str) -> None:
        self.plays = plays
        self.folder = folder
        self.requests: list[Json] = []
        api = self

        class Handler(_Handler):
            owner = api

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def env(self, home: Path) -> dict[str, str]:
        """What has the agent of somebody ask us, and nobody else."""
        return {
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def sent(self, number: int) -> str:
        """All that the model was sent in one request, as text to look into."""
        return json.dumps(self.requests[number], ensure_ascii=False)

    def reply(self, body: Json) -> Step:
        """What comes next in the play."""
        messages: list[Json] = body.get("messages") or []
        asked = [message for message in messages if message.get("role") == "user"]
        last = "\n".join(texts(asked[-1].get("content"))) if asked else ""
        if "<summary>" in last and "<analysis>" in last:
            return [Say(f"<analysis>\nfine\n</analysis>\n<summary>\n{SUMMARY}\n</summary>")]
        if not body.get("tools"):
            return [Say(json.dumps({"title": "A title"}))]
        name, at = "", -1
        for number, message in enumerate(messages):
            if message.get("role") == "user":
                for hit in _MARK.findall("\n".join(texts(message.get("content")))):
                    name, at = hit, number
        steps = self.plays.get(name, ())
        done = sum(1 for message in messages[at + 1 :] if message.get("role") == "assistant")
        self.requests.append(body)
        return steps[done] if done < len(steps) else [Say("Nothing more to say.")]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Api

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(200, b"", "text/plain")

    def do_GET(self) -> None:
        self._answer(200, json.dumps({"data": [], "has_more": False}).encode())

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        if path == "/v1/messages/count_tokens":
            self._answer(200, json.dumps({"input_tokens": len(raw) // 4 + 1}).encode())
        elif path == "/v1/messages":
            self._message(json.loads(raw))
        else:
            self._answer(404, b'{"type":"error","error":{"type":"not_found_error","message":"-"}}')

    def _message(self, body: Json) -> None:
        step = self.owner.reply(body)
        if isinstance(step, Refuse):
            error = {"type": "api_error", "message": "written down to fail"}
            told = json.dumps({"type": "error", "error": error}).encode()
            self._answer(step.status, told, more={"x-should-retry": "false"})
            return
        told = json.dumps([part.block() for part in step])
        message = _make_message(body, json.loads(told.replace("{project}", self.owner.folder)))
        if body.get("stream"):
            stream = "".join(
                f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                for event in _events(message)
            )
            self._answer(200, stream.encode(), "text/event-stream")
        else:
            self._answer(200, json.dumps(message).encode())

    def _answer(
        self,
        status: int,
        content: bytes,
        kind: str = "application/json",
        more: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        headers = {"content-type": kind, "content-length": str(len(content)), **(more or {})}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _make_message(body: Json, content: list[Json]) -> Json:
    usage = {
        "input_tokens": len(json.dumps(body.get("messages"))) // 4 + 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 20,
    }
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": f"msg_{uuid.uuid4().hex[:22]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "played"),
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


def _events(message: Json) -> Iterator[Json]:
    """A message as it is streamed."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for number, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty: Json = {"type": "text", "text": ""}
            delta: Json = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": number, "content_block": empty}
        yield {"type": "content_block_delta", "index": number, "delta": delta}
        yield {"type": "content_block_stop", "index": number}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield {"type": "message_stop"}
