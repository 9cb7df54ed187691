"""A server for a team decides by the key: whose a record is, and who may read it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from holdfast.model.team import Scope, SharedRecord
from holdfast.sources.share_format import encode_for_server, line_hash
from tests.support.http.team import Team, cli, new_key, team_serving
from tests.support.laptops import BANK, Laptop, NewLaptop, environment
from tests.support.waiting import wait_until

OFFICE = "office"
BLUE = "The yawl is always painted blue, because the harbour office wants it."
HOLIDAY = "Everybody is off on the day the yawl is launched."
CANARY = "CANARY: the yawl was painted by mistake."


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("keys")
    env = environment(folder / "server")
    for bank in (BANK, OFFICE):
        cli(env, "remember", f"{CANARY} ({bank})", "--bank", bank)
    with team_serving(env, folder) as made:
        yield made


def laptop(new_laptop: NewLaptop, team: Team, name: str, bank: str, level: str = "write") -> Laptop:
    """A laptop with a key of its own for one bank."""
    made = new_laptop(name.lower())
    made.remember("The sloop is small.")
    key = new_key(team.env, "--name", name, "--bank", bank, "--level", level)
    made.join(team.url, key, bank=f"{BANK}={bank}")
    return made


def recalled(one: Laptop, question: str) -> list[tuple[str, str]]:
    hits = one.json("recall", question)["hits"]
    return [(hit["text"], hit["shared"][:6]) for hit in hits if hit["kind"] == "remote"]


def test_the_key_decides_the_author_and_the_readers_of_a_record(
    new_laptop: NewLaptop, team: Team
) -> None:
    ana = laptop(new_laptop, team, "Ana", BANK)
    bob = laptop(new_laptop, team, "Bob", OFFICE)
    carl = laptop(new_laptop, team, "Carl", BANK, "read")
    result = ana.json("share", ana.remember(BLUE), "--to", "acme", "--yes")
    assert result["sent"] == 1, result
    asked = "how is the yawl painted?"
    assert recalled(carl, asked) == [(BLUE, "by Ana")], "and not what was only remembered there"
    assert recalled(bob, asked) == []
    ana.json("share", ana.remember(HOLIDAY), "--to", "acme", "--yes", "--scope", "organisation")
    asked = "is everybody off when the yawl is launched?"
    assert recalled(carl, asked) == recalled(bob, asked) == [(HOLIDAY, "by Ana")]
    result = carl.json("share", carl.remember("The ketch leaks."), "--to", "acme", "--yes")
    assert result["sent"] == 0 and result["waiting"] == 1 and "may not do this" in result["problem"]


def test_a_key_cannot_read_or_withdraw_records_of_others(new_laptop: NewLaptop, team: Team) -> None:
    dora = laptop(new_laptop, team, "Dora", BANK)
    name = dora.remember("The schooner is insured in Kiel.")
    dora.json("share", name, "--to", "acme", "--yes")
    eve = laptop(new_laptop, team, "Eve", OFFICE)
    sent = {"bank": BANK, "question": "where is the schooner insured?"}
    key = json.loads(eve.settings.remotes.read_text())["remotes"][0]["key"]
    for bank in (BANK, "nowhere"):
        got = team.ask("/api/v1/shares/recall", key, {**sent, "bank": bank})
        assert got.status == 404 and "schooner" not in got.text
        assert team.ask("/api/v1/shares", key, {"bank": bank, "shares": []}).status == 404
    for bank in ("organisation", "all"):
        assert team.ask("/api/v1/shares/recall", key, {**sent, "bank": bank}).status in (400, 404)
    fay = new_key(team.env, "--name", "Fay", "--bank", BANK, "--level", "write")
    gone = SharedRecord(
        "", "", "", "", "", "Dora", "Dora", "2026-11-15T00:00:00.000Z", name, gone=True,
        scope=Scope.TEAM,
    )  # fmt: skip
    claims = {**encode_for_server(gone), "by": "Dora", "email": "Dora"}
    claims = {**claims, "id": line_hash(claims)}
    got = team.ask("/api/v1/shares", fay, {"bank": BANK, "shares": [claims]})
    assert got.status == 200, got.text
    assert json.loads(got.text)["shares"][0]["state"] == "known", "of Fay's there is none"
    gus = laptop(new_laptop, team, "Gus", BANK, "read")
    assert [by for _, by in recalled(gus, "where is the schooner insured?")] == ["by Dor"]


def test_a_revoked_key_or_one_for_another_bank_is_reported_clearly(
    new_laptop: NewLaptop, team: Team
) -> None:
    hal = laptop(new_laptop, team, "Hal", BANK)
    key = json.loads(hal.settings.remotes.read_text())["remotes"][0]["key"]
    assert cli(team.env, "key", "revoke", key.split("_")[1]).returncode == 0

    def refusal() -> str:
        status, _, err = hal.run("remote", "test")
        return err if status else ""

    err = wait_until(refusal, "the server notices that the key was revoked")
    assert "it does not accept the key; it may have expired" in err
    result = hal.json("recall", "the sloop is small")
    assert result["hits"] and any("paused until" in arm["problem"] for arm in result["strategies"])
    ida = new_laptop("ida")
    ida.remember("The sloop is small.")
    other = new_key(team.env, "--name", "Ida", "--bank", OFFICE)
    status, out, _ = ida.run("remote", "add", team.url, "--name", "acme", given=other)
    assert status == 0 and f"It has no bank {BANK} for this key; it has: {OFFICE}." in out
