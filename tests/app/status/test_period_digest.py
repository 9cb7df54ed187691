"""What a week came to: each line from a record, and what was forgotten only by its name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.app.status.period_digest import as_markdown, digest, digest_json
from holdfast.interfaces.cli.main import main
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse
from holdfast.model.trust import Trust
from holdfast.settings import Settings
from tests.support.prepared_home import PreparedHome

SAMPLES = Path(__file__).parents[3] / "examples" / "sessions"
ALWAYS = ("2026-01-01", "2099-01-01")


def settings_of(home: Path) -> Settings:
    return Settings(home, home.parent / "claude", embed_model="none")


def read_samples(home: Path) -> None:
    with Holdfast(settings_of(home)) as memory:
        memory.ingest(memory.ingestion.find([SAMPLES]))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedHome:
    return PreparedHome(tmp_path_factory.mktemp("prepared"), read_samples)


@pytest.fixture
def memory(prepared: PreparedHome, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holdfast]:
    settings = settings_of(prepared.fresh())
    monkeypatch.setenv("HOLDFAST_HOME", str(settings.home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(settings.claude_dir))
    with Holdfast(settings) as made:
        yield made


def texts(memory: Holdfast, section: str, since: str, until: str) -> list[str]:
    told = {one.name: one for one in digest(memory, "all", since, until).sections}
    return [f"{item.text} ({item.note})" for item in told[section].items]


@pytest.mark.slow
def test_work_decisions_and_lessons_of_a_period_are_listed_with_their_records(
    memory: Holdfast,
) -> None:
    september = ("2026-09-01", "2026-10-01")
    done = texts(memory, "done", *september)
    assert [line.partition(" (")[0] for line in done[:1]] == ["A cache for the dashboard"]
    assert not any("second harbour" in line for line in done)
    assert any("never retry a 4xx" in line for line in texts(memory, "decided", *september))
    assert not any("never retry a 4xx" in line for line in texts(memory, "learned", *september))
    assert texts(memory, "done", "2020-01-01", "2020-02-01") == []
    for section in digest(memory, "all", *ALWAYS).sections:
        for item in section.items:
            assert memory.show(item.uri) is not None, item
    memory.close()


@pytest.mark.slow
def test_what_was_left_open_is_listed_until_it_is_forgotten(memory: Holdfast) -> None:
    week = ("2026-10-26", "2026-11-02")
    (step,) = texts(memory, "open", *week)
    assert "on both sides of the clock change" in step and "Every alert comes twice" in step
    assert texts(memory, "open", "2020-01-01", "2020-02-01") == []
    markdown = as_markdown(digest(memory, "all", *week))
    assert "## What is open" in markdown and "clock change" in markdown
    assert digest_json(digest(memory, "all", *week))["open"]["items"]
    (found,) = {one.name: one for one in digest(memory, "all", *week).sections}["open"].items
    memory.forget(found.uri, who="ada")
    assert texts(memory, "open", *week) == []
    memory.close()


@pytest.mark.slow
def test_corrected_errors_are_listed_without_repeating_forgotten_text(
    memory: Holdfast,
) -> None:
    session = memory.reader.sessions.latest(None)[0]
    first = memory.reader.turns.of_session(session.bank, session.id)[0]
    memory.correct(f"holdfast://turn/{first.id}", "The limit at Skerry is 4.1.", session.bank)
    decided = {one.name: one.items for one in digest(memory, "all", *ALWAYS).sections}["decided"]
    secret = "never retry a 4xx"
    (unwanted,) = [item.uri for item in decided if secret in item.text]
    memory.forget(unwanted, session.bank)
    known = Injection(
        *("i1", session.bank, "s", utc_now(), InjectionKind.GOAL, 80),
        *((f"holdfast://turn/{first.id}",), True, InjectionUse.CONTRADICTED, "no, that is wrong"),
    )
    ignored = Injection(
        *(
            "i2",
            session.bank,
            "s",
            utc_now(),
            InjectionKind.START,
            80,
            (),
            True,
            InjectionUse.IGNORED,
        ),
    )
    with memory.store.transaction():
        for one in (known, ignored):
            memory.store.injections.add(one)
            memory.store.injections.record_outcome(one)
    wrong = texts(memory, "wrong", *ALWAYS)
    assert "The limit at Skerry is 4.1. (corrected)" in wrong
    assert "a record was forgotten (forgotten)" in wrong
    assert any("contradicted in the session: no, that is wrong" in line for line in wrong)
    told = digest(memory, "all", *ALWAYS)
    assert told.ignored == 1
    assert secret not in as_markdown(told) and secret not in json.dumps(digest_json(told))
    memory.undo(1, session.bank)
    assert "a record was forgotten (forgotten)" not in texts(memory, "wrong", *ALWAYS)
    memory.forget(unwanted, session.bank)
    assert "a record was forgotten (forgotten)" in texts(memory, "wrong", *ALWAYS)
    memory.restore(unwanted, session.bank)
    assert "a record was forgotten (forgotten)" not in texts(memory, "wrong", *ALWAYS)
    memory.close()


@pytest.mark.slow
def test_a_correction_is_listed_until_it_is_forgotten(
    memory: Holdfast,
) -> None:
    bank = memory.reader.sessions.latest(None)[0].bank
    kept = memory.remember("Always moor at the north quay.", bank)
    name = f"holdfast://memory/{kept.id}"
    memory.correct(name, "Always moor at the south quay.", bank)
    assert "Always moor at the south quay. (corrected)" in texts(memory, "wrong", *ALWAYS)
    memory.forget(name, bank)
    wrong = texts(memory, "wrong", *ALWAYS)
    assert {"a record was corrected (corrected)", "a record was forgotten (forgotten)"} <= {*wrong}
    assert "south quay" not in json.dumps(digest_json(digest(memory, "all", *ALWAYS)))
    memory.close()


def test_an_empty_memory_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    assert main(["digest", "--week"]) == 0
    assert "The memory is empty; `holdfast ingest`" in capsys.readouterr().out


def test_the_command_prints_text_markdown_and_json(
    memory: Holdfast, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.close()
    span = ["--since", "2026-09", "--until", "2026-11"]
    assert main(["digest", *span]) == 0
    told = capsys.readouterr().out
    assert "What was done" in told and "holdfast://digest/" in told
    assert "2026-09-01 to 2026-12-01, all banks: 10 sessions" in told
    assert "and 8 more" in (main(["digest", *span, "--limit", "2"]), capsys.readouterr().out)[1]
    assert main(["digest", *span, "--md"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("# 2026-09-01 to 2026-12-01, all banks\n\n## What was done\n\n- 2026-")
    assert main(["digest", *span, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sessions"] == 10 and found["decided"]["items"][0]["uri"]
    assert main(["digest", "--week"]) == 0 and "What memory got wrong" in capsys.readouterr().out
    assert main(["digest", "--until", "2026-11"]) == 2
    assert main(["digest", "--week", "--days", "3"]) == 2


@pytest.mark.slow
def test_text_from_memory_is_escaped(memory: Holdfast) -> None:
    bank = memory.reader.banks.all()[0].id
    memory.remember("# <b>Bold</b> [click](http://x) `rm`", bank)
    page = as_markdown(digest(memory, "all", *ALWAYS))
    assert " # \\<b\\>Bold\\</b\\> \\[click\\](http://x) \\`rm\\`" in page
    memory.close()


@pytest.mark.slow
def test_only_what_a_person_approved_or_asked_to_remember_is_decided(memory: Holdfast) -> None:
    memory.teaching.learn("api", "Endpoints page by the walrus cursor.", by="agent")
    memory.remember("The walrus gate opens at noon.")
    memory.remember("An agent saw a walrus.", trust=Trust.ASSISTANT, who="agent")
    memory.retain("Moved the walrus importer.", "experience")
    waiting = memory.rules.proposals()
    assert [one.text for one in waiting if "walrus" in one.text]
    decided = texts(memory, "decided", *ALWAYS)
    assert [line for line in decided if "walrus" in line] == [
        "The walrus gate opens at noon. (remember)"
    ]
    memory.close()
