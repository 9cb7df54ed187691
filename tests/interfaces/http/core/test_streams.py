from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from typing import Any

from holdfast.app.answers.research_sessions import sessions_of
from holdfast.app.core.context import utc_now
from holdfast.interfaces.http.core.request_principal import owner, set_principal
from holdfast.interfaces.http.core.streaming import EventStreams, ServerEvent
from holdfast.principal import Principal
from holdfast.research.session_journal import new_id
from holdfast.settings import load_settings
from tests.interfaces.http.rest.test_rest import get, send
from tests.support.http.forms import PageClient
from tests.support.http.server import Server


class EventStream:
    """A stream that is listened to."""

    def __init__(self, server: Server, path: str, after: str = "") -> None:
        headers = {"Authorization": f"Bearer {server.token}"}
        headers |= {"Last-Event-ID": after} if after else {}
        request = urllib.request.Request(f"{server.url}/api/v1{path}", headers=headers)
        self._answer = urllib.request.urlopen(request, timeout=60)
        assert self._answer.headers["content-type"].startswith("text/event-stream")

    def events(self) -> Iterator[tuple[str, str, Any]]:
        """Each as its id, its name and what it says."""
        event: dict[str, str] = {}
        for raw in self._answer:
            name, colon, value = raw.decode().rstrip("\n").partition(": ")
            if colon and name:
                event[name] = value
            elif event and not name:
                yield event.get("id", ""), event["event"], json.loads(event["data"])
                event = {}

    def close(self) -> None:
        self._answer.close()


def test_an_investigation_can_be_followed_resumed_and_read_later(server: Server) -> None:
    sent = {"question": "Why not cron with cp?", "budget": "low"}
    started = json.loads(send(server, "/research", sent).text)
    name = started["session_id"]
    assert started["events"] == f"/api/v1/research/{name}/events"
    heard = list(EventStream(server, f"/research/{name}/events").events())
    assert [id for id, event, _ in heard if event == "step"] == [
        str(n + 1) for n in range(len(heard) - 1)
    ]
    assert heard[0][2]["stage"] == "asked" and heard[-1][1:] == (
        "done",
        {"session_id": name, "state": "done"},
    )
    assert heard[-2][2]["answer"]["citations"]
    again = list(EventStream(server, f"/research/{name}/events", heard[1][0]).events())
    assert again == heard[2:]
    assert get(server, f"/research/{name}")["state"] == "done"
    assert json.loads(send(server, f"/research/{name}/cancel", {}).text)["cancel"] is False
    more = {"question": "And when?", "session": name, "budget": "low"}
    assert json.loads(send(server, "/research", more).text)["session_id"] == name
    further = list(EventStream(server, f"/research/{name}/events", heard[-1][0]).events())
    assert further[0][2]["question"] == "And when?"
    gone = send(server, f"/research/{name}", {}, how="DELETE")
    assert json.loads(gone.text)["remove"] is True
    assert server.ask(f"/api/v1/research/{name}/events").status == 404


def test_a_conversation_that_runs_is_deleted_by_neither_page_nor_api(server: Server) -> None:
    page, name = PageClient(server), new_id()
    sessions = sessions_of(load_settings(dict(server.env)))
    with sessions.open_session(name, follow=False) as running:
        assert running is not None
        running.write({"stage": "asked", "question": "Why not cron?", "time": utc_now()})
        refused = page.post(f"/research/{name}/remove", {})
        assert refused.status == 400 and f"{name} is running." in refused.text
        assert send(server, f"/research/{name}", {}, how="DELETE").status == 400
        assert name in sessions.ids()
    assert page.post(f"/research/{name}/remove", {}).status == 303
    assert name not in sessions.ids()
    assert page.post(f"/research/{name}/remove", {}).status == 404


def test_a_question_that_cannot_begin_is_refused(server: Server) -> None:
    assert send(server, "/research", {"question": "Why?", "bank": "nowhere"}).status == 404
    assert server.ask("/api/v1/research/mem-0123456789/events").status == 404
    name = json.loads(send(server, "/research", {"question": "Why not cron?"}).text)["session_id"]
    bad = {"Authorization": f"Bearer {server.token}", "Last-Event-ID": "x"}
    assert server.ask(f"/api/v1/research/{name}/events", bad).status == 422


async def _never(gone: list[str]) -> AsyncGenerator[ServerEvent]:
    try:
        yield ServerEvent("hello", {})
        await asyncio.Event().wait()
    finally:
        gone.append("gone")


async def _welcome(who: Principal) -> bool:
    return who.key != "revoked"


def test_a_stream_ends_when_its_key_is_revoked() -> None:
    async def play() -> None:
        set_principal(Principal("a", key="revoked"))
        streams, gone = EventStreams(_welcome, heartbeat_s=0.01), list[str]()
        heard = [text async for text in streams.respond(_never(gone)).body_iterator]
        assert heard == [": listening\n\n"] and gone == ["gone"]

    asyncio.run(play())


def test_a_client_that_disconnects_frees_its_resources() -> None:
    async def play() -> None:
        set_principal(owner())
        streams, gone = EventStreams(_welcome, heartbeat_s=0.01), list[str]()
        answer = streams.respond(_never(gone))
        heard: Any = aiter(answer.body_iterator)
        said = [await anext(heard) for _ in range(4)]
        assert said == [": listening\n\n", "event: hello\ndata: {}\n\n", *[": still here\n\n"] * 2]
        await heard.aclose()
        assert gone == ["gone"]
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(play())


def test_streams_end_with_the_server() -> None:
    async def play() -> None:
        set_principal(owner())
        streams, gone = EventStreams(_welcome), list[str]()
        heard = aiter(streams.respond(_never(gone)).body_iterator)
        await anext(heard)
        streams.close()
        with suppress(StopAsyncIteration):
            while True:
                await anext(heard)
        assert gone == ["gone"]

    asyncio.run(play())
