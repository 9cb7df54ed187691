from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces.cli.install_hint import adapt_install_commands, read_direct_url

ADVICE = (
    "Install it: pip install 'holdfast-memory[server]'.",
    "Upgrade Holdfast (pip install -U holdfast-memory); then start it again.",
    "Install Holdfast again: pip install --force-reinstall holdfast-memory.",
    "Run `pip install tokenizers`, which reads every kind.",
)


def test_an_installation_by_pip_gets_hints_for_pip(tmp_path: Path) -> None:
    for advice in ADVICE:
        assert adapt_install_commands(advice, str(tmp_path)) == advice


@pytest.mark.parametrize("asked", ["holdfast", "/src/my copy/holdfast.whl", "holdfast[graph]"])
def test_an_installation_by_pipx_gets_hints_for_pipx(tmp_path: Path, asked: str) -> None:
    known = {"main_package": {"package": "holdfast", "package_or_url": asked}}
    (tmp_path / "pipx_metadata.json").write_text(json.dumps(known))
    adapted = [adapt_install_commands(advice, str(tmp_path)) for advice in ADVICE]
    assert adapted[0] == f"Install it: pipx install --force '{asked.split('[')[0]}[server]'."
    assert adapted[1] == "Upgrade Holdfast (pipx upgrade holdfast-memory); then start it again."
    assert adapted[2] == "Install Holdfast again: pipx reinstall holdfast-memory."
    assert adapted[3] == "Run `pipx inject holdfast-memory tokenizers`, which reads every kind."


def test_an_installation_by_uv_gets_hints_for_uv(tmp_path: Path) -> None:
    receipt = tmp_path / "uv-receipt.toml"
    receipt.write_text('[tool]\nrequirements = [{ name = "holdfast", path = "/x/h.whl" }]\n')
    adapted = [adapt_install_commands(advice, str(tmp_path)) for advice in ADVICE]
    assert adapted[0] == "Install it: uv tool install --force '/x/h.whl[server]'."
    assert adapted[1] == "Upgrade Holdfast (uv tool upgrade holdfast-memory); then start it again."
    assert "uv tool install --reinstall /x/h.whl" in adapted[2]
    assert "uv tool install --force --with tokenizers /x/h.whl" in adapted[3]


def test_an_address_is_named_as_pip_pipx_and_uv_read_it(tmp_path: Path) -> None:
    receipt = tmp_path / "uv-receipt.toml"
    receipt.write_text('[tool]\nrequirements = [{ name = "holdfast", url = "https://x/h.whl" }]\n')
    adapted = adapt_install_commands(ADVICE[0], str(tmp_path))
    named = "'holdfast-memory[server] @ https://x/h.whl'"
    assert adapted == f"Install it: uv tool install --force {named}."


@pytest.mark.parametrize(
    ("recorded", "installation"),
    [
        ({"url": "file:///my%20copy", "dir_info": {}}, ("folder", "/my copy")),
        ({"url": "file:///src", "dir_info": {"editable": True}}, ("editable", "/src")),
        ({"url": "file:///x/h.whl", "archive_info": {}}, ("archive", "/x/h.whl")),
        ({"url": "https://x/h.whl", "archive_info": {}}, ("archive", "https://x/h.whl")),
        (
            {"url": "https://x/h.git", "vcs_info": {"vcs": "git", "commit_id": "1a2b"}},
            ("archive", "git+https://x/h.git@1a2b"),
        ),
    ],
)
def test_pip_records_where_it_installed_from(
    recorded: dict[str, Any], installation: tuple[str, str]
) -> None:
    assert read_direct_url(recorded) == installation


def test_unreadable_installation_metadata_changes_nothing(tmp_path: Path) -> None:
    for text in ("", "[]", "{", '{"main_package": 3}'):
        (tmp_path / "pipx_metadata.json").write_text(text)
        assert adapt_install_commands(ADVICE[0], str(tmp_path)) == ADVICE[0]
