"""A session and a topic, handed over on one page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.interfaces.cli.main import main
from holdfast.operations.briefs import handoff as hand_off
from tests.support.sample_memory import exchange_about, memory_with_session, open_memory
from tests.support.transcripts import Script

SESSION = "44444444-0000-4000-8000-000000000001"
GUESS = "The xebec loader probably fails because the disk is full."


def voyage_session() -> Script:
    script = Script(SESSION)
    script.user("Please find out why the xebec loader fails at night. It has failed since Monday.")
    script.assistant(GUESS)
    script.tool("Bash", "Filesystem 10% used", command="df -h")
    script.assistant(
        "The disk is not full, so that was wrong. The root cause is that the tide table is locked."
    )
    script.tool(
        "Edit", "ok", file_path="/home/dev/proj/src/xebec.py", old_string="a", new_string="b"
    )
    script.user("We decided to always take the tide lock first, because the office locks it too.")
    script.assistant("Understood: the xebec loader always takes the tide lock first.")
    script.user("Now rename the ketch module, the key is /home/dev/.ssh/key, ghp_" + "a1B2" * 10)
    script.tool("Bash", "error: no such module", error=True, command="git mv ketch mizzen")
    return script


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with open_memory(tmp_path) as opened:
        path = voyage_session().write(tmp_path / "claude" / "projects")
        opened.ingest(opened.ingestion.find([path]))
        yield opened


def section(page: str, title: str) -> str:
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_a_handoff_fits_on_one_page(memory: Holdfast) -> None:
    pack = hand_off(memory, SESSION[:8])
    page = pack.page
    assert page.startswith("# Hand-off: ") and pack.kind == "session"
    assert "why the xebec loader fails at night. It has failed since" in section(page, "Goal")
    assert "Last: " in section(page, "State")
    assert "always take the tide lock first" in section(page, "Decisions")
    assert "probably" in section(page, "Dead ends")
    assert "a guess that was wrong" in section(page, "Dead ends")
    assert "`src/xebec.py`: changed 1×" in section(page, "Files")
    assert "ghp_a1B2" not in page and "/home/dev" not in page
    assert hand_off(memory, SESSION[:8]) == pack, "the same memory, the same page"


def test_every_line_of_a_handoff_names_a_record_that_opens(memory: Holdfast) -> None:
    pack = hand_off(memory, "xebec loader")
    page = pack.page
    assert pack.kind == "topic" and pack.sources
    for source in pack.sources:
        assert memory.show(source.uri).record
        assert f"`{source.uri}`" in section(page, "Sources")
    told = [p for part in (pack.goal, pack.state, pack.decisions, pack.dead_ends) for p in part]
    assert told and all(point.uri for point in told)
    assert "mizzen" not in section(page, "Decisions")


def test_an_empty_section_says_so(tmp_path: Path) -> None:
    script = Script(SESSION)
    script.user("Say hello to the harbour.")
    script.assistant("Hello, harbour.")
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([script.write(tmp_path / "claude" / "projects")]))
        page = hand_off(memory, f"holdfast://session/{SESSION}").page
    for title in ("Decisions", "Dead ends", "Open questions"):
        assert "None known" in section(page, title)
    assert "None was touched." in section(page, "Files")


def test_a_subject_that_is_not_one_known_session_is_refused(memory: Holdfast) -> None:
    with pytest.raises(NotFoundError, match="nothing to hand over"):
        hand_off(memory, "zeppelin moorings")
    kept = memory.remember("The yawl is blue.")
    with pytest.raises(InputError, match="does not belong to one session"):
        hand_off(memory, f"holdfast://memory/{kept.id}")
    with pytest.raises(InputError, match="one bank"):
        hand_off(memory, "xebec loader", bank="all")


@pytest.mark.parametrize("fails", [True, False])
def test_only_what_failed_is_a_dead_end(tmp_path: Path, fails: bool) -> None:
    script = Script(SESSION)
    script.user("The nightly invoice export has duplicate rows, please fix it.")
    path = "/home/dev/proj/src/export.py"
    script.tool("Edit", "ok", file_path=path, old_string="a", new_string="b")
    if fails:
        script.tool("Bash", "1 failed", error=True, command="pytest tests/test_export.py")
    script.assistant("It still fails." if fails else "I changed the export.")
    with memory_with_session(tmp_path, script) as memory:
        memory.ingestion.update()
        pack = hand_off(memory, SESSION)
    assert [point.mark for point in pack.dead_ends if "export" in point.text][:1] == (
        ["did not do it"] if fails else []
    )


def test_forgotten_records_are_not_in_a_handoff(memory: Holdfast) -> None:
    decided = exchange_about(memory, "tide lock first")
    memory.forget(f"holdfast://exchange/{decided.id}")
    page = hand_off(memory, SESSION).page
    assert "take the tide lock first" not in page


def test_the_command_writes_a_file_and_never_overwrites_one(
    memory: Holdfast,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.chdir(tmp_path)
    to_file = ["handoff", "xebec", "loader", "--out", "page.md"]
    assert main(to_file) == 0
    page = (tmp_path / "page.md").read_text("utf-8")
    assert page.startswith("# Hand-off: xebec loader")
    assert main(to_file) == 2, "it is there already"
    assert "This changes page.md" in capsys.readouterr().err
    assert main([*to_file, "--yes"]) == 0
    capsys.readouterr()
    for printed in ([], ["--out", "-"]):
        assert main(["handoff", SESSION, *printed]) == 0
        assert capsys.readouterr().out.startswith("# Hand-off: ")
    assert main(["handoff", SESSION, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "session" and told["page"].startswith("# Hand-off")
    assert main(["handoff", SESSION, "--out", "missing/x.md"]) == 2
    assert "cannot be written" in capsys.readouterr().err
