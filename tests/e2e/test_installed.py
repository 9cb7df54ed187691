from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.operations.output.install_hint import adapt_install_commands

ADVICE = (
    "Install it: pip install 'holdfast-memory[server]'.",
    "Upgrade Holdfast (pip install -U holdfast-memory); then start it again.",
    "Install Holdfast again: pip install --force-reinstall holdfast-memory.",
    "Run `pip install tokenizers`, which reads every kind.",
)
WHEEL: dict[str, Any] = {"url": "file:///src/my%20copy/h.whl", "archive_info": {}}


def adapted(prefix: Path, origin: dict[str, Any]) -> list[str]:
    return [adapt_install_commands(advice, str(prefix), origin) for advice in ADVICE]


def test_an_installation_by_pip_from_an_index_gets_hints_for_pip(tmp_path: Path) -> None:
    assert tuple(adapted(tmp_path, {})) == ADVICE


def test_an_installation_by_pipx_gets_hints_for_pipx(tmp_path: Path) -> None:
    (tmp_path / "pipx_metadata.json").write_text("{}")
    first, second, third, fourth = adapted(tmp_path, WHEEL)
    assert first == "Install it: pipx install --force '/src/my copy/h.whl[server]'."
    assert second == "Upgrade Holdfast (pipx upgrade holdfast-memory); then start it again."
    assert third == "Install Holdfast again: pipx reinstall holdfast-memory."
    assert fourth == "Run `pipx inject holdfast-memory tokenizers`, which reads every kind."


def test_an_installation_by_uv_gets_hints_for_uv(tmp_path: Path) -> None:
    (tmp_path / "uv-receipt.toml").write_text("")
    first, second, third, fourth = adapted(tmp_path, {})
    assert first == "Install it: uv tool install --force 'holdfast-memory[server]'."
    assert second == "Upgrade Holdfast (uv tool upgrade holdfast-memory); then start it again."
    assert "uv tool install --reinstall holdfast-memory" in third
    assert "uv tool install --force --with tokenizers holdfast-memory" in fourth


@pytest.mark.parametrize(
    ("recorded", "spec"),
    [
        ({"url": "file:///my%20copy", "dir_info": {}}, "'/my copy[server]'"),
        ({"url": "file:///src", "dir_info": {"editable": True}}, "-e '/src[server]'"),
        ({"url": "https://x/h.whl"}, "'holdfast-memory[server] @ https://x/h.whl'"),
        (
            {"url": "https://x/h.git", "vcs_info": {"vcs": "git", "commit_id": "1a2b"}},
            "'holdfast-memory[server] @ git+https://x/h.git@1a2b'",
        ),
    ],
)
def test_what_was_installed_is_named_again(
    tmp_path: Path, recorded: dict[str, Any], spec: str
) -> None:
    assert adapted(tmp_path, recorded)[0] == f"Install it: pip install {spec}."
