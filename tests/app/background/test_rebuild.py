"""`holdfast refine`: what older versions made is priced, made again, and never paid for twice."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.memory_dump import dump
from tests.support.permitted_model_service import (
    EXCHANGE,
    Json,
    Service,
    User,
    completion,
    model_settings,
)
from tests.support.transcripts import Script, bug_hunt
from tests.support.waiting import wait_out_midnight, wait_until
from tests.support.warm_commands import warm_interpreter

BETTER = "The retry wrapper ran load() twice after a timeout in the nightly import"
WORDS = "retry wrapper load timeout nightly import"


def better_summary() -> tuple[int, Json]:
    """What a model says when it is asked in a better way."""
    said = completion()
    one = {**EXCHANGE, "title": BETTER}
    digest = {"request": BETTER, "learned": [BETTER]}
    said["choices"][0]["message"]["content"] = json.dumps({"exchanges": [one], **digest})
    return 200, said


def mark_outdated(user: User, rules: bool = False) -> None:
    """Let what was made be the work of older prompts, or of older rules."""
    with closing(sqlite3.connect(user.database)) as raw, raw:
        raw.execute(
            "UPDATE session_derivation SET rules_version = 0"
            if rules
            else "UPDATE model_summary SET version = 0"
        )


def user_with_summaries(folder: Path, service: Service, count: int = 1) -> User:
    """A user whose sessions a model has summed up, when it was asked in an older way."""
    talks = [bug_hunt(f"{number:08}-0000-4000-8000-000000000001") for number in range(count)]
    user = User(folder, model_settings(service), *talks)
    user.run("worker")
    mark_outdated(user)
    service.asked.clear()
    service.answer = better_summary
    return user


def titles(user: User) -> list[str]:
    with closing(sqlite3.connect(user.database)) as raw:
        return [title for (title,) in raw.execute("SELECT title FROM exchange ORDER BY session")]


def test_a_rebuild_shows_its_price_first_and_is_not_paid_twice(
    service: Service, tmp_path: Path
) -> None:
    user = user_with_summaries(tmp_path, service, 2)
    assert "2 sessions (older prompts)" in user.run("status")
    told = user.run("refine", "--stale", "--dry-run")
    assert "2 exchanges and 2 digests of 2 sessions: 4 calls," in told, told
    assert "price unknown" in told and "Within the daily limits." in told
    priced = json.loads(user.run("refine", "--stale", "--dry-run", "--json"))
    assert not service.asked and titles(user) == [EXCHANGE["title"]] * 2
    told = user.run("refine", "--stale", "--yes")
    assert "Summarised again: 2 exchanges, 2 digests." in told
    assert len(service.asked) == priced["offer"]["calls"] == 4 and titles(user) == [BETTER] * 2
    assert BETTER in user.run("recall", WORDS, "--bank", "all")
    assert "up to date (rules version" in user.run("refine", "--stale", "--yes")
    user.run("worker")
    assert len(service.asked) == 4 and "older prompts" not in user.run("status")


def test_the_price_follows_the_price_table_and_the_days_follow_the_caps(
    service: Service, tmp_path: Path
) -> None:
    user = user_with_summaries(tmp_path, service, 3)
    user.set(model_settings(service, "day_tokens = 8000\n[models.prices]\nsmall = [1.0, 2.0]"))
    offer = json.loads(user.run("refine", "--stale", "--dry-run", "--json"))["offer"]
    assert offer["usd"] == pytest.approx((offer["tokens_in"] + 2 * offer["tokens_out"]) / 1e6)
    spent = user.status()["tokens"]
    lacking = offer["tokens_in"] + offer["tokens_out"] - (8000 - spent)
    assert offer["days"] == 1 + -(-lacking // 8000) and offer["days"] > 1
    assert f"it takes {offer['days']} days" in user.run("refine", "--stale", "--dry-run")
    user.set(model_settings(service, "day_tokens = 0"))
    assert "do not allow it" in user.run("refine", "--stale", "--dry-run")


def test_without_a_terminal_nothing_is_paid_without_consent(
    service: Service, tmp_path: Path
) -> None:
    user = user_with_summaries(tmp_path, service)
    mark_outdated(user, rules=True)
    for more in ((), ("--json",)):
        done = warm_interpreter().run(["refine", "--stale", *more], user.env)
        assert done.returncode == 2 and "no terminal to ask at" in done.stderr
    assert json.loads(user.run("status", "--json"))["older"]["rules"] == 1
    told = user.run("refine", "--stale", "--rules-only")
    assert "1 session updated." in told and not service.asked
    assert titles(user) == [EXCHANGE["title"]]


def at_a_terminal(user: User, answer: str, *arguments: str) -> str:
    """Run a command at a terminal, and answer its question."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        user.command(*arguments), env={**user.env, "TERM": "dumb"}, stdin=slave, stdout=slave,
        stderr=slave,
    )  # fmt: skip
    os.close(slave)
    told = b""
    while b"[y/N]" not in told:
        told += os.read(master, 4096)
    os.write(master, answer.encode() + b"\n")
    try:
        while piece := os.read(master, 4096):
            told += piece
    except OSError:  # the other end is closed
        pass
    os.close(master)
    assert process.wait(60) == 0, told
    return told.decode()


