from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import InputError, NotFoundError
from holdfast.learn.bank_settings import BankChanges
from holdfast.learn.presets import PRESETS
from holdfast.model.bank import Disposition
from holdfast.model.curation import Action
from holdfast.model.knowledge import Network
from holdfast.operations.concepts import keywords
from tests.support.opinion_sessions import (
    Clock,
    ingest_and_update,
    open_dated_memory,
    session_on_day,
)
from tests.support.transcripts import Script


def test_a_bank_can_be_set_by_preset_and_by_number(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, "Say hello."))
        assert memory.banks.get().disposition == Disposition(3, 3, 3)
        assert memory.banks.change(BankChanges("bug-investigation")).disposition == Disposition(
            4, 4, 2
        )
        changed = memory.banks.change(BankChanges(empathy=5, background="  A yard.  "))
        assert (changed.disposition, changed.background) == (Disposition(4, 4, 5), "A yard.")
        assert memory.banks.change(BankChanges(background="")).background == ""
        assert PRESETS["support"] == Disposition(2, 2, 5)


@pytest.mark.parametrize(
    "wish",
    [
        BankChanges("nonsense"),
        BankChanges(skepticism=0),
        BankChanges(literalism=6),
        BankChanges(retention=-1),
        BankChanges(background="x" * 4001),
        BankChanges(aliases=("all",)),
        BankChanges(aliases=(" ",)),
        BankChanges(dropped_aliases=("unheard of",)),
    ],
)  # fmt: skip
def test_invalid_values_are_refused_and_change_nothing(wish: BankChanges, tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, "Say hello."))
        before = memory.banks.get()
        with pytest.raises(InputError):
            memory.banks.change(wish)
        assert memory.banks.get() == before


def test_an_alias_belongs_to_one_bank(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path, bank="") as memory:
        ingest_and_update(
            memory,
            session_on_day(1, "Hi there.", cwd="/d/one"),
            session_on_day(2, "Hi there.", cwd="/d/two"),
        )
        memory.banks.change(BankChanges(aliases=("yard",)), "one")
        assert memory.banks.get("yard").name == "one"
        with pytest.raises(InputError, match="name of the bank one"):
            memory.banks.change(BankChanges(aliases=("yard",)), "two")
        memory.banks.change(BankChanges(dropped_aliases=("yard",)), "one")
        with pytest.raises(NotFoundError):
            memory.banks.get("yard")
        own = next(a for a in memory.banks.get("one").aliases if not a.startswith("name:"))
        with pytest.raises(InputError, match="project itself"):
            memory.banks.change(BankChanges(dropped_aliases=(own,)), "one")


@pytest.mark.slow
def test_retention_hides_old_sessions_and_restores_them(tmp_path: Path) -> None:
    clock = Clock()
    with open_dated_memory(tmp_path, clock) as memory:
        clock.day = 400
        ingest_and_update(
            memory,
            session_on_day(1, "The xebec is flaky."),
            session_on_day(2, "We never sail the galleon on a Friday in winter."),
            session_on_day(390, "The yawl is stable."),
        )
        galleon = next(
            turn
            for session in memory.reader.sessions.latest(None)
            for turn in memory.reader.turns.of_session(session.bank, session.id)
            if "galleon" in turn.text
        )
        memory.correct(galleon.id, "We never sail the galleon on a Sunday.")
        before = [s.id for s in memory.reader.sessions.latest(None)]
        assert len(before) > 1
        memory.banks.change(BankChanges(retention=6))
        assert not memory.recall("xebec").hits
        assert memory.recall("galleon").hits and memory.recall("yawl").hits
        memory.banks.change(BankChanges(retention=0))
        assert [s.id for s in memory.reader.sessions.latest(None)] == before
        assert memory.recall("xebec").hits


@pytest.mark.slow
def test_a_change_of_a_bank_is_undone_with_its_effects(tmp_path: Path) -> None:
    clock = Clock()
    with open_dated_memory(tmp_path, clock) as memory:
        clock.day = 400
        ingest_and_update(
            memory,
            session_on_day(1, "The xebec is flaky."),
            session_on_day(390, "The yawl is stable."),
        )
        before = memory.banks.get()
        memory.banks.change(
            BankChanges("support", background="For sailors.", aliases=("boats",)), who="ada"
        )
        memory.banks.change(BankChanges(retention=6))
        assert not memory.recall("xebec").hits
        (undone,) = memory.undo()
        assert (undone.action, undone.target) == (Action.SET, f"holdfast://bank/{before.id}")
        assert memory.recall("xebec").hits and memory.banks.get().retention == 0
        memory.banks.change(BankChanges(aliases=("ships",)))
        memory.banks.change(BankChanges(dropped_aliases=("ships",)))
        assert [entry.action for entry in memory.undo(3)] == [Action.SET] * 3
        assert memory.banks.get() == before
        memory.banks.change(BankChanges(background=before.background))
        assert memory.undo() == [], "what changes nothing is no decision"


def test_retention_does_not_restore_what_a_person_has_hidden(tmp_path: Path) -> None:
    clock = Clock()
    with open_dated_memory(tmp_path, clock) as memory:
        clock.day = 400
        ingest_and_update(memory, session_on_day(1, "The xebec is flaky."))
        memory.forget(memory.reader.sessions.latest(None)[0].id)
        memory.banks.change(BankChanges(retention=6))
        memory.banks.change(BankChanges(retention=0))
        assert not memory.reader.sessions.latest(None)


def _worked_on(number: int, word: str, cwd: str) -> Script:
    script = session_on_day(
        number,
        f"The {word} parser is really slow.",
        f"Please always use table-driven tests for the {word} parser.",
        f"We decided to use SQLite for the {word} store, because it is quick.",
        cwd=cwd,
    )
    script.user(f"Mend the {word} test.")
    script.tool("Bash", f"KeyError: {word}", error=True, command=f"pytest tests/test_{word}.py")
    script.tool("Edit", "ok", file_path=f"{cwd}/src/{word}.py", old_string="a", new_string="b")
    script.tool("Bash", "3 passed", command=f"pytest tests/test_{word}.py")
    script.assistant(f"Fixed the {word} parser; the root cause was a missing key.")
    return script


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bank", "own", "other"), [("a", "xebec", "ketch"), ("b", "ketch", "xebec")]
)
def test_records_of_one_bank_are_not_shown_in_another(
    bank: str, own: str, other: str, tmp_path: Path
) -> None:
    with open_dated_memory(tmp_path, bank="") as memory:
        ingest_and_update(memory, *(_worked_on(n, "xebec", "/home/dev/a") for n in range(3)))
        ingest_and_update(memory, *(_worked_on(n, "ketch", "/home/dev/b") for n in range(10, 13)))
        memory.retain("The ketch tool is fast.", "opinion", 0.7, bank="b")
        memory.ingestion.update()
        asked = "why was the parser slow"
        told = (
            memory.opinions.opinions(bank, all=True), memory.browse.facts(bank, all=True),
            memory.browse.entities(bank),
            memory.browse.concepts(bank), keywords(memory, bank), memory.browse.reviews(bank),
            memory.store.rules.patterns(memory.banks.get(bank).id), memory.rules.candidates(bank),
            memory.recall(asked, bank), memory.ask(asked, bank),
            memory.opinions.reflect(asked, bank),
            *(memory.recall(asked, bank, networks=[one]) for one in Network),
        )  # fmt: skip
        assert own in repr(told) and other not in repr(told)
