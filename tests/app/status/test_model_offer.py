"""A model service before and after it is chosen: the offer, its title, and what does not work."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from holdfast.inference.service_choice import service_problem
from holdfast.interfaces.cli.main import main
from holdfast.interfaces.cli.model_offer import print_offer
from holdfast.operations.output.install_hint import install_command
from holdfast.operations.screen import Screen
from holdfast.settings import ModelSettings
from tests.support.permitted_model_service import User


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    made = User(tmp_path, "")
    for name in ("HOLDFAST_HOME", "CLAUDE_CONFIG_DIR", "HOLDFAST_EMBEDDER", "NO_PROXY"):
        monkeypatch.setenv(name, made.env[name])
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(["ingest", "--embed", "none"]) == 0
    return made


def without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("claude_agent_sdk", "httpx2"):
        monkeypatch.setitem(sys.modules, package, None)


def test_the_offer_says_what_is_sent_to_whom_and_the_limits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_offer(Screen(), ModelSettings(use="openai", openai_key="k"))
    shown = " ".join(capsys.readouterr().out.split())
    assert "OpenAI's API" in shown and "without secrets" in shown
    assert "500,000 tokens and $1.00 a day" in shown
    without_packages(monkeypatch)
    print_offer(Screen(), ModelSettings(use="auto"))
    shown = capsys.readouterr().out
    assert "not available yet. No model" in shown and install_command("claude") in shown


@pytest.mark.parametrize(
    ("models", "text"),
    [
        (ModelSettings(use="auto"), "No model service can be used"),
        (ModelSettings(use="claude"), "not installed"),
        (ModelSettings(use="anthropic"), "not installed"),
    ],
)
def test_status_and_doctor_say_that_a_chosen_model_does_not_work(
    user: User,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    models: ModelSettings,
    text: str,
) -> None:
    without_packages(monkeypatch)
    problem = service_problem(models)
    assert problem is not None and text in problem.message and "pip install" in problem.remedy
    user.set(f'[models]\nuse = "{models.use}"\n')
    capsys.readouterr()
    assert main(["status"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "models: not working:" in shown and text in shown
    assert main(["doctor"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(rf"service .*{text}", shown)


def test_a_service_without_a_key_or_a_model_is_a_problem() -> None:
    missing_key = service_problem(ModelSettings(use="anthropic"))
    missing_name = service_problem(ModelSettings(use="openai", endpoint="http://127.0.0.1:1/v1"))
    assert missing_key is not None and "no key for anthropic" in missing_key.message
    assert missing_name is not None and "which model to ask for" in missing_name.message
    assert service_problem(ModelSettings()) is None
    assert service_problem(ModelSettings(use="anthropic", anthropic_key="k")) is None
