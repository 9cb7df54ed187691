"""Permission rules for our tools in Claude Code's settings: what is added, and what is removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.errors import InputError
from holdfast.hosts.claude_code import install
from holdfast.hosts.claude_code.install_record import InstallRecord
from holdfast.hosts.claude_code.locations import Scope, SettingsFiles
from holdfast.hosts.claude_code.permissions import add_rules, remove_rules, tool_rules

TOOLS = ("memory", "memory_recall")
RULES = tool_rules(TOOLS, with_plugin=False)
PYTHON = install.Interpreter("/usr/bin/python3", "-I")
MINE = '{\n    "permissions": {"allow": ["Read", "Bash(ls:*)"]},\n    "model": "opus"\n}\n'


def test_a_rule_names_the_tool_as_claude_code_calls_it() -> None:
    assert RULES == ["mcp__holdfast__memory", "mcp__holdfast__memory_recall"]
    assert tool_rules(["memory"], with_plugin=True) == ["mcp__plugin_holdfast_memory__memory"]


@pytest.mark.parametrize("text", ["{}\n", MINE, '{"permissions": {"deny": ["Bash"]}}'])
def test_added_rules_can_be_removed_without_a_trace(text: str) -> None:
    added = add_rules(text, RULES)
    assert json.loads(added.text)["permissions"]["allow"][-2:] == RULES == list(added.rules)
    assert json.loads(remove_rules(added.text, added.rules)) == json.loads(text)


@pytest.mark.parametrize(
    "permissions",
    [
        {"allow": [RULES[0]]},
        {"deny": [RULES[0]]},
        {"ask": [RULES[0]]},
        {"allow": ["mcp__holdfast"]},
        {"deny": ["mcp__holdfast__*"]},
    ],
)
def test_a_tool_that_the_user_decided_about_gets_no_rule(permissions: dict[str, object]) -> None:
    text = json.dumps({"permissions": permissions})
    added = add_rules(text, RULES[:1])
    assert (added.text, added.rules) == (text, ())


@pytest.mark.parametrize("permissions", [[], "all", {"allow": "Read"}])
def test_permissions_that_claude_code_could_not_use_are_refused(permissions: object) -> None:
    with pytest.raises(InputError, match="permissions"):
        add_rules(json.dumps({"permissions": permissions}), RULES)


class Machine:
    """Settings of a user, and what setup does to them."""

    def __init__(self, folder: Path, text: str) -> None:
        self.home = folder / "memory"
        self.files = SettingsFiles(Scope.USER, folder / "settings.json", folder / "servers.json")
        self.files.hooks_file.write_text(text)

    def set_up(self, *tools: str, with_plugin: bool = False) -> None:
        plan = install.plan_install(
            self.home, self.files, PYTHON, self.home, with_plugin, allowed_tools=tools
        )
        install.apply_install(self.home, plan.changes, self.home)

    def remove(self) -> None:
        plan = install.plan_uninstall(self.home, [self.files], True, self.home)
        install.apply_uninstall(self.home, plan.changes, self.home)

    def text(self) -> str:
        return self.files.hooks_file.read_text()

    def allowed(self) -> list[str]:
        return json.loads(self.text()).get("permissions", {}).get("allow", [])


def test_setup_allows_the_tools_and_uninstall_restores_every_byte(tmp_path: Path) -> None:
    machine = Machine(tmp_path, MINE)
    machine.set_up(*TOOLS)
    assert machine.allowed() == ["Read", "Bash(ls:*)", *RULES]
    machine.set_up(*TOOLS)
    assert machine.allowed() == ["Read", "Bash(ls:*)", *RULES]
    machine.remove()
    assert machine.text() == MINE and not InstallRecord(machine.home).files


def test_a_rule_that_the_user_wrote_stays_after_uninstall(tmp_path: Path) -> None:
    mine = f'{{"permissions": {{"allow": ["{RULES[0]}"]}}}}'
    machine = Machine(tmp_path, mine)
    machine.set_up(*TOOLS)
    changed = json.loads(machine.text())
    machine.files.hooks_file.write_text(json.dumps({**changed, "model": "opus"}))
    machine.remove()
    assert json.loads(machine.text()) == {"permissions": {"allow": [RULES[0]]}, "model": "opus"}


def test_rules_are_removed_from_a_file_that_the_user_changed_since(tmp_path: Path) -> None:
    machine = Machine(tmp_path, MINE)
    machine.set_up(*TOOLS)
    machine.files.hooks_file.write_text(machine.text().replace('"Read"', '"Read", "Grep"'))
    machine.set_up(*TOOLS)
    assert install.allowed_tools(machine.home, machine.files) == list(TOOLS)
    machine.files.hooks_file.write_text(machine.text().replace('"opus"', '"haiku"'))
    machine.remove()
    assert machine.allowed() == ["Read", "Grep", "Bash(ls:*)"]
    assert "holdfast" not in machine.text() and '"haiku"' in machine.text()


def test_setup_without_tools_keeps_the_rules_of_an_earlier_setup(tmp_path: Path) -> None:
    machine = Machine(tmp_path, MINE)
    machine.set_up(*TOOLS)
    machine.set_up()
    assert machine.allowed() == ["Read", "Bash(ls:*)", *RULES]


def test_the_plugin_gets_rules_under_its_own_name_and_the_old_ones_go(tmp_path: Path) -> None:
    machine = Machine(tmp_path, MINE)
    machine.set_up(*TOOLS)
    machine.set_up(*TOOLS, with_plugin=True)
    assert machine.allowed() == ["Read", "Bash(ls:*)", *tool_rules(TOOLS, with_plugin=True)]
    machine.remove()
    assert machine.text() == MINE


def test_tools_of_a_foreign_server_with_our_name_are_not_allowed(tmp_path: Path) -> None:
    machine = Machine(tmp_path, MINE)
    machine.files.servers_file.write_text('{"mcpServers": {"holdfast": {"command": "other"}}}')
    machine.set_up(*TOOLS)
    assert machine.allowed() == ["Read", "Bash(ls:*)"]
