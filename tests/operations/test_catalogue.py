"""Lists of records of one kind, the log of decisions, and the review queue."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.model.knowledge import Memory, Network
from holdfast.model.trust import Status, Trust
from holdfast.operations.catalogue import RecordList, Section, records
from holdfast.operations.decisions.curation import undo
from holdfast.operations.decisions.log import decisions
from holdfast.operations.decisions.reviews import adopt, reviews, waiting_counts
from tests.support.opinion_sessions import Clock, open_dated_memory
from tests.support.refine_banks import open_filled, session_saying


def _ids(found: RecordList) -> list[str]:
    return [one.id for one in found.records]


def test_an_opinion_is_listed_with_its_trend(tmp_path: Path) -> None:
    clock = Clock()
    with open_dated_memory(tmp_path, clock) as memory:
        for day, confidence in ((1, 0.6), (3, 0.8)):
            clock.day = day
            memory.retain("The pipeline is flaky.", "opinion", confidence)
        (one,) = records(memory, Section.OPINIONS).records
        assert (one.trend.value, len(one.evidence_for)) == ("strengthening", 2)


def test_a_list_has_what_holds_unless_all_is_wanted(tmp_path: Path) -> None:
    scripts = [
        session_saying("2026-09-01", 1, "From now on use npm in this repository."),
        session_saying("2026-09-09", 2, "From now on use pnpm instead of npm in this repository."),
    ]
    with open_filled(tmp_path, *scripts) as memory:
        old, new = sorted(memory.browse.facts(all=True), key=lambda fact: fact.validity.learned)
        assert _ids(records(memory, Section.FACTS)) == [new.id]
        assert _ids(records(memory, Section.FACTS, all=True)) == [new.id, old.id]
        assert _ids(records(memory, Section.FACTS, Status.SUPERSEDED)) == [old.id]


@pytest.mark.slow
def test_a_long_list_is_read_page_by_page_and_by_words(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, "Never push to main.")) as memory:
        for n in range(23):
            memory.remember(f"Note number {n} of many.")
        memory.remember("One of another kind.")
        first = records(memory, Section.MEMORIES, words="NUMBER many", limit=20)
        assert first.cursor is not None
        second = records(
            memory, Section.MEMORIES, words="number many", limit=20, cursor=first.cursor
        )
        assert (len(first.records), len(second.records), second.cursor) == (20, 3, None)
        assert not {*_ids(first)} & {*_ids(second)}


def _hidden(memory: Holdfast, words: str = "") -> list[tuple[str, str]]:
    found = records(memory, Section.FORGOTTEN, words=words).records
    return [(one.text, one.into.rpartition("/")[2]) for one in found]


def test_what_was_forgotten_and_what_was_decided_is_listed_once(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, "Never push to main.")) as memory:
        one = memory.remember("The winch is blue.")
        other = memory.remember("The winch is painted blue.")
        memory.curation.merge(one.id, other.id)
        memory.forget(other.id)
        memory.restore(other.id)
        assert _hidden(memory) == _hidden(memory, "winch BLUE") == [(one.what, other.id)]
        assert _hidden(memory, "green") == []
        log = decisions(memory).decisions
        assert [d.action.value for d in log[:3]] == ["restore", "forget", "merge"]
        # Everything is about the same two records, so only the last of each can be undone.
        assert [d.can_undo for d in log] == [True, False, False, False, False]
        memory.undo()
        log = decisions(memory).decisions
        assert log[1].undone and not log[1].can_undo
        assert log[2].title == other.what, "what was forgotten is told"
        assert [d.target for d in decisions(memory, words="merge").decisions] == [
            f"holdfast://memory/{one.id}"
        ]


def test_decisions_are_undone_by_their_numbers(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, "Never push to main.")) as memory:
        for text in ("The winch is blue.", "The crane is red.", "The gate is green."):
            memory.remember(text)
        third, _, first = (one.seq for one in decisions(memory).decisions[:3])
        assert [one.target for one in undo(memory, numbers=(first, third)).undone] != []
        kept = records(memory, Section.MEMORIES, words="is").records
        assert "The crane is red." in [one.what for one in kept]
        assert not {"The winch is blue.", "The gate is green."} & {one.what for one in kept}


def test_notes_of_agents_wait_however_many_memories_follow(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, "Hello.")) as memory:
        assert sum(waiting_counts(memory)) == 0
        bank = memory.context.bank_ids(None)[0]
        old = Memory(bank, "old", Network.WORLD, "The lathe hums.", Trust.ASSISTANT, "2026-01-01")
        with memory.store.transaction():
            memory.store.memories.put_remembered(old)
            for number in range(600):
                memory.store.memories.put_remembered(
                    replace(old, id=f"{number:04}", trust=Trust.USER, when="2026-02-01")
                )
        assert [one.id for one in reviews(memory).memories] == ["old"]
        assert sum(waiting_counts(memory)) == 1


def test_a_note_of_an_agent_is_kept_in_a_persons_name(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, "Hello.")) as memory:
        kept = memory.remember("The winch is green.", trust=Trust.ASSISTANT)
        made = adopt(memory, kept.id, "The winch is dark green.")
        assert made.record.trust is Trust.USER and reviews(memory).memories == ()
        assert not memory.curation.target(kept.id).shown
        with pytest.raises(InputError, match="is forgotten"):
            adopt(memory, kept.id)
