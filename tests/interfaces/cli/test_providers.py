"""`holdfast providers`, and plugins in `ask`, through the front door."""

from __future__ import annotations

import json
from pathlib import Path

from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.support.plugins import (
    make_plugin,
    misbehaving_server,
    write,
)

QUESTION = "When do the retries of the importer stop?"


def home_with(tmp_path: Path, *modes: str, use: str = "asked") -> Path:
    home = tmp_path / "home"
    folders = [
        str(make_plugin(tmp_path / mode, misbehaving_server(mode, tmp_path / "notes")))
        for mode in modes
    ]
    result = f'[providers]\nuse = "{use}"\nplugin_dirs = {json.dumps(folders)}\nwait_ms = 60000\n'
    write(home / "config.toml", result)
    return home


def test_providers_can_be_listed_tested_queried_and_reset(tmp_path: Path) -> None:
    home = home_with(tmp_path, "good", "fails")
    make_plugin(tmp_path / "half", None)
    half = ("--plugin-dir", str(tmp_path / "half"))
    listed = read_json(home, "providers", *half)
    assert not (tmp_path / "notes").exists()  # listing starts nothing
    assert set(listed) == {"use", "providers", "problems"} and listed["use"] == "asked"
    by_name = {item["name"]: item for item in listed["providers"]}
    assert set(by_name["good"]) == {
        "name", "id", "root", "usable", "problem", "servers", "allowed_tools", "score", "calls",
        "success", "ms", "resting_until", "last_problem",
    }  # fmt: skip
    assert by_name["good"]["allowed_tools"] == ["mcp__main__search"]
    assert by_name["half"]["problem"] == "it has no MCP server"

    result = read_json(home, "providers", "test", "good", "retries")
    assert (
        result["texts"][0]["trust"] == "external" and "five attempts" in result["texts"][0]["text"]
    )
    failed = holdfast(home, "providers", "test", "fails", "retries")
    assert failed.returncode == 1 and "Traceback" not in failed.stderr
    assert "fails failed: its tool reports a failure." in failed.stderr

    answer = read_json(home, "ask", QUESTION, "--providers")
    assert answer["answer"].startswith("From outside (good/search): “Retries of the importer")
    assert answer["citations"][0]["trust"] == "external"
    assert "No answer from: fails: its tool reports a failure." in answer["caveats"]
    hit = read_json(home, "recall", QUESTION, "--providers")["hits"][0]
    assert (hit["layer"], hit["provider"], hit["trust"]) == ("providers", "good/search", "external")
    shown = holdfast(home, "recall", QUESTION, "--providers").stdout
    assert "external · good/search" in shown and "provider fails failed: paused until" in shown

    table = " ".join(holdfast(home, "providers", *half).stdout.split())
    assert "not usable: it has no MCP server" in table and "paused until" in table
    assert "reliability 0." in table and "last problem: its tool reports a failure" in table
    checks = json.loads(holdfast(home, "doctor", "--json").stdout)["checks"]
    [check] = [check for check in checks if check["name"] == "providers"]
    assert check["grade"] == "warning" and "fails failed 2 times" in check["sentence"]
    failing = {"fails@inline": "its tool reports a failure"}
    assert read_json(home, "status")["providers"] == {"use": "asked", "failing": failing}
    assert "provider fails@inline fails" in holdfast(home, "status").stdout


def test_providers_are_off_by_default_and_the_output_says_how_to_enable_them(
    tmp_path: Path,
) -> None:
    home = home_with(tmp_path, "good", use="off")
    for command in (("ask", QUESTION), ("recall", QUESTION)):
        done = holdfast(home, *command, "--providers")
        assert done.returncode == 2 and 'Put use = "asked" under [providers]' in done.stderr
    assert 'Plugins are not queried: providers.use is "off".' in holdfast(home, "providers").stdout
    checks = json.loads(holdfast(home, "doctor", "--json").stdout)["checks"]
    assert "Plugins are not queried." in [check["sentence"] for check in checks]
    assert not (tmp_path / "notes").exists()
