from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.errors import InputError
from holdfast.hosts.claude_code import permissions, plugin_files
from holdfast.hosts.claude_code.hook_commands import (
    EVENTS,
    home_of_hook,
    hook_command,
    is_hook_of,
    make_entry,
)
from holdfast.interfaces.mcp.servers import load_spec

ROOT = Path(__file__).parents[3]
PLUGIN = Path(holdfast.__file__).parent / "hosts" / "claude_code" / "plugin"
PLUGIN_SCRIPT = "${HOLDFAST_HOME:-$HOME/.holdfast}/hooks/capture.sh"
NOT_SET_UP = (
    "Holdfast is not set up: this plugin needs the program. Install it, e.g. with pipx, then run: "
    "holdfast setup --plugin"
)
NAMES = st.text("a '\"$`\\!*é;&|()", min_size=1, max_size=12).map(lambda name: f"/h/{name}")


def plugin_command(event: str) -> str:
    """The shell command of a hook of the plugin; it does nothing without a Holdfast."""
    if event == "SessionStart":
        runs = f'if [ -f "$f" ]; then sh "$f" {event} 2>/dev/null'
        notice = json.dumps({"systemMessage": NOT_SET_UP})
        says = f"""elif [ -z "$HOLDFAST_OFF" ]; then echo '{notice}'; fi"""
        return f'f="{PLUGIN_SCRIPT}"; {runs}; {says} || exit 0'
    return f'f="{PLUGIN_SCRIPT}"; [ ! -f "$f" ] || sh "$f" {event} 2>/dev/null || exit 0'


def run(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", command], input="{}", capture_output=True, text=True, timeout=60
    )


@pytest.mark.slow
@given(NAMES)
def test_a_hook_is_recognised_whatever_its_home_is_called(name: str) -> None:
    command = hook_command(Path(name), "Stop")
    assert home_of_hook({"type": "command", "command": command}) == Path(name)


@pytest.mark.parametrize("name", ["plain", "with space", "it's", '"$HOME`id`\\', "a;b&c|d", "é*?"])
def test_the_shell_runs_the_script_of_any_home(tmp_path: Path, name: str) -> None:
    script = tmp_path / name / "hooks" / "capture.sh"
    script.parent.mkdir(parents=True)
    script.write_text('printf "%s" "$1"\n')
    assert run(hook_command(tmp_path / name, "Stop")).stdout == "Stop"


@pytest.mark.parametrize("text", ["exit 2\n", "((\n", "echo oops >&2; kill -9 $$\n", None])
def test_a_hook_succeeds_whatever_its_script_does(tmp_path: Path, text: str | None) -> None:
    script = tmp_path / "hooks" / "capture.sh"
    script.parent.mkdir()
    if text is not None:
        script.write_text(text)
    done = run(hook_command(tmp_path, "Stop"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_hooks_of_older_versions_are_recognised_and_foreign_ones_are_not() -> None:
    home = Path("/home/me/.holdfast")
    older = {"type": "command", "command": f'/bin/sh "{home}/hooks/capture.sh" --event Stop'}
    assert is_hook_of(home, older)
    for command in (
        "sh /home/you/.holdfast/hooks/capture.sh Stop",
        "cat /home/me/.holdfast/hooks/other.sh",
        "echo 'unclosed capture.sh",
        "my-capture.sh",
        7,
    ):
        assert not is_hook_of(home, {"type": "command", "command": command})
    assert not is_hook_of(home, "capture.sh")


def test_a_home_path_that_json_cannot_express_is_refused() -> None:
    for name in ("/a\nb", "/a\udcff"):
        with pytest.raises(InputError):
            hook_command(Path(name), "Stop")


def test_the_session_end_hook_has_its_own_timeout() -> None:
    limits = {event.name: event.timeout_s for event in EVENTS}
    assert 1.5 < limits["SessionEnd"] <= 60 and len(limits) == 11


def test_the_plugin_has_the_hooks_that_setup_writes() -> None:
    hooks = {event.name: [make_entry(event, plugin_command(event.name))] for event in EVENTS}
    assert json.loads((PLUGIN / "hooks" / "hooks.json").read_text()) == {
        "description": "Capture what happens, bring what is known.",
        "hooks": hooks,
    }


def test_the_plugin_and_its_marketplace_entry_have_the_version_of_the_program(
    tmp_path: Path,
) -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["version"] == holdfast.__version__
    offer = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    source = offer["plugins"][0]["source"]
    assert offer == plugin_files.marketplace(source, holdfast.__version__)
    assert (ROOT / source).resolve() == PLUGIN.resolve()
    copied = plugin_files.write_plugin(tmp_path, holdfast.__version__)
    assert plugin_files.is_current(tmp_path)
    (copied / "holdfast" / ".mcp.json").write_text("{}")
    assert not plugin_files.is_current(tmp_path)


def test_the_plugin_hook_does_nothing_if_holdfast_is_not_installed(tmp_path: Path) -> None:
    script = tmp_path / "my home" / "hooks" / "capture.sh"
    command = f"HOLDFAST_HOME='{tmp_path / 'my home'}'; {plugin_command('Stop')}"
    done = run(command)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    script.parent.mkdir(parents=True)
    script.write_text('echo "$1"\n')
    assert run(command).stdout == "Stop\n"


def test_the_plugin_tells_the_user_where_holdfast_is_not_installed(tmp_path: Path) -> None:
    script = tmp_path / "hooks" / "capture.sh"
    command = f"HOLDFAST_HOME='{tmp_path}'; {plugin_command('SessionStart')}"
    done = run(command)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"systemMessage": NOT_SET_UP}
    assert run(f"HOLDFAST_OFF=1; {command}").stdout == ""
    script.parent.mkdir()
    script.write_text('echo "$1"; exit 3\n')
    done = run(command)
    assert (done.returncode, done.stdout) == (0, "SessionStart\n")


def agent_tools() -> dict[str, list[str]]:
    """The tools of each agent of the plugin."""
    found: dict[str, list[str]] = {}
    for page in (PLUGIN / "agents").glob("*.md"):
        line = next(line for line in page.read_text().splitlines() if line.startswith("tools:"))
        found[page.stem] = [tool.strip() for tool in line.removeprefix("tools:").split(",")]
    return found


def test_orchestrated_agents_of_the_plugin_have_no_memory_tools() -> None:
    for name in ("code-architect", "code-explorer", "code-reviewer"):
        tools = agent_tools()[name]
        assert not [tool for tool in tools if "mcp" in tool or tool in ("Write", "Edit", "*")]


def test_the_researcher_of_the_plugin_reads_memory_and_writes_nothing() -> None:
    tools = agent_tools()["memory-researcher"]
    reading = permissions.tool_rules(
        [t.name for t in load_spec().tools if not t.writes], with_plugin=True
    )
    assert sorted(tool for tool in tools if "mcp" in tool) == sorted(reading)
    assert not {"Write", "Edit", "Bash", "*"} & set(tools)
