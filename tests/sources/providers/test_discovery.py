from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.app.search.plugin_search import Providers
from holdfast.errors import InputError, NotFoundError
from holdfast.sources.providers.discover import Plugin, find_plugins
from holdfast.sources.providers.manifest import AllowedTool, Provider, read_provider
from tests.e2e.claude_code.sandbox import find_claude
from tests.support.plugins import (
    Json,
    make_plugin,
    manifest,
    providers_for,
    settings_for,
    write,
)

SERVER: Json = {"command": "python3", "args": ["server.py"]}


def user(
    home: Path, enabled: Json, installed: Json | None = None, markets: Json | None = None
) -> Path:
    """A user's folder of Claude Code."""
    claude = home / ".claude"
    write(claude / "settings.json", {"enabledPlugins": enabled})
    write(claude / "plugins" / "installed_plugins.json", {"version": 2, "plugins": installed or {}})
    write(claude / "plugins" / "known_marketplaces.json", markets or {})
    return claude


def roots(claude: Path, folder: Path | None = None) -> dict[str, Path]:
    return {plugin.id: plugin.root for plugin in find_plugins(claude, folder).found}


def test_plugins_installed_and_enabled_in_claude_code_are_found(tmp_path: Path) -> None:
    program = find_claude()
    if program is None:
        pytest.skip("no Claude Code here")
    market, home, project = tmp_path / "market", tmp_path / "home", tmp_path / "proj"
    listed = [{"name": n, "source": f"./plugins/{n}", "description": n} for n in ("wiki", "off")]
    about = {"name": "market", "owner": {"name": "x"}, "plugins": listed}
    write(market / ".claude-plugin" / "marketplace.json", about)
    for name in ("wiki", "off"):
        make_plugin(market / "plugins" / name, SERVER)
    project.mkdir()
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    }
    for words in (
        ("marketplace", "add", str(market)),
        ("install", "wiki@market"),
        ("install", "off@market", "--scope", "project"),
        ("disable", "off@market"),
    ):
        subprocess.run(
            [program, "plugin", *words],
            cwd=project,
            env=env,
            check=True,
            capture_output=True,
            timeout=120,
        )
    found = find_plugins(home / ".claude", project).found
    assert [(plugin.id, plugin.root) for plugin in found] == [
        ("wiki@market", market / "plugins" / "wiki")
    ]
    assert found[0].data == home / ".claude" / "plugins" / "data" / "wiki-market"


def test_an_installed_copy_is_used_where_the_marketplace_is_not_a_folder(tmp_path: Path) -> None:
    copy = make_plugin(tmp_path / "cache" / "wiki", SERVER)
    entry = [{"scope": "user", "installPath": str(copy)}]
    market = {"m": {"source": {"source": "github"}, "installLocation": str(tmp_path / "none")}}
    claude = user(tmp_path, {"wiki@m": True, "gone@m": True}, {"wiki@m": entry}, market)
    found = find_plugins(claude, None)
    assert [plugin.root for plugin in found.found] == [copy]
    assert found.problems == ("gone@m is enabled but not there.",)
    older = {"wiki@m": {"version": "1", "installPath": str(copy)}}
    assert roots(user(tmp_path, {"wiki@m": True}, older)) == {"wiki@m": copy}


def test_a_project_can_only_enable_or_disable_plugins_the_user_installed(tmp_path: Path) -> None:
    market, project = tmp_path / "market", tmp_path / "proj"
    wiki = make_plugin(market / "wiki", SERVER)
    make_plugin(market / "evil", SERVER)
    plugins = [{"name": n, "source": f"./{n}"} for n in ("wiki", "evil")]
    write(market / ".claude-plugin" / "marketplace.json", {"plugins": plugins})
    known = {"m": {"source": {"source": "directory"}, "installLocation": str(market)}}
    entry = [{"scope": "user", "installPath": str(wiki)}]
    claude = user(tmp_path, {}, {"wiki@m": entry}, known)
    write(
        project / ".claude" / "settings.json", {"enabledPlugins": {"wiki@m": True, "evil@m": True}}
    )
    assert roots(claude, project / "src") == {"wiki@m": wiki}
    write(project / ".claude" / "settings.local.json", {"enabledPlugins": {"wiki@m": False}})
    assert roots(claude, project) == {}
    assert set(roots(user(tmp_path, {"evil@m": True}, {}, known))) == {"evil@m"}


