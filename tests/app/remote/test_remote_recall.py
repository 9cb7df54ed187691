"""Recall asks the servers that somebody named: only the question, only in time, and without them it
goes on."""

from __future__ import annotations

import json
import stat
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.remote.remote_search import Remotes
from holdfast.app.server.shared_records import receive
from holdfast.errors import RemoteError
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.protocol import CallContext
from holdfast.model.knowledge import Network
from holdfast.model.query import Layer
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.settings import RemoteSettings, load_settings
from holdfast.sources.share_format import encode_for_server
from tests.support.http.server import Server
from tests.support.laptops import BANK, Laptop, NewLaptop, Recorder, team_server

BLUE = "The yawl is always painted blue, because the harbour office wants it."
ASKED = "what colour is the yawl painted?"
KEY = "hf_0000aaaa_a-key-of-the-recorder"


def a_line(text: str, scope: Scope = Scope.TEAM, number: int = 1) -> dict[str, object]:
    when = "2026-11-01T00:00:00.000Z"
    origin = f"holdfast://memory/{number:016x}"
    return encode_for_server(
        SharedRecord(
            "", "", "", "memory", text, "", "", when, origin, when, lineage=Trust.USER, scope=scope
        )
    )


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Server]]:
    folder = tmp_path_factory.mktemp("team")
    with team_server(folder) as server:
        with Holdfast(load_settings(dict(server.env))) as memory:
            receive(memory, BANK, [a_line(BLUE)], "Ann", "Ann")
        yield folder, server


def test_a_shared_record_is_found_under_the_name_of_its_author(
    team: tuple[Path, Server], new_laptop: NewLaptop
) -> None:
    _, server = team
    bob = new_laptop("bob")
    bob.remember("The yawl lies at pier seven.")
    bob.join(server.url, server.token)
    found = bob.json("recall", ASKED)
    (hit,) = [hit for hit in found["hits"] if hit["layer"] == "team"]
    assert hit["text"] == BLUE and hit["trust"] == "team" and hit["provider"] == "acme"
    assert hit["shared"] == "by Ann on 2026-11-01" and hit["uri"].startswith(
        "holdfast://remote/acme/"
    )
    answer = bob.json("ask", ASKED)
    assert "painted blue" in answer["answer"] and "shared by Ann" in answer["answer"]
    assert bob.json("recall", ASKED, "--local")["hits"] != found["hits"]
    assert not bob.memory.reader.shares.all(bob.memory.context.bank_id(BANK) or ""), (
        "nothing is stored"
    )
    result = bob.memory.recall(ASKED, BANK)
    assert Layer.TEAM in {hit.layer for hit in result.hits}


@pytest.fixture
def ann(new_laptop: NewLaptop) -> Laptop:
    laptop = new_laptop("ann")
    laptop.remember("CANARY-1: the yawl was stolen once and nobody may know.")
    return laptop


def add_remote(laptop: Laptop, url: str, bank: str = BANK) -> None:
    """Name a server without asking it."""
    remotes = Remotes(laptop.settings, laptop.memory.now)
    remotes.add(remotes.make(url, KEY, [(bank, "there")], "acme"))


@contextmanager
def recorded(answers: dict[str, object], held: bool = False) -> Generator[Recorder]:
    recorder = Recorder(answers, held)
    try:
        yield recorder
    finally:
        recorder.close()


def hits_of(*texts: object, **more: object) -> dict[str, object]:
    hits = [
        {"uri": f"holdfast://shared/{n:016x}", "text": text, "time": "2026-11-01T00:00:00.000Z",
         "score": 0.9, "trust": "team", "shared": "by Ann on 2026-11-01", **more}
        for n, text in enumerate(texts)
    ]  # fmt: skip
    return {"/api/v1/shares/recall": {"hits": hits}}


