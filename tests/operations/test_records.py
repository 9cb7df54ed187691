"""Opening a record: what programs get of it, and what only the screen of its owner does."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.operations.operation import Operation
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform, result_text, show_result
from holdfast.operations.screen import Screen
from holdfast.operations.shapes import result_json
from tests.support.sample_memory import exchange_about, memory_with_session, sample_session

SHOW = find_operation("show")
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return tmp_path


def on_screen(operation: Operation, result: object, **arguments: object) -> str:
    stream = StringIO()
    show_result(operation, Screen(stream, 1000), result, arguments)
    return stream.getvalue()


def test_programs_get_the_raw_line_without_secrets_and_only_the_screen_has_them(
    home: Path,
) -> None:
    script = sample_session()
    script.user(f"The dinghy deploys with {SECRET} until Friday.")
    with memory_with_session(home, script) as memory:
        name = f"exchange/{exchange_about(memory, 'dinghy').id}"
        found = perform(SHOW, memory, {"id": name})
        with pytest.raises(InputError, match="takes no 'raw'"):
            perform(SHOW, memory, {"id": name, "raw": True})
    assert SECRET not in str(result_json(found)) and "dinghy" in result_json(found)["raw"]["text"]
    assert SECRET not in result_text(SHOW, found, {"id": name})
    assert SECRET in on_screen(SHOW, found, id=name, raw=True)


def test_a_record_has_every_field_and_its_parts_have_uris(home: Path) -> None:
    with memory_with_session(home) as memory:
        turns = exchange_about(memory, "yawl")
        found = result_json(perform(SHOW, memory, {"id": turns.id, "links": True}))
        path = result_json(perform(find_operation("path"), memory, {"id": turns.id}))
    assert found["kind"] == "exchange" and found["record"]["uri"] == found["uri"]
    assert found["note"] == "" and found["commit"] is None and found["by_rules"] is None
    assert all(part["uri"].startswith("holdfast://turn/") for part in found["below"])
    assert all(link["uri"] != found["uri"] for link in found["links"])
    assert path["here"]["uri"] == found["uri"]
    assert {step["under"] for step in path["down"]} >= {found["uri"]}