def test_a_marketplace_cannot_point_outside_itself(tmp_path: Path) -> None:
    market = tmp_path / "market"
    make_plugin(tmp_path / "elsewhere", SERVER)
    listed = {"plugins": [{"name": "wiki", "source": "./../elsewhere"}]}
    write(market / ".claude-plugin" / "marketplace.json", listed)
    known = {"m": {"source": {"source": "directory"}, "installLocation": str(market)}}
    assert roots(user(tmp_path, {"wiki@m": True}, {}, known)) == {}


@pytest.mark.parametrize("junk", ["", "[]", "{", "null", '{"plugins": 7}', "\x00", "[" * 100_000])
def test_invalid_files_are_reported_and_skipped(tmp_path: Path, junk: str) -> None:
    claude = user(tmp_path, {"wiki@m": True})
    for name in ("installed_plugins.json", "known_marketplaces.json"):
        write(claude / "plugins" / name, junk)
    found = find_plugins(claude, tmp_path)
    assert found.found == () and found.problems


def test_a_plugin_can_be_given_by_its_folder(tmp_path: Path) -> None:
    plugin = make_plugin(tmp_path / "wiki", SERVER)
    found = providers_for(tmp_path, plugin)
    assert [(p.name, p.id) for p in found.found] == [("wiki", "wiki@inline")]
    with pytest.raises(InputError, match="is not a folder"):
        providers_for(tmp_path, tmp_path / "nowhere")
    with pytest.raises(NotFoundError, match="no provider 'other'"):
        found.named("other")


def test_two_plugins_with_one_name_are_distinguished(tmp_path: Path) -> None:
    copy = make_plugin(tmp_path / "copy" / "wiki", SERVER)
    inline = make_plugin(tmp_path / "own" / "wiki", SERVER)
    user(tmp_path, {"wiki@m": True}, {"wiki@m": [{"installPath": str(copy)}]})
    found = providers_for(tmp_path, inline)
    assert [p.name for p in found.found] == ["wiki@m", "wiki@inline"]
    skipped = providers_for(tmp_path, inline, more='skip = ["wiki@m"]')
    assert [p.problem for p in skipped.found] == ["the settings leave it out", ""]


def read(root: Path, **variables: str) -> Provider | None:
    return read_provider(Plugin(root.name, f"{root.name}@m", root, root / "data"), variables)


def problem(root: Path, **variables: str) -> str:
    found = read(root, **variables)
    assert found is not None
    return found.problem


def test_servers_can_be_declared_in_any_supported_file(tmp_path: Path) -> None:
    root = make_plugin(tmp_path / "wiki", None)
    assert problem(root) == "it has no MCP server"
    about = {"name": "wiki", "mcpServers": {"main": SERVER}}
    write(root / ".claude-plugin" / "plugin.json", about)
    assert problem(root) == ""
    write(root / ".claude-plugin" / "plugin.json", {"name": "wiki", "mcpServers": "./s.json"})
    write(root / "s.json", {"mcpServers": {"main": SERVER}})
    assert problem(root) == ""
    (root / "s.json").unlink()
    own = (
        manifest(["mcp__main__search"])
        + "mcp_servers:\n  main:\n    type: http\n    url: https://x.example/mcp\n"
    )
    write(root / "han-plugin.yml", own)
    found = read(root)
    assert found is not None and found.servers[0].url == "https://x.example/mcp"
    write(root / "holdfast-plugin.yml", manifest(["mcp__other__search"]))
    assert problem(root) == "it has no MCP server"  # ours is the one that counts
    write(root / ".mcp.json", {"other": SERVER})
    assert problem(root) == ""


