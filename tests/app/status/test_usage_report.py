"""What a memory was worth: every injection counted once, and nothing claimed beyond its traces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast
from holdfast.interfaces.cli.main import main
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse
from holdfast.model.ledgers.model_calls import CallOutcome, ModelCall
from holdfast.operations.admin.usage import OutcomeCounts, count_outcomes, worth
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import bug_hunt

NOW = "2026-11-15T12:00:00.000Z"


def injection(
    number: int,
    use: InjectionUse = InjectionUse.UNKNOWN,
    arrived: bool | None = True,
    time: str = "2026-11-10",
) -> Injection:
    kind = InjectionKind.START if number % 2 else InjectionKind.GOAL
    moment = f"{time}T10:00:00.000Z"
    return Injection(f"i{number}", "", f"s{number % 3}", moment, kind, 400, (), arrived, use)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holdfast]:
    home = tmp_path / "home"
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    bug_hunt().write(tmp_path / "claude" / "projects" / "p")
    settings = Settings(home, tmp_path / "claude", bank="proj", embed_model="none")
    with Holdfast(with_empty_memory(settings), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([]))
        yield memory


def put(memory: Holdfast, *known: Injection) -> None:
    store = memory.store
    with store.transaction():
        for one in known:
            store.injections.add(one)
            store.injections.record_outcome(one)


def test_injections_are_counted_by_outcome(memory: Holdfast) -> None:
    put(
        memory,
        injection(1, InjectionUse.CITED),
        injection(2, InjectionUse.FILE),
        injection(3, InjectionUse.WORDING),
        injection(4, InjectionUse.IGNORED),
        injection(5, InjectionUse.CONTRADICTED),
        injection(6, InjectionUse.IGNORED, arrived=False),
        injection(7, arrived=None),
        injection(8, InjectionUse.CITED, time="2026-09-01"),
    )
    found = worth(memory, 30)
    assert found.total == OutcomeCounts(7, used=3, ignored=1, wrong=1, lost=1, unjudged=1)
    assert found.uses == {"cited": 1, "file": 1, "wording": 1}
    assert found.sessions == 3 and found.tokens == 6 * 100
    assert found.kinds["goal"].injected + found.kinds["start"].injected == 7
    assert worth(memory, 365).total.injected == 8
    memory.close()


def test_the_tokens_of_a_session_that_goes_on_are_counted(memory: Holdfast) -> None:
    put(memory, injection(1, arrived=None), injection(2, arrived=False))
    assert worth(memory, 30).tokens == 100
    memory.close()


@pytest.mark.slow
@given(
    st.lists(
        st.builds(
            injection,
            st.integers(0, 9),
            st.sampled_from(InjectionUse),
            st.sampled_from([True, False, None]),
        )
    )
)
def test_every_injection_has_exactly_one_outcome(known: list[Injection]) -> None:
    fate = count_outcomes(known)
    assert sum(fate[1:]) == fate.injected == len(known)


def test_costs_come_from_the_ledger(memory: Holdfast) -> None:
    call = ModelCall(
        "b", "c1", "2026-11-14T10:00:00.000Z", "s", "summarise", "openai", "m", 900, 100
    )
    with memory.store.transaction():
        for id, usd in (("c1", 0.25), ("c2", None)):
            made = ModelCall(
                *(call.bank, id, call.time, call.session, call.operation, call.service, call.model),
                *(900, 100, 0, usd),
                outcome=CallOutcome.DONE,
            )
            memory.store.model_calls.reserve(made)
    found = worth(memory)
    assert (found.spent.calls, found.spent.tokens, found.spent.usd) == (2, 2000, 0.25)
    assert found.spent.unpriced == 1
    memory.close()


def test_the_command_prints_the_same_numbers(
    memory: Holdfast, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.close()
    assert main(["worth"]) == 0
    told = capsys.readouterr().out
    assert "Nothing was injected into a session" in told and "not used, no cost" in told
    assert main(["worth", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"]["injected"] == 0
