"""The verdicts of `holdfast review` on what a brief tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.interfaces.cli.main import main
from holdfast.model.curation import Action
from holdfast.model.knowledge import Kind
from tests.brief.test_known_statements import FILLER, retain, session
from tests.brief.test_verdicts import KEPT, OTHER, name_of
from tests.support.refine_banks import open_filled, open_memory

RULE = "Always book berths by radio, never by telephone."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    with open_filled(
        tmp_path,
        session("2026-09-01", 1, FILLER, KEPT),
        session("2026-09-02", 2, RULE, OTHER),
        session("2026-09-03", 3, "Which lamp of the pier is broken?", "The third lamp is broken."),
    ) as memory:
        retain(memory, KEPT, Kind.FACT, where="src/berth.py, src/ship.py")
        retain(memory, OTHER, Kind.FACT)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(arguments) == 0
    return " ".join(capsys.readouterr().out.split())


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(arguments) != 0
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.usefixtures("home")
def test_the_verdict_of_an_agent_names_what_a_person_decided(
    capsys: pytest.CaptureFixture[str],
) -> None:
    short = name_of(KEPT).removeprefix("holdfast://")[:15]
    run(capsys, "review", "useful", short)
    said = run(capsys, "review", "outdated", short, "--by-agent", "cc")
    assert f"What a person decided still counts for: {short}" in said
    said = run(capsys, "review", "outdated", short)
    assert "still counts" not in said


def test_a_verdict_is_logged_marked_and_undone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = name_of(KEPT).removeprefix("holdfast://")[:16]
    said = run(capsys, "review", "outdated", short, "--why", "berths were sold", "--by-agent", "cc")
    assert KEPT in said and "1 record judged outdated. `holdfast undo` takes it back." in said
    assert "called outdated" in run(capsys, "show", name_of(KEPT))
    assert KEPT not in run(capsys, "brief")
    assert "1 decision undone." in run(capsys, "undo", "--yes")
    assert KEPT in run(capsys, "brief")
    with open_memory(home) as memory:
        actions = [one.action for one in memory.reader.curation.log(memory.context.bank_id() or "")]
    assert actions == [Action.JUDGE, Action.UNDO]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("outdated",), "Something is missing: ID."),
        (("useful", "memory/zzzz"), "no record memory/zzzz"),
        (("keep", "a", "b"), "does not take 'b'"),
        (("list", "--why", "so"), "There is no option '--why'"),
        (("retire", "a", "--by-agent", "cc"), "There is no option '--by-agent'"),
        (("--by-agent", "cc", "retire", "a"), "There is no option '--by-agent'"),
        (("useful", "a", "--by-agent", "cc", "--by-agent", ""), "--by-agent takes one name"),
        (("outdated", "memory/1", "--by-agent="), "--by-agent takes one name"),
        (("usefull", "a"), "Did you mean 'useful'?"),
    ],
)
def test_a_wrong_call_says_what_to_do(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(capsys, "review", *arguments)