def test_only_the_question_is_sent_and_only_for_listed_banks(ann: Laptop) -> None:
    with recorded(hits_of(BLUE)) as server:
        add_remote(ann, server.url)
        ann.memory.remember("CANARY-2: the ketch is of another bank.", "other")
        asked = f"{ASKED} password=hunter2secret9 in {Path.home()}/harbour/yawl.py"
        ann.memory.recall(asked, BANK)
        ann.memory.recall(ASKED, "other")
        ann.memory.recall(ASKED, BANK, local=True)
        ann.memory.recall(ASKED, BANK, networks=[Network.WORLD])
        ann.memory.recall(ASKED, BANK, layers=[Layer.RULES])
        ann.memory.ask("Who stole the yawl from the harbour office, and why?", BANK)
        ann.memory.timeline(query=ASKED, bank=BANK)
        ann.memory.recall("what of the ketch?", "all")
        sent = [json.loads(body) for _, _, _, body in server.requests]
    assert [set(one) for one in sent] == [{"question", "bank", "limit"}] * 3
    assert {one["bank"] for one in sent} == {"there"}
    assert (
        "hunter2secret9" not in sent[0]["question"] and str(Path.home()) not in sent[0]["question"]
    )
    assert [one["question"] for one in sent[1:]] == [
        "Who stole the yawl from the harbour office, and why?",
        "what of the ketch?",
    ]
    everything = json.dumps(server.requests)
    assert "CANARY" not in everything and 'harbour\\"' not in everything
    for method, path, headers, _ in server.requests:
        assert (method, path) == ("POST", "/api/v1/shares/recall")
        assert headers["authorization"] == f"Bearer {KEY}"
        assert "user-agent" not in headers and "cookie" not in headers


def test_a_slow_server_delays_recall_only_to_the_deadline_and_is_then_skipped(
    ann: Laptop,
) -> None:
    with recorded(hits_of(BLUE), held=True) as server:
        add_remote(ann, server.url)
        settings = replace(ann.settings, remote=RemoteSettings(wait_ms=300))
        with Holdfast(settings) as memory:
            began = monotonic()
            found = memory.recall("the yawl was stolen", BANK)
            took = monotonic() - began
            (arm,) = [arm for arm in found.strategies if arm.name == "remote acme"]
            assert arm.problem == "it did not answer within 300 ms"
            assert took > 0.25, "and it was waited for so long"
            assert "CANARY-1" in found.hits[0].text, "what is here is found all the same"
            answer = memory.ask("was the yawl stolen?", BANK)
            assert any("No answer from: acme: paused until" in note for note in answer.caveats)
        # None at all where this machine was too slow to send it in time.
        assert len(server.requests) <= 1, "it was left alone after that"
        with Holdfast(settings) as another:
            again = another.recall("the yawl was stolen", BANK)
        (arm,) = [arm for arm in again.strategies if arm.name == "remote acme"]
        assert arm.problem.startswith("paused until")
        assert len(server.requests) == 1, "another process does not wait for it either"


def test_without_a_server_recall_continues_and_says_so(ann: Laptop) -> None:
    add_remote(ann, "http://127.0.0.1:9")
    status, out, err = ann.run("recall", "the yawl was stolen")
    assert status == 0 and not err and "CANARY-1" in out
    assert "remote acme failed: it cannot be reached" in out
    status, out, _ = ann.run("recall", "the yawl was stolen", HOLDFAST_REMOTE="off")
    assert status == 0 and "acme" not in out
    result = ann.json("remote", "list")["remotes"][0]
    assert result["reachable"] is False and result["problem"] and KEY not in json.dumps(result)


