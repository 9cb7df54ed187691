"""What holds for every agent: each sample is read to its last line, once, and opens again."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.model.ledgers.lines import SkipReason
from holdfast.model.records import Role
from holdfast.model.trust import Trust
from holdfast.recall.lookup.trace import RawState, raw_line
from holdfast.sources.agent import UserEnvironment
from holdfast.sources.draft import DraftSession, FileInfo
from holdfast.sources.registry import DEFAULT_AGENT, agents
from tests.support.agent_samples import RECORDED, copy, open_memory, sessions, turns
from tests.support.memory_dump import dump

OTHERS = [name for name in agents() if name != DEFAULT_AGENT]


@pytest.mark.parametrize("name", OTHERS)
def test_every_line_of_the_samples_has_an_outcome_and_a_known_kind(
    name: str, tmp_path: Path
) -> None:
    folder = copy(name, tmp_path)
    with open_memory(tmp_path) as memory:
        account = memory.ingest(memory.ingestion.find([folder]))
        balance = memory.inventory.balance()

    skipped = balance.skipped or {}
    assert account.lines == account.captured + account.skipped + account.failed > 0
    assert balance.lines == balance.accounted == account.lines
    assert balance.failed == 0
    assert SkipReason.UNKNOWN_TYPE.value not in skipped
    assert SkipReason.ORPHAN_RESULT.value not in skipped


@pytest.mark.parametrize("name", OTHERS)
def test_every_turn_opens_its_raw_line(name: str, tmp_path: Path) -> None:
    folder = copy(name, tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        opened = [(turn, raw_line(memory.reader, turn)) for turn in turns(memory)]

    assert opened
    for turn, raw in opened:
        assert raw is not None and raw.state is RawState.PRESENT, turn


@pytest.mark.parametrize("name", OTHERS)
def test_sessions_name_their_agent_and_share_the_bank_of_their_project(
    name: str, tmp_path: Path
) -> None:
    folder = copy(name, tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        found = sessions(memory)
        names = {bank.id: bank.name for bank in memory.reader.banks.all()}

    assert {one.agent for one in found} == {name}
    assert {names[one.bank] for one in found} == {"proj"}
    assert all(one.started and one.cwd == "/home/dev/proj" for one in found)


@pytest.mark.parametrize("name", OTHERS)
def test_reading_the_samples_twice_stores_them_once(name: str, tmp_path: Path) -> None:
    folder = copy(name, tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        before = dump(tmp_path / "holdfast" / "memory.db")
        again = memory.ingest(memory.ingestion.find([folder]))

        assert again.lines == 0
        assert dump(tmp_path / "holdfast" / "memory.db") == before


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_the_folders_of_an_agent_are_known_on_every_system(name: str, system: str) -> None:
    home = Path("/home/dev")
    env = {"APPDATA": "/home/dev/AppData/Roaming", "LOCALAPPDATA": "/home/dev/AppData/Local"}

    folders = agents()[name].folders(
        UserEnvironment(home, env if system == "win32" else {}, system)
    )

    assert folders
    assert all(home in folder.parents for folder in folders)


def test_each_agent_has_a_sample() -> None:
    assert sorted(folder.name for folder in RECORDED.iterdir()) == sorted(OTHERS)


SUMMARY = "## Discoveries\n- Rows came twice."
COMPACTIONS: dict[str, dict[str, object]] = {
    "codex": {"type": "compacted", "payload": {"message": SUMMARY}},
    "copilot": {
        "type": "session.compaction_complete",
        "id": "e1",
        "data": {"summaryContent": SUMMARY},
    },
    "opencode": {
        "message": {"role": "assistant", "summary": True},
        "part": {"id": "p1", "type": "text", "text": SUMMARY},
    },
    "claude-code": {
        "type": "user",
        "uuid": "u1",
        "isCompactSummary": True,
        "message": {"content": SUMMARY},
    },
}


@pytest.mark.parametrize("name", COMPACTIONS)
def test_a_summary_of_any_agent_is_its_own_and_no_message(name: str) -> None:
    file = FileInfo("/x", name, "s1", "/home/dev/proj", DraftSession("s1", "s1"))
    time = {"timestamp": "2026-07-01T00:00:00.000Z"}
    (turn,) = agents()[name].read_record({**COMPACTIONS[name], **time}, file).turns
    assert (turn.role, turn.trust, turn.text) == (Role.SUMMARY, Trust.ASSISTANT, SUMMARY)


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("codex", {"type": "compacted", "payload": {"message": "", "replacement_history": []}}),
        ("copilot", {"type": "session.compaction_start", "data": {}}),
        ("opencode", {"message": {"role": "user"}, "part": {"type": "compaction", "auto": True}}),
    ],
)
def test_a_compaction_without_a_summary_is_skipped(name: str, record: dict[str, object]) -> None:
    file = FileInfo("/x", name, "s1", "/home/dev/proj", DraftSession("s1", "s1"))
    assert agents()[name].read_record(record, file).reason == SkipReason.COMPACTION.value
