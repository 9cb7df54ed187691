from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import InputError
from holdfast.hosts.claude_code import settings_entries
from holdfast.hosts.claude_code.hook_commands import EVENTS, hook_entries

HOME = Path("/home/me/.holdfast")
MINE: dict[str, Any] = {"hooks": [{"type": "command", "command": "say done"}]}


@pytest.mark.slow
def test_hooks_are_added_beside_others_and_removed_without_them() -> None:
    text = json.dumps({"hooks": {"Stop": [MINE], "Notification": [MINE]}, "model": "x"}, indent=2)
    added = settings_entries.add_hooks(text, HOME)
    hooks = json.loads(added)["hooks"]
    assert hooks["Stop"] == [MINE, hook_entries(HOME)["Stop"]]
    assert set(hooks) == {event.name for event in EVENTS} | {"Notification"}
    assert settings_entries.add_hooks(added, HOME) == added
    assert settings_entries.remove_hooks(added, HOME) == text


def test_outdated_hooks_are_updated_in_place() -> None:
    old = {"type": "command", "command": f"sh '{HOME}/hooks/capture.sh' Stop"}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [old]}, MINE], "Setup": [{"hooks": [old]}]}})
    hooks = json.loads(settings_entries.add_hooks(text, HOME))["hooks"]
    assert hooks["Stop"] == [hook_entries(HOME)["Stop"], MINE]
    assert "Setup" not in hooks


def test_our_hook_is_removed_from_a_shared_group() -> None:
    ours = hook_entries(HOME)["Stop"]["hooks"][0]
    text = json.dumps({"hooks": {"Stop": [{"hooks": [ours, *MINE["hooks"], ours]}]}}, indent=4)
    assert json.loads(settings_entries.remove_hooks(text, HOME)) == {"hooks": {"Stop": [MINE]}}
    hooks = json.loads(settings_entries.add_hooks(text, HOME))["hooks"]
    assert hooks["Stop"] == [MINE, hook_entries(HOME)["Stop"]]


@pytest.mark.slow
def test_hooks_of_another_home_are_kept_and_reported() -> None:
    other = Path("/srv/other")
    text = settings_entries.add_hooks("{}", other)
    both = settings_entries.add_hooks(text, HOME)
    assert settings_entries.other_homes(both, HOME) == [other]
    assert json.loads(settings_entries.remove_hooks(both, HOME)) == json.loads(text)


@pytest.mark.parametrize("hooks", [[], "x", {"Stop": {}}, {"Stop": None}])
def test_hooks_that_claude_code_could_not_use_are_refused(hooks: object) -> None:
    with pytest.raises(InputError):
        settings_entries.add_hooks(json.dumps({"hooks": hooks}), HOME)


@pytest.mark.parametrize("hooks", [{"Stop": [None, 1, {"hooks": 3}, {"hooks": [None]}]}, {}])
def test_unknown_groups_are_not_changed(hooks: object) -> None:
    text = json.dumps({"hooks": hooks}, indent=1)
    assert json.loads(
        settings_entries.remove_hooks(settings_entries.add_hooks(text, HOME), HOME)
    ) in (
        json.loads(text),
        {},
    )


def test_the_server_is_added_and_removed_for_the_user_and_for_a_project() -> None:
    entry = settings_entries.server_entry("/usr/bin/python", "-I", HOME, is_default=True)
    text = '{\n  "numStartups": 3,\n  "projects": {"/p": {"allowedTools": []}}\n}'
    added = settings_entries.add_server(settings_entries.add_server(text, "", entry), "/p", entry)
    assert settings_entries.projects_with_server(added, HOME, HOME) == ["", "/p"]
    assert settings_entries.projects_with_server(added, Path("/other"), HOME) == []
    assert settings_entries.add_server(added, "/p", entry) == added
    assert settings_entries.remove_server(settings_entries.remove_server(added, ""), "/p") == text


def test_the_home_of_a_foreign_server_is_reported() -> None:
    entry = settings_entries.server_entry("/usr/bin/python", "-E", Path("/x"), is_default=False)
    text = settings_entries.add_server("{}", "", entry)
    assert settings_entries.projects_with_server(text, Path("/x"), HOME) == [""]
    assert entry["args"] == ["-E", "-m", "holdfast", "mcp"]


def test_another_server_with_our_name_is_not_changed() -> None:
    text = json.dumps({"mcpServers": {"holdfast": {"command": "npx", "args": ["holdfast-js"]}}})
    entry = settings_entries.server_entry("/usr/bin/python", "-I", HOME, is_default=True)
    assert (
        settings_entries.is_name_taken(text, "")
        and settings_entries.add_server(text, "", entry) == text
    )
    assert settings_entries.projects_with_server(text, HOME, HOME) == []
