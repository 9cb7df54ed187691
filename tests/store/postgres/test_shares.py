"""A team's server on PostgreSQL takes what people share as one on a file does."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.memory import Holdfast
from holdfast.app.server.shared_records import recall_shared, receive
from holdfast.model.team import Scope, SharedRecord
from holdfast.model.trust import Trust
from holdfast.settings import load_settings
from holdfast.sources.share_format import encode_for_server
from tests.support.postgres_server import Server

DAY = "2026-11-0{}T00:00:00.000Z"


def line(text: str, scope: Scope, day: int, gone: bool = False) -> dict[str, object]:
    return encode_for_server(
        SharedRecord(
            "",
            "",
            "",
            "memory",
            text,
            "",
            "",
            DAY.format(day),
            "holdfast://memory/01",
            DAY.format(1),
            lineage=Trust.USER,
            scope=scope,
            gone=gone,
        )
    )


def test_shares_are_stored_once_change_scope_and_can_be_withdrawn(
    postgres: Server, tmp_path: Path
) -> None:
    given = {
        "HOME": str(tmp_path),
        "HOLDFAST_EMBEDDER": "none",
        "HOLDFAST_STORE": postgres.database(),
    }
    with Holdfast(load_settings(given)) as memory:
        for bank in ("harbour", "office"):
            memory.remember("The yawl is painted in secret.", bank)

        def shared_texts() -> list[list[str]]:
            asked = "how is the yawl painted?"
            return [
                [one.text for one in recall_shared(memory, asked, bank, 5)]
                for bank in ("harbour", "office")
            ]

        def take(scope: Scope, day: int, gone: bool = False) -> str:
            lines = [line("The yawl is painted blue.", scope, day, gone)]
            return receive(memory, "harbour", lines, "Ann", "Ann")[0].state

        assert (take(Scope.TEAM, 1), take(Scope.TEAM, 1)) == ("taken", "known")
        assert shared_texts() == [["The yawl is painted blue."], []]
        assert take(Scope.ORGANISATION, 2) == "taken"
        assert shared_texts() == [["The yawl is painted blue."]] * 2
        assert take(Scope.TEAM, 3, gone=True) == "taken" and shared_texts() == [[], []]
