"""A server takes what is handed in, in the name of the key, and tells it to who may read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.server.shared_records import ORGANISATION_BANK, recall_shared, receive
from holdfast.errors import HoldfastError
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.settings import load_settings
from holdfast.sources.share_format import encode_for_server, line_hash
from tests.support.empty_memory import with_empty_memory
from tests.support.laptops import BANK, environment

BLUE = "The yawl is always painted blue, because the harbour office wants it."
ASKED = "how is the yawl painted?"
DAY = "2026-11-0{}T00:00:00.000Z"


def line(text: str = BLUE, scope: str = "team", day: int = 1, **more: Any) -> dict[str, Any]:
    shared = SharedRecord(
        "", "", "", "memory", text, "", "", DAY.format(day), "holdfast://memory/01", DAY.format(1),
        lineage=Trust.USER, scope=Scope.TEAM, gone=bool(more.pop("gone", False)),
    )  # fmt: skip
    result = {**encode_for_server(shared), "scope": scope, **more}
    return {**result, "id": line_hash(result)}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with Holdfast(with_empty_memory(load_settings(environment(tmp_path / "server")))) as made:
        for bank in (BANK, "office"):
            made.remember(f"CANARY: the yawl of {bank} is painted in secret.", bank)
        yield made


def take(memory: Holdfast, *lines: dict[str, Any], who: str = "Ann", bank: str = BANK) -> list[str]:
    return [one.why or one.state for one in receive(memory, bank, lines, who, who)]


def shared_texts(memory: Holdfast, bank: str = BANK) -> list[str]:
    return [one.text for one in recall_shared(memory, ASKED, bank, 10)]


def test_the_same_line_is_stored_once_under_the_name_of_the_key(memory: Holdfast) -> None:
    claims = line(by="Zoe", email="zoe@x.org", trust="user")
    assert take(memory, claims, claims) == ["taken", "taken"]
    assert take(memory, claims) == ["known"]
    (record,) = memory.reader.shares.all(memory.context.bank_id(BANK) or "")
    assert (record.author, record.email) == ("Ann", "Ann")
    assert (record.trust, record.lineage) == (Trust.TEAM, Trust.TEAM), "claims are not believed"
    assert take(memory, claims, who="Bob") == ["taken"], "Bob's is another matter"
    assert take(memory, line(gone=True, day=3), who="Bob") == ["taken"]
    assert [one.author for one in memory.reader.shares.all(memory.context.bank_id(BANK) or "")] == [
        "Ann"
    ]
    (hit,) = recall_shared(memory, ASKED, BANK, 10)
    assert (hit.trust, hit.shared, hit.scope) == (Trust.TEAM, "by Ann on 2026-11-01", Scope.TEAM)


def test_the_latest_version_wins_whatever_the_order_of_lines(memory: Holdfast) -> None:
    assert take(memory, line("The yawl is painted red.", day=2)) == ["taken"]
    assert take(memory, line(day=1)) == ["known"] and shared_texts(memory) == [
        "The yawl is painted red."
    ]
    assert take(memory, line(gone=True, day=3)) == ["taken"] and shared_texts(memory) == []
    assert take(memory, line("The yawl is painted red.", day=2)) == ["known"]
    assert take(memory, line(day=4)) == ["taken"] and shared_texts(memory) == [BLUE]


@pytest.mark.slow
def test_records_for_all_are_visible_to_all_and_others_to_readers_of_their_bank(
    memory: Holdfast,
) -> None:
    take(memory, line())
    assert (shared_texts(memory), shared_texts(memory, "office")) == ([BLUE], [])
    take(memory, line(scope="organisation", day=2))
    assert (shared_texts(memory), shared_texts(memory, "office")) == ([BLUE], [BLUE])
    assert memory.reader.shares.all(memory.context.bank_id(BANK) or "") == [], (
        "it lies in one place"
    )
    take(memory, line(scope="project", day=3))
    assert (shared_texts(memory), shared_texts(memory, "office")) == ([BLUE], [])
    take(memory, line(scope="organisation", day=4))
    take(memory, line(gone=True, day=5))
    assert (shared_texts(memory), shared_texts(memory, "office")) == ([], [])
    assert memory.reader.banks.get(ORGANISATION_BANK) is not None


@pytest.mark.slow
def test_a_record_without_a_scope_is_not_visible(memory: Holdfast) -> None:
    assert shared_texts(memory) == [], "what is only remembered there is nobody else's"
    take(memory, line())
    store, bank = memory.store, memory.context.bank_id(BANK) or ""
    (record,) = store.shares.current(bank)
    for scope in (Scope.PERSONAL, "galaxy"):
        with store.transaction():
            (taking,) = store.shares.imports(bank)[:1]
            other = replace(record, id=f"{scope:x<16}"[:16], text=f"{BLUE} {scope}")
            changed = replace(other, scope=scope)  # type: ignore[arg-type]
            store.shares.put_import(taking._replace(id=f"t{scope}"), [changed])
    assert shared_texts(memory) == [BLUE]


@pytest.mark.slow
def test_invalid_lines_are_refused_and_valid_ones_are_stored(memory: Holdfast) -> None:
    wrong = {**line(), "text": "changed on the way"}
    without = {key: value for key, value in line().items() if key != "scope"}
    lines = [
        line(scope="personal"), line(scope="galaxy"), {**without, "id": line_hash(without)}, wrong,
        line(kind="rule"), line(v=2), line("x" * 70_000), line(shared="2099-01-01T00:00:00Z"),
        {}, {"id": 7}, {"scope": ["team"]}, line(files="a"), line(),
    ]  # fmt: skip
    states = take(memory, *lines)
    assert states[-1] == "taken" and "taken" not in states[:-1], states
    assert states[3] == "its id is not the hash of its content"
    assert states[7] == "dated in the future"
    assert len(memory.reader.shares.all(memory.context.bank_id(BANK) or "")) == 1
    secret = "AKIAIOSFODNN7EXAMPLE"
    take(memory, line(f"The yawl is painted blue with {secret}.", day=2))
    assert secret not in shared_texts(memory)[0]
    memory.erasure.purge(
        "shared/" + memory.reader.shares.all(memory.context.bank_id(BANK) or "")[0].id
    )
    assert take(memory, line(day=3)) == ["erased"]
    for bank in ("all", "nowhere", ""):
        with pytest.raises(HoldfastError):
            receive(memory, bank, [line()], "Ann", "Ann")
