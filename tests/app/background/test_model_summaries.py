"""The whole way: settings, worker, a real service, the ledger, and what `status` tells."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path

import pytest

from holdfast.app.core.model_optin import choose_service
from holdfast.errors import SettingsError
from holdfast.settings import load_settings
from tests.e2e.claude_code.api import Api, Say, Use
from tests.e2e.claude_code.sandbox import find_claude
from tests.support.permitted_model_service import (
    EXCHANGE,
    TITLE,
    Json,
    Service,
    User,
    completion,
    model_settings,
)
from tests.support.transcripts import bug_hunt
from tests.support.waiting import wait_out_midnight
from tests.support.warm_commands import warm_interpreter


def test_no_model_is_asked_without_settings(service: Service, tmp_path: Path) -> None:
    user = User(tmp_path, "")
    user.env |= {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": service.url}
    user.run("worker")
    assert not service.asked and user.status()["model"] is None
    assert "models: no model service" in user.run("status")


def test_a_worker_summarises_sessions_and_status_shows_the_cost(
    service: Service, tmp_path: Path
) -> None:
    user = User(tmp_path, model_settings(service))
    user.run("worker")
    assert len(service.asked) == 2
    found = json.loads(user.run("recall", TITLE, "--bank", "all", "--layer", "observations",
                                "--json"))["hits"]  # fmt: skip
    (hit,) = (hit for hit in found if hit["kind"] == "exchange")
    assert TITLE in hit["text"]
    shown = json.loads(user.run("show", hit["uri"], "--rules", "--json"))
    assert shown["record"]["author"].endswith("/small") and shown["record"]["title"] == TITLE
    assert shown["by_rules"]["title"] != TITLE and not shown["by_rules"]["author"]
    cost = user.status()
    assert cost["tokens"] == 2 * 960 and cost["usd"] is None and cost["waiting"] == 0
    assert [(day["operation"], day["calls"]) for day in cost["days"]] == [
        ("digests", 1),
        ("summaries", 1),
    ]
    told = user.run("status", "--cost")
    assert "price unknown" in told and "900 tokens in, 60 out" in told


def test_a_reached_cap_and_a_busy_service_are_reported_with_their_reason(
    service: Service, tmp_path: Path
) -> None:
    user = User(tmp_path, model_settings(service, "day_tokens = 10"))
    assert "stopped: A call may take" in user.run("worker") and not service.asked
    assert user.status()["waiting"] == 1
    assert "daily limit of 10 tokens" in user.status()["held"]
    (tmp_path / "home" / "config.toml").write_text(model_settings(service))
    service.answer = lambda: (429, {"error": {"message": "slow down"}})
    service.retry_after_s = 3600
    user.run("worker")
    user.run("worker")
    assert len(service.asked) == 1
    assert "slow down" in user.status()["held"] and "slow down" in user.run("status")


def test_a_worker_killed_between_call_and_store_repeats_only_that_call(
    service: Service, tmp_path: Path
) -> None:
    wait_out_midnight()
    user = User(tmp_path, model_settings(service))
    arrived, let_go = threading.Event(), threading.Event()

    def hold() -> tuple[int, Json]:
        arrived.set()
        let_go.wait(120)
        return 200, completion()

    service.answer = hold
    worker = warm_interpreter().start(["worker"], user.env)
    assert arrived.wait(60)
    worker.send_signal(signal.SIGKILL)
    worker.wait(60)
    let_go.set()
    assert user.status()["today"]["calls"] == 1 and user.status()["tokens"] > 4000
    service.answer = lambda: (200, completion())
    user.run("worker")
    assert len(service.asked) == 3 and user.status()["waiting"] == 0
    assert TITLE in user.run("recall", TITLE, "--bank", "all")


def test_the_subscription_summarises_a_session_through_the_real_program(tmp_path: Path) -> None:
    if find_claude() is None:
        pytest.skip("Claude Code is not here: pip install claude-agent-sdk brings it")
    digest = {"request": TITLE, "investigated": [], "learned": [TITLE], "completed": [],
              "next_steps": []}  # fmt: skip
    plays = {
        "answer": ([Use("StructuredOutput", {"exchanges": [EXCHANGE]})], [Say("Done.")]),
        "digest": ([Use("StructuredOutput", digest)], [Say("Done.")]),
    }
    wait_out_midnight()
    script = bug_hunt()
    script.assistant("The retry wrapper is tested. PLAY:digest")
    script.tool("Bash", "ok", command="echo PLAY:answer")
    user = User(tmp_path, '[models]\nuse = "claude"\ndays = 0\n', script)
    api = Api(plays, str(tmp_path))
    user.env |= api.env(tmp_path)
    told = user.run("worker")
    api.close()
    assert "summarise: 1 exchange, 1 session" in told, told
    assert TITLE in user.run("recall", TITLE, "--bank", "all")
    cost = user.status()
    assert cost["model"] == "claude" and cost["today"]["calls"] == 2 and cost["tokens"] > 100
    assert all("StructuredOutput" in api.sent(number) for number in range(len(api.requests)))


@pytest.mark.parametrize(
    "before",
    [
        "",
        'bank = "work"',
        'bank = "work"\n\n[models]\nsummaries = "x"\n\n[brief]\ngoal = false\n',
        '# mine\n[models]  # all of it\nuse = "none"  # not yet\nday_tokens = 5\n',
        "[models]",
    ],
)
def test_opting_in_changes_one_line_and_nothing_else(tmp_path: Path, before: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(before)
    env = {"HOLDFAST_HOME": str(tmp_path), "HOME": str(tmp_path)}
    assert choose_service(tmp_path, "auto") and not choose_service(tmp_path, "auto")
    assert load_settings(env).models.use == "auto"
    lost = set(before.splitlines()) - set(path.read_text().splitlines())
    assert all(line.startswith("use =") for line in lost)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_settings_file_in_an_unusual_layout_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("models.day_tokens = 5\n")
    with pytest.raises(SettingsError, match="cannot be changed safely"):
        choose_service(tmp_path, "auto")
    assert path.read_text() == "models.day_tokens = 5\n"
