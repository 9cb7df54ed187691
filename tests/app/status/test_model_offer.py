"""A model service before and after it is chosen: the offer, its title, and what does not work."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.status.model_offer import gather_offer, title_by_model
from holdfast.inference.service_choice import service_problem
from holdfast.interfaces.cli.main import main
from holdfast.interfaces.cli.model_offer import print_offer, print_title_by_model
from holdfast.operations.output.install_hint import install_command
from holdfast.operations.screen import Screen
from holdfast.settings import ModelSettings, load_settings
from tests.support.empty_memory import with_empty_memory
from tests.support.permitted_model_service import TITLE, Service, User, model_settings


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


def test_the_offer_says_what_a_session_costs_and_sends_nothing(
    user: User, service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    user.set(model_settings(service).replace('use = "openai"', 'use = "none"'))
    capsys.readouterr()
    with Holdfast(with_empty_memory(load_settings())) as memory:
        offer = gather_offer(memory)
    assert offer is not None and not service.asked
    assert offer.sessions == 1 and 500 < offer.tokens < 20_000 and offer.title
    print_offer(Screen(), offer)
    shown = " ".join(capsys.readouterr().out.split())
    assert f"“{offer.title}”" in shown and f"about {offer.tokens:,} tokens" in shown
    assert "500,000 tokens and $1.00 a day" in shown and "without secrets" in shown


def test_a_chosen_model_gives_the_session_another_title(
    user: User, service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    user.set(model_settings(service))
    with Holdfast(with_empty_memory(load_settings())) as memory:
        offer = gather_offer(memory)
        assert offer is not None and offer.title != TITLE
        title, problem = title_by_model(memory, offer)
        assert service.asked and not problem and title
        capsys.readouterr()
        print_title_by_model(Screen(), offer, title, problem)
    shown = capsys.readouterr().out
    assert f"before:  “{offer.title}”" in shown and f"after:   “{title}”" in shown


def test_a_model_that_does_not_answer_is_reported_and_the_title_stays(
    user: User, service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    user.set(model_settings(service))
    service.answer = lambda: (500, {"error": {"message": "out of order"}})
    with Holdfast(with_empty_memory(load_settings())) as memory:
        offer = gather_offer(memory)
        assert offer is not None
        _, problem = title_by_model(memory, offer)
    assert problem
    print_title_by_model(Screen(), offer, "", problem)
    assert "did not answer" in capsys.readouterr().out


def test_without_a_model_the_offer_says_so_with_the_install_commands(
    user: User, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_packages(monkeypatch)
    with Holdfast(with_empty_memory(load_settings())) as memory:
        offer = gather_offer(memory)
    assert offer is not None and offer.service == "none"
    capsys.readouterr()
    print_offer(Screen(), offer)
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