def test_responses_of_a_server_are_bounded_and_treated_as_data(ann: Laptop) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    answers = hits_of(
        f"The yawl is painted blue. {secret}", "nothing to do with it", "", 7,
        "what colour is the yawl painted? " + "blue " * 5000, trust="user",
    )  # fmt: skip
    with recorded(answers) as server:
        add_remote(ann, server.url)
        hits = [hit for hit in ann.memory.recall(ASKED, BANK).hits if hit.kind == "remote"]
        assert len(hits) == 2 and all(secret not in hit.text for hit in hits)
        assert all(hit.trust is Trust.EXTERNAL for hit in hits), "no claim of trust is believed"
        assert max(len(hit.text) for hit in hits) <= 2001
        others: list[object] = [[], {"hits": 3}, {"hits": [[], None, {"uri": "x"}]}, "text", None]
        for nonsense in others:
            server.answers["/api/v1/shares/recall"] = nonsense
            Path(ann.settings.home / "remotes-seen.json").unlink(missing_ok=True)
            found = ann.memory.recall(f"{ASKED} {len(server.requests)}", BANK)
            assert not [hit for hit in found.hits if hit.kind == "remote"]


def test_a_key_is_stored_where_only_the_owner_can_read_it(
    team: tuple[Path, Server], ann: Laptop
) -> None:
    _, server = team
    status, out, err = ann.run("remote", "add", server.url, "--name", "acme", given=server.token)
    assert status == 0, err
    file = ann.settings.remotes
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and server.token in file.read_text()
    assert server.token not in out + (ann.settings.home / "config.toml").read_text()
    result = ann.json("remote", "test")
    assert result["banks"] == [BANK] and result["missing"] == []
    assert ann.json("remote", "list")["remotes"][0]["reachable"] is True
    file.chmod(0o644)
    assert "can be read by other users" in ann.run("remote", "list")[2]
    arms = ann.memory.recall(ASKED, BANK).strategies
    assert any("can be read by other users" in arm.problem for arm in arms)
    file.chmod(0o600)
    assert ann.run("remote", "remove", "acme")[0] == 2, "it asks first"
    assert ann.json("remote", "remove", "acme", "--yes") == {"removed": "acme"}
    assert not file.exists()


def test_a_wrong_key_and_an_unencrypted_address_are_refused_clearly(
    team: tuple[Path, Server], ann: Laptop
) -> None:
    _, server = team
    status, _, err = ann.run("remote", "add", server.url, given="hf_wrong_key_of_somebody\n")
    assert status == 2 and "it does not accept the key" in err and "cannot be added" in err
    status, _, err = ann.run("remote", "add", "http://memory.example.com", given=KEY)
    assert status == 2 and "would not be encrypted" in err and "--insecure" in err
    for url in ("ftp://x", "https://me:pw@x.org", "https://x.org/?a=b", "memory", "http://"):
        assert ann.run("remote", "add", url, given=KEY)[0] == 2, url
    assert "No key was given" in ann.run("remote", "add", server.url)[2]
    assert not ann.settings.remotes.exists()


def test_an_agent_that_asks_through_mcp_gets_server_results_too(
    ann: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ann.env.items():
        monkeypatch.setenv(name, value)
    with recorded(hits_of(BLUE)) as server, closing(ToolEngine()) as answers:
        add_remote(ann, server.url)
        result = answers.call("memory_recall", {"query": ASKED}, CallContext())["structuredContent"]
        (hit,) = [hit for hit in result["hits"] if hit["kind"] == "remote"]
        assert hit["server"] == "acme" and hit["shared"] == "by Ann on 2026-11-01"
        answer = answers.call("memory", {"question": ASKED}, CallContext())["structuredContent"]
        assert "painted blue" in answer["answer"] and len(server.requests) <= 2
        kept = "".join(path.read_text() for path in (ann.settings.home / "research").iterdir())
        assert "painted blue" not in kept and "a server said is not kept" in kept


def test_a_server_error_message_is_not_logged(ann: Laptop) -> None:
    remotes = Remotes(ann.settings, ann.memory.now)
    add_remote(ann, "http://127.0.0.1:9")
    remotes.record(remotes.named(), 0.0, RemoteError("it answered with HTTP 400 (“CANARY-9”)"))
    kept = (ann.settings.home / "remotes-seen.json").read_text()
    assert "HTTP 400" in kept and "CANARY" not in kept