def test_at_a_terminal_the_price_is_shown_and_consent_is_asked(
    service: Service, tmp_path: Path
) -> None:
    user = user_with_summaries(tmp_path, service)
    told = at_a_terminal(user, "", "refine", "--stale")
    assert "2 calls," in told and not service.asked
    told = at_a_terminal(user, "y", "refine", "--stale")
    assert "Summarised again: 1 exchange, 1 digest." in told and titles(user) == [BETTER]
    assert "calling the model" in told


@pytest.mark.parametrize(
    ("call", "how"), [(1, signal.SIGKILL), (2, signal.SIGKILL), (2, signal.SIGINT)]
)
def test_a_rebuild_killed_at_any_call_continues_and_repeats_only_that_call(
    service: Service, tmp_path: Path, call: int, how: signal.Signals
) -> None:
    user = user_with_summaries(tmp_path, service, 2)
    arrived, let_go = threading.Event(), threading.Event()

    def hold() -> tuple[int, Json]:
        if len(service.asked) == call:
            arrived.set()
            let_go.wait(120)
        return better_summary()

    service.answer = hold
    refine = warm_interpreter().start(["refine", "--stale", "--yes"], user.env)
    assert arrived.wait(60)
    # Whoever asks meanwhile gets an answer, of what was done or of what was there before.
    assert user.run("recall", WORDS, "--bank", "all")
    refine.send_signal(how)
    assert refine.wait(60) == (130 if how is signal.SIGINT else -signal.SIGKILL)
    let_go.set()
    user.run("refine", "--stale", "--yes")
    assert len(service.asked) == 4 + 1 and titles(user) == [BETTER] * 2
    assert json.loads(user.run("status", "--json"))["older"]["prompts"] == 0


def test_a_cap_reached_midway_stops_the_rebuild_and_keeps_the_older_text(
    service: Service, tmp_path: Path
) -> None:
    wait_out_midnight()
    user = user_with_summaries(tmp_path, service, 2)
    spent = user.status()["tokens"]
    user.set(model_settings(service, f"day_tokens = {spent + 6500}"))
    told = user.run("refine", "--stale", "--yes")
    assert "Stopped: A call may take" in told and "1 session." in told
    assert sorted(titles(user)) == sorted([BETTER, EXCHANGE["title"]])
    asked = len(service.asked)
    user.set(model_settings(service))
    user.run("refine", "--stale", "--yes")
    assert titles(user) == [BETTER] * 2 and len(service.asked) == 4 > asked


def test_a_session_whose_cap_is_used_up_is_not_changed(service: Service, tmp_path: Path) -> None:
    user = user_with_summaries(tmp_path, service)
    user.set(model_settings(service, "session_tokens = 6000"))
    told = user.run("refine", "--stale", "--yes")
    assert "1 session skipped" in told and not service.asked
    assert titles(user) == [EXCHANGE["title"]]


def test_two_processes_never_ask_a_model_at_once(service: Service, tmp_path: Path) -> None:
    user = user_with_summaries(tmp_path, service)
    with (tmp_path / "home" / "asking.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = warm_interpreter().run(["refine", "--stale", "--yes"], user.env)
        assert done.returncode == 1 and "calling a model right now" in done.stderr
        user.run("worker")
    assert not service.asked


@pytest.mark.slow
def test_a_rebuild_by_rules_that_is_killed_continues_with_the_same_result(tmp_path: Path) -> None:
    talks = [long_session(number) for number in range(16)]
    user = User(tmp_path, "", *talks)
    user.run("ingest")
    wanted = dump(user.database)
    mark_outdated(user, rules=True)
    refine = warm_interpreter().start(["refine", "--stale"], user.env)
    done = "SELECT count(*) FROM session_derivation WHERE rules_version > 0"
    with closing(sqlite3.connect(user.database)) as raw:
        wait_until(
            lambda: refine.poll() is not None or raw.execute(done).fetchone()[0] >= 2,
            "two sessions are brought up to date",
            every_s=0.002,
        )
    refine.send_signal(signal.SIGKILL)
    assert refine.wait(60) == -signal.SIGKILL
    left = json.loads(user.run("status", "--json"))["older"]["rules"]
    assert 0 < left < len(talks)
    assert f"{left} sessions updated." in user.run("refine", "--stale")
    assert dump(user.database) == wanted


def long_session(number: int) -> Script:
    script = bug_hunt(f"{number:08}-0000-4000-8000-000000000001")
    for step in range(12):
        script.user(f"Step {step}: please look at the importer of part {number} once more.")
        script.assistant("The retry wrapper ran load() again after a timeout. " * 2)
    return script
