"""Every kind of link is listed by each interface that shows links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.graph import LinkKind
from holdfast.operations.entities import entity
from holdfast.recall.links.linked_records import linked_records
from holdfast.settings import Settings
from tests.support.command_line import runner

pytestmark = pytest.mark.model

TEXTS = (
    "The TokenCache failed under load.",
    "SessionGuard failed because the TokenCache failed under load.",
    "RetryLedger was added so that the QueueMigrator can start.",
    "The QueueMigrator has begun its work.",
    "The RetryLedger prevents that the TokenCache fails again.",
    "Logins are kept by the TokenCache for an hour.",
    "The TokenCache keeps logins for one hour.",
)
# Of each kind an entity whose records are linked so.
NAMED = ("TokenCache", "QueueMigrator")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    home = tmp_path_factory.mktemp("links")
    ticks = count()
    settings = Settings(home=home, claude_dir=home / "claude", bank="proj")
    with Holdfast(settings, now=lambda: f"2026-11-01T00:{next(ticks) % 60:02}:00.000Z") as made:
        for text in TEXTS:
            made.remember(text)
        made.ingestion.embed()
        yield made


def test_all_seven_kinds_of_links_are_found_from_the_records(memory: Holdfast) -> None:
    kept = memory.reader.memories.remembered(memory.context.ensure_bank("proj"), 10)
    assert len(kept) == len(TEXTS)
    found = [link for one in kept for link in linked_records(
        memory.reader, one, memory.settings.vectors)]  # fmt: skip
    assert {link.kind for link in found} == set(LinkKind)
    assert all(link.title in TEXTS and link.time for link in found)


def test_all_seven_kinds_of_links_are_listed_with_an_entity(memory: Holdfast) -> None:
    links = [link for name in NAMED for link in entity(memory, name, "proj").links]
    assert {link.kind for link in links} == set(LinkKind)


def test_the_command_line_prints_all_seven_kinds_of_links(
    memory: Holdfast, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(memory.settings.home))
    run = runner(capsys)
    kinds = {kind.value.replace("_", " ") for kind in LinkKind}
    printed = "".join(run("entity", name, "--bank", "proj")[1] for name in NAMED)
    assert {kind for kind in kinds if f" {kind} " in printed} == kinds
    kept = memory.reader.memories.remembered(memory.context.ensure_bank("proj"), 10)
    shown = "".join(run("show", one.id, "--links")[1] for one in kept)
    assert {kind for kind in kinds if f"\n{kind}:" in shown} == kinds
    status, text = run("show", kept[0].id, "--links", "--json")
    assert status == 0 and json.loads(text)["links"][0]["uri"].startswith("holdfast://")
    assert json.loads(run("show", kept[0].id, "--json")[1])["links"] is None