def test_tools_are_allowed_by_their_full_names(tmp_path: Path) -> None:
    names = ["mcp__main__search", "mcp__plugin_wiki_main__get", "find", "find"]
    found = read(make_plugin(tmp_path / "wiki", SERVER, names))
    assert found is not None and not found.problem
    assert found.allowed == (
        AllowedTool("main", "search"),
        AllowedTool("main", "get"),
        AllowedTool("main", "find"),
    )
    assert found.prompt == "Search the wiki."


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["'mcp__main__*'"], "use full tool names"),
        (["mcp__main"], "no server of its own has mcp__main"),
        (["mcp__other__search"], "no server of its own has mcp__other__search"),
        (["mcp__main__"], "no server of its own"),
        (["7"], "an invalid name"),
        (["{a: b}"], "an invalid name"),
        (["'a b; rm'"], "an invalid name"),
    ],
)
def test_ambiguous_tool_permissions_are_refused(tmp_path: Path, names: list[str], why: str) -> None:
    assert why in problem(make_plugin(tmp_path / "wiki", SERVER, names))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("memory: [", "cannot be read"),
        ("memory: 7", "has no memory.system_prompt"),
        ("memory:\n  system_prompt: x\n", "has no memory.allowed_tools"),
        ("memory:\n  allowed_tools: [search]\n", "has no memory.system_prompt"),
        ("memory: !!python/object/apply:os.system ['touch owned']", "cannot be read"),
        ("- " * 5000, "cannot be read"),
        ("\x00", "cannot be read"),
        ("# " + "x" * 300_000, "is larger than"),
    ],
)
def test_an_incomplete_manifest_is_reported(tmp_path: Path, text: str, why: str) -> None:
    root = make_plugin(tmp_path / "wiki", SERVER)
    write(root / "han-plugin.yml", text)
    assert why in problem(root)
    assert not (tmp_path / "owned").exists()


def test_a_plugin_that_does_not_declare_itself_is_not_a_provider(tmp_path: Path) -> None:
    root = make_plugin(tmp_path / "wiki", SERVER)
    write(root / "han-plugin.yml", "hooks: {}\n")
    assert read(root) is None
    (root / "han-plugin.yml").unlink()
    assert read(root) is None


@pytest.mark.parametrize(
    ("server", "why"),
    [
        ({"command": ["python3"]}, "is not described as it should be"),
        ({"command": "x", "args": "y"}, "is not described as it should be"),
        ({"command": ""}, "it has no command"),
        ({"type": "sse", "url": "https://x.example"}, "has an unsupported type"),
        ({"type": "http", "url": "http://x.example/mcp"}, "its address is not encrypted"),
        ({"type": "http", "url": "file:///etc/passwd"}, "its address is none"),
        ({"type": "http", "url": "https://me:pw@x.example/"}, "its address is none"),
        ({"command": "${HOME}/x", "env": {"K": "${SECRET}"}}, "wants SECRET, HOME"),
    ],
)
def test_an_unreachable_server_is_reported(tmp_path: Path, server: Json, why: str) -> None:
    result = problem(make_plugin(tmp_path / "wiki", server))
    assert why in result or "wants HOME, SECRET" in result


def test_only_variables_of_the_plugin_and_allowed_ones_are_expanded(tmp_path: Path) -> None:
    server = {
        "command": "${CLAUDE_PLUGIN_ROOT}/run",
        "args": ["${CLAUDE_PLUGIN_DATA}", "${PORT:-80}"],
        "env": {"TOKEN": "${WIKI_TOKEN}"},
    }
    root = make_plugin(tmp_path / "wiki", server)
    assert "wants WIKI_TOKEN" in problem(root)
    found = Providers(
        settings_for(tmp_path, [root], 'env = ["WIKI_TOKEN"]'), lambda: "", tmp_path
    ).named("wiki")
    assert found.servers[0].command == f"{root}/run"
    assert found.servers[0].arguments[1] == "80"
    assert found.servers[0].environment == (("TOKEN", "t0k"),)
