"""What is shared with a server gets there once, whatever happens on the way, and nothing else
does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.remote.outbox import Outbox, push_due
from holdfast.app.remote.remote_search import Remotes
from holdfast.errors import InputError, NotFoundError
from holdfast.model.team import Scope
from holdfast.sources.remote.remote_config import Remote
from holdfast.sources.share_format import line_hash
from holdfast.store.records.outbox import OutboxState
from tests.support.laptops import BANK, Gate, Laptop, NewLaptop, Recorder, Service

BLUE = "The yawl is always painted blue, because the harbour office wants it."
ASKED = "what colour is the yawl painted?"
KEY = "hf_0000aaaa_a-key-of-the-recorder"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path)
    yield made
    made.kill()


@pytest.fixture
def ann(new_laptop: NewLaptop) -> Laptop:
    return new_laptop("ann")


def add_remote(laptop: Laptop, url: str, key: str = KEY) -> Remote:
    """Name a server without asking it."""
    remotes = Remotes(laptop.settings, laptop.memory.now)
    remote = remotes.make(url, key, [(BANK, BANK)], "acme")
    remotes.add(remote)
    return remote


def send(laptop: Laptop, remote: Remote, *names: str, scope: Scope = Scope.TEAM) -> None:
    post = Outbox(laptop.memory.context)
    post.queue(post.plan_send(names, remote, scope, bank=BANK))


def states(laptop: Laptop) -> list[str]:
    return [parcel.state.value for parcel in laptop.memory.reader.outbox.items()]


def test_two_laptops_share_and_withdraw_records_through_a_server(
    new_laptop: NewLaptop, service: Service, ann: Laptop
) -> None:
    bob = new_laptop("bob")
    bob.remember("The sloop is small.")
    for laptop in (ann, bob):
        laptop.join(service.url, service.token)
    name = ann.remember(BLUE)
    result = ann.json("share", name, "--to", "acme", "--yes", "--note", "mind this")
    assert (result["sent"], result["waiting"], result["plan"]["scope"]) == (1, 0, "team")
    again = ann.json("share", name, "--to", "acme", "--yes", "--note", "mind this")
    assert again["plan"]["same"] == [name]
    (hit,) = bob.json("recall", ASKED)["hits"]
    assert hit["text"].startswith(BLUE) and hit["provider"] == "acme"
    (own,) = ann.json("recall", ASKED)["hits"]
    assert own["kind"] == "memory", "nobody is told what is their own"
    ann.memory.correct(name, "The yawl is painted red.")
    assert ann.json("share", name, "--to", "acme", "--yes")["sent"] == 1
    assert [hit["text"] for hit in bob.json("recall", ASKED)["hits"]] == [
        "The yawl is painted red."
    ]
    status, out, _ = ann.run("unshare", name, "--to", "acme", "--yes")
    assert status == 0 and "acme withdrew it" in out and "has it" not in out
    assert bob.json("recall", ASKED)["hits"] == []
    assert [one.gone for one in service.shared()] == [True] and states(ann) == []
    status, _, err = bob.run("unshare", name, "--to", "acme", "--yes")
    assert status == 2 and "was sent there" in err


def test_records_shared_while_offline_wait_and_arrive_once(service: Service, ann: Laptop) -> None:
    ann.join(service.url, service.token)
    service.kill()
    name, other = ann.remember(BLUE), ann.remember("The ketch is tarred in May.")
    result = ann.json("share", name, other, "--to", "acme", "--yes")
    assert (
        result["sent"] == 0 and result["waiting"] == 2 and "cannot be reached" in result["problem"]
    )
    assert "CANNOT" not in ann.run("recall", ASKED)[1] and states(ann) == ["waiting"] * 2
    assert push_due(ann.memory.context) == "", "it is not tried again at once"
    assert ann.json("unshare", other, "--to", "acme", "--yes")["waiting"] == 2
    service.start()
    assert ann.run("remote", "push")[0] == 0
    assert [one.text for one in service.shared() if not one.gone] == [BLUE]
    assert ann.json("remote", "push")["acme"]["sent"] == 0 and service.rows() == 1
    assert ann.json("remote", "list")["remotes"][0]["sent"] == 1


@pytest.mark.slow
def test_a_server_killed_during_a_push_ends_with_each_record_once(
    service: Service, ann: Laptop
) -> None:
    """The second portion dies with the server before it is taken; of the third, the answer is lost
    although it was taken."""

    def on(number: int, what: str) -> bool:
        if number == 2 and what == "request":
            service.kill()
            return False
        return not (number == 4 and what == "answer")

    with closing(Gate(service.url, on)) as gate:
        remote = add_remote(ann, gate.url, service.token)
        names = [ann.remember(f"The boat {n} lies at pier {n}.") for n in range(50)]
        send(ann, remote, *names)
        first = Outbox(ann.memory.context).push()["acme"]
        assert (first.sent, first.waiting) == (20, 30) and first.problem
        service.start()
        second = Outbox(ann.memory.context).push()["acme"]
        assert (second.sent, second.waiting) == (20, 10) and second.problem
        assert len(service.shared()) == 50 and states(ann).count("waiting") == 10
        last = Outbox(ann.memory.context).push()["acme"]
        assert (last.sent, last.waiting, last.problem) == (10, 0, "")
    assert len(service.shared()) == service.rows() == 50
    assert {one.text for one in service.shared()} == {
        f"The boat {n} lies at pier {n}." for n in range(50)
    }
    assert states(ann) == ["sent"] * 50
    assert not any(parcel.line for parcel in ann.memory.reader.outbox.items()), "no words are left"


def test_a_long_push_is_split_into_requests_that_the_server_accepts(ann: Laptop) -> None:
    # A letter of two bytes takes six in a request, so twenty such texts are more than a million.
    names = [ann.remember(f"{n}: " + "лодка " * 1700) for n in range(20)]
    with closing(Recorder({"/api/v1/shares": take_all})) as server:
        send(ann, add_remote(ann, server.url), *names)
        assert Outbox(ann.memory.context).push()["acme"].sent == 20
        sizes = [len(body) for _, _, _, body in server.requests]
    assert sum(sizes) > 1_000_000 and max(sizes) < 500_000
    assert len(sizes) == 3


def test_a_bank_no_longer_listed_does_not_block_the_others(ann: Laptop) -> None:
    with closing(Recorder({"/api/v1/shares": take_all})) as server:
        remotes = Remotes(ann.settings, ann.memory.now)
        both = remotes.make(server.url, KEY, [("sloops", "sloops"), (BANK, BANK)], "acme")
        post = Outbox(ann.memory.context)
        for bank in ("sloops", BANK):
            made = ann.memory.remember(f"The {bank} are blue.", bank).id
            post.queue(post.plan_send([f"holdfast://memory/{made}"], both, bank=bank))
        add_remote(ann, server.url)
        result = post.push()["acme"]
        assert (result.sent, result.waiting) == (1, 1)
        assert result.problem == "the server no longer lists the bank"
        assert [one["text"] for one in sent_to(server)] == [f"The {BANK} are blue."]


def take_all(sent: Any) -> dict[str, object]:
    """Answer as if everything was taken."""
    known = [(share["id"], f"holdfast://shared/{share['id'][:16]}") for share in sent["shares"]]
    return {"shares": [{"id": id, "state": "taken", "uri": uri} for id, uri in known]}


def sent_to(server: Recorder) -> list[dict[str, Any]]:
    return [
        share
        for _, path, _, body in server.requests
        if path == "/api/v1/shares"
        for share in json.loads(body)["shares"]
    ]


@pytest.mark.slow
def test_a_server_never_receives_records_that_were_not_shared(ann: Laptop) -> None:
    canaries = [ann.remember(f"CANARY-{n}: the yawl is known to have a leak.") for n in range(5)]
    name = ann.remember(BLUE)
    with closing(Recorder({"/api/v1/banks": {"banks": [{"name": BANK}]}})) as server:
        ann.join(server.url, KEY)
        ann.run("share", name, "--to", "acme", "--yes", "--dry-run")
        assert not sent_to(server)
        ann.run("share", canaries[0], "--to", "acme", "--dry-run")
        ann.run("share", canaries[1], "--to", "acme")  # nobody says yes
        ann.run("share", name, "--to", "acme", "--yes")
        for command in (
            ("recall", ASKED), ("ask", "who leaks about the yawl?"), ("remote", "list"),
            ("remote", "push"), ("remote", "test"), ("status",), ("doctor",), ("brief",),
            ("timeline", "--query", "yawl leak"), ("worker",), ("recall", "leak", "--bank", "all"),
        ):  # fmt: skip
            ann.run(*command)
        ann.memory.forget(canaries[2])
        ann.run("unshare", name, "--to", "acme", "--yes")
        everything = json.dumps(server.requests)
        assert BLUE in everything and "CANARY" not in everything
        paths = {path for _, path, _, _ in server.requests}
        assert paths == {"/api/v1/banks", "/api/v1/shares", "/api/v1/shares/recall"}
        for share in sent_to(server):
            assert set(share) <= {
                "v", "id", "origin", "shared", "kind", "text", "time", "trust", "scope", "gone",
            }  # fmt: skip
            assert share["origin"] == name and share["id"] == line_hash(share)


def test_records_forgotten_erased_or_withdrawn_before_sending_are_never_sent(
    ann: Laptop,
) -> None:
    remote = add_remote(ann, "http://127.0.0.1:9")
    one, two, three, four = (ann.remember(f"The boat {n} is tarred.") for n in range(4))
    send(ann, remote, one, two, three, four)
    ann.memory.forget(one)
    ann.memory.erasure.purge(two)
    post = Outbox(ann.memory.context)
    post.queue(post.plan_withdrawal([three], remote))
    with closing(Recorder({})) as server:
        Remotes(ann.settings, ann.memory.now).remove(remote)
        add_remote(ann, server.url)
        done = post.push()["acme"]
        assert done.dropped == 1 and done.problem, "it is not a Holdfast server"
        assert [share["origin"] for share in sent_to(server)] == [four]
        server.answers["/api/v1/shares"] = take_all
        assert post.push()["acme"].sent == 1 and states(ann) == ["sent"]
        ann.memory.erasure.purge(four)
        (gone,) = ann.memory.reader.outbox.items("acme")[-1:]
        assert gone.gone and gone.state is OutboxState.WAITING, "what is erased here, is there"
        assert "tarred" not in "".join(parcel.line for parcel in ann.memory.reader.outbox.items())
        post.push()
    assert states(ann) == [] and sent_to(server)[-1]["gone"] is True


def test_only_records_with_a_scope_in_a_listed_bank_are_sent(ann: Laptop) -> None:
    remote = add_remote(ann, "http://127.0.0.1:9")
    name = ann.remember(BLUE)
    post = Outbox(ann.memory.context)
    with pytest.raises(InputError, match="Personal records are not sent"):
        post.plan_send([name], remote, Scope.PERSONAL, bank=BANK)
    other = f"holdfast://memory/{ann.memory.remember('The sloop is small.', 'other').id}"
    with pytest.raises(InputError, match="is not listed with acme"):
        post.plan_send([other], remote, bank="other")
    with pytest.raises(NotFoundError):
        post.plan_withdrawal([name], remote)
    assert ann.run("share", name, "--scope", "organisation")[0] == 2, "a branch is for the project"
    assert ann.memory.reader.outbox.items() == []


def test_the_worker_sends_what_is_pending_and_the_doctor_reports_what_cannot_be_sent(
    ann: Laptop,
) -> None:
    add_remote(ann, "http://127.0.0.1:9")
    remote = Remotes(ann.settings, ann.memory.now).named()
    name = ann.remember(BLUE)
    send(ann, remote, name)
    assert (
        push_due(ann.memory.context)
        == "1 wait for acme: it cannot be reached, or is not an HTTP server"
    )
    (parcel,) = ann.memory.reader.outbox.items()
    assert parcel.attempts == 1 and parcel.not_before > ann.memory.now()
    with ann.memory.store.transaction():
        ann.memory.store.outbox.put(parcel._replace(attempts=6, not_before=""))

    def remote_sentences() -> list[str]:
        _, out, _ = ann.run("doctor", "--json")
        checks = json.loads(out)["checks"]
        return [check["sentence"] for check in checks if check["name"] == "remotes"]

    assert remote_sentences()[0].startswith(
        "1 of your shared records could not be sent to acme: it cannot be"
    )
    with closing(Recorder({"/api/v1/shares": take_all})) as server:
        Remotes(ann.settings, ann.memory.now).remove(remote)
        add_remote(ann, server.url)
        assert ann.run("worker", HOLDFAST_REMOTE="off")[0] == 0 and states(ann) == ["waiting"]
        assert ann.run("worker")[0] == 0
        assert states(ann) == ["sent"] and [one["text"] for one in sent_to(server)] == [BLUE]
    assert remote_sentences() == ["No team server fails."]
