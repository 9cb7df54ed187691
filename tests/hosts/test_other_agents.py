"""Moving into other agents, and out again without a trace."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InputError
from holdfast.hosts import agent_install, toml_text
from holdfast.hosts.claude_code.settings_entries import starts_holdfast
from holdfast.hosts.host import HoldfastCommand
from holdfast.hosts.registry import hosts
from holdfast.sources.agent import UserEnvironment
from holdfast.sources.registry import DEFAULT_AGENT, agents

PERSONS = {
    ".codex/config.toml": b'# mine\nmodel = "x"\n\n[mcp_servers.wiki]\ncommand = "wiki"\n',
    ".codex/hooks.json": b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}',
    ".gemini/settings.json": b'{\r\n\t"mcpServers": {\r\n\t\t"wiki": {"command": "w"}\r\n\t}\r\n}',
    ".config/opencode/opencode.json": b'{"$schema": "s", "mcp": {}}\n',
    ".copilot/mcp-config.json": b"\xef\xbb\xbf{}",
    ".cursor/mcp.json": b'{\n    "mcpServers": {}\n}\n',
    ".cursor/hooks.json": b'{"version": 1, "hooks": {"stop": [{"command": "mine"}]}}\n',
}
# Made by setup, and removed whatever somebody changed in them.
OWN_FILES = (".copilot/hooks/holdfast.json", ".config/opencode/plugins/holdfast.js")


def at(home: Path, name: str = "holdfast") -> tuple[UserEnvironment, HoldfastCommand]:
    where = UserEnvironment(home, {}, "linux")
    return where, HoldfastCommand("/opt/py thon/bin/python", "-I", home / name, name == "holdfast")


def files(home: Path) -> dict[str, bytes]:
    found = (path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


def write_existing_files(home: Path) -> dict[str, bytes]:
    for name, content in PERSONS.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return files(home)


def test_the_transcripts_of_every_installable_agent_can_be_read() -> None:
    assert set(hosts()) <= set(agents()) - {DEFAULT_AGENT}


@pytest.mark.parametrize("name", list(hosts()))
def test_installing_and_uninstalling_restores_every_byte(name: str, tmp_path: Path) -> None:
    before = write_existing_files(tmp_path)
    where, ours = at(tmp_path)
    host = hosts()[name]

    agent_install.apply_install(ours.home, agent_install.plan_install(host, where, ours).changes)
    assert files(tmp_path) != before
    assert agent_install.is_installed(host, where, ours)
    assert agent_install.plan_install(host, where, ours).changes == []
    agent_install.apply_uninstall(
        ours.home, agent_install.plan_uninstall([host], where, ours).changes
    )

    assert files(tmp_path) == before
    assert not agent_install.is_installed(host, where, ours)


@pytest.mark.parametrize("name", list(hosts()))
def test_files_created_by_setup_are_removed_by_uninstall(name: str, tmp_path: Path) -> None:
    where, ours = at(tmp_path)
    host = hosts()[name]

    agent_install.apply_install(ours.home, agent_install.plan_install(host, where, ours).changes)
    made = files(tmp_path)
    agent_install.apply_uninstall(
        ours.home, agent_install.plan_uninstall([host], where, ours).changes
    )

    assert made and files(tmp_path) == {}


@pytest.mark.parametrize("name", list(hosts()))
def test_changes_made_by_the_user_in_between_are_kept(name: str, tmp_path: Path) -> None:
    write_existing_files(tmp_path)
    where, ours = at(tmp_path)
    host = hosts()[name]
    agent_install.apply_install(ours.home, agent_install.plan_install(host, where, ours).changes)
    ours_alone = {tmp_path / name for name in OWN_FILES}
    changed = {piece.path for piece in host.changes(where, ours)} - ours_alone
    for path in changed:
        if path.suffix == ".toml":
            path.write_text(f"{path.read_text()}\n[new]\nmine = true\n")
        else:
            result = json.loads(path.read_text("utf-8-sig"))
            path.write_text(json.dumps({**result, "new": {"mine": True}}))

    agent_install.apply_uninstall(
        ours.home, agent_install.plan_uninstall([host], where, ours).changes
    )

    assert not any(path.exists() for path in ours_alone)
    for path in changed:
        text = path.read_text("utf-8-sig")
        assert "holdfast" not in text
        result = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        assert result["new"] == {"mine": True}


def test_the_hook_timeout_for_gemini_is_in_milliseconds(tmp_path: Path) -> None:
    where, ours = at(tmp_path)
    plan = agent_install.plan_install(hosts()["gemini"], where, ours)
    agent_install.apply_install(ours.home, plan.changes)

    hooks = json.loads((tmp_path / ".gemini" / "settings.json").read_text())["hooks"]
    entries = [hook for groups in hooks.values() for group in groups for hook in group["hooks"]]
    assert [entry["timeout"] for entry in entries] == [10_000, 10_000]


def test_copilot_and_cursor_have_hooks_in_their_own_formats(tmp_path: Path) -> None:
    write_existing_files(tmp_path)
    where, ours = at(tmp_path)
    for name in ("copilot", "cursor"):
        plan = agent_install.plan_install(hosts()[name], where, ours)
        agent_install.apply_install(ours.home, plan.changes)

    copilot = json.loads((tmp_path / OWN_FILES[0]).read_text())
    assert copilot["version"] == 1 and list(copilot["hooks"]) == ["sessionStart", "agentStop"]
    (start,) = copilot["hooks"]["sessionStart"]
    assert start["bash"] == ours.hook_command("SessionStart", "copilot")
    cursor = json.loads((tmp_path / ".cursor" / "hooks.json").read_text())["hooks"]
    assert cursor["stop"] == [
        {"command": "mine"},
        {"command": ours.hook_command("Stop", "cursor")},
    ]
    assert cursor["sessionStart"] == [{"command": ours.hook_command("SessionStart", "cursor")}]


def test_a_file_with_the_name_of_ours_that_somebody_else_wrote_is_left_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / OWN_FILES[1]
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = 1\n")
    where, ours = at(tmp_path)
    plan = agent_install.plan_install(hosts()["opencode"], where, ours)
    assert path not in [change.file.path for change in plan.changes]
    assert any("holdfast.js" in note for note in plan.notes)


def test_a_server_of_another_home_stays_when_this_one_is_uninstalled(tmp_path: Path) -> None:
    where, ours = at(tmp_path)
    _, other = at(tmp_path, "other")
    host = hosts()["gemini"]
    agent_install.apply_install(other.home, agent_install.plan_install(host, where, other).changes)

    assert agent_install.plan_uninstall([host], where, ours).changes == []


def test_a_server_that_is_not_ours_is_kept_and_reported(tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"holdfast": {"command": "climbing"}}}')
    where, ours = at(tmp_path)

    plan = agent_install.plan_install(hosts()["cursor"], where, ours)

    assert path not in [change.file.path for change in plan.changes]
    assert "of another program" in plan.notes[0]


@pytest.mark.parametrize("text", ["{ // a comment\n}", "[1]", '{"mcpServers": []}', "\xff"])
def test_an_invalid_file_is_refused_before_anything_is_changed(text: str, tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(text, "latin-1")
    where, ours = at(tmp_path)

    with pytest.raises(InputError):
        agent_install.plan_install(hosts()["cursor"], where, ours)
    assert path.read_text("latin-1") == text


def test_uninstall_ignores_invalid_files_that_were_never_changed(tmp_path: Path) -> None:
    write_existing_files(tmp_path)
    where, ours = at(tmp_path)
    (tmp_path / ".cursor" / "mcp.json").write_text("{ // mine\n}")
    (tmp_path / ".codex" / "config.toml").write_text("not = = toml")
    gemini = hosts()["gemini"]
    agent_install.apply_install(ours.home, agent_install.plan_install(gemini, where, ours).changes)

    changes = agent_install.plan_uninstall(hosts().values(), where, ours).changes

    assert [change.file.path.name for change in changes] == ["settings.json"]


def test_an_outdated_entry_is_updated(tmp_path: Path) -> None:
    write_existing_files(tmp_path)
    where, ours = at(tmp_path)
    newer = ours._replace(python="/new/python")
    for name, host in hosts().items():
        agent_install.apply_install(
            ours.home, agent_install.plan_install(host, where, ours).changes
        )
        agent_install.apply_install(
            ours.home, agent_install.plan_install(host, where, newer).changes
        )
        assert agent_install.plan_install(host, where, newer).changes == [], name
    result = tomllib.loads((tmp_path / ".codex" / "config.toml").read_text())
    assert result["mcp_servers"]["holdfast"]["command"] == "/new/python"
    hooks = json.loads((tmp_path / ".codex" / "hooks.json").read_text())["hooks"]
    assert [len(hooks[event]) for event in ("SessionStart", "Stop")] == [1, 2]


_PATHS = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), min_size=1)


@pytest.mark.slow
@given(python=_PATHS, folder=_PATHS)
def test_any_path_survives_a_toml_round_trip(python: str, folder: str) -> None:
    entry = {"command": python, "args": ["-I", "mcp"], "env": {"HOLDFAST_HOME": folder}}
    text = '# mine\n[a]\nb = "[mcp_servers.holdfast]"\n'

    put = toml_text.put(text, "mcp_servers", "holdfast", entry)

    assert toml_text.entry(put, "mcp_servers", "holdfast") == entry
    assert toml_text.remove(put, "mcp_servers", "holdfast") == text


def test_a_table_among_others_is_removed_completely() -> None:
    text = (
        '[mcp_servers.holdfast]\ncommand = "holdfast"\nargs = ["mcp"]\n\n'
        '[mcp_servers.holdfast.env]\nA = "b"\n\n[mcp_servers.wiki]\ncommand = "w"\n'
    )

    assert starts_holdfast(toml_text.entry(text, "mcp_servers", "holdfast"))
    left = toml_text.remove(text, "mcp_servers", "holdfast")
    assert tomllib.loads(left) == {"mcp_servers": {"wiki": {"command": "w"}}}


def test_an_inline_table_entry_is_not_removed() -> None:
    text = 'mcp_servers = { holdfast = { command = "holdfast", args = ["mcp"] } }\n'

    assert toml_text.remove(text, "mcp_servers", "holdfast") == text
