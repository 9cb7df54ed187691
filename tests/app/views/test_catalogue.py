from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.views.catalogue import (
    ANY,
    PAGE_SIZE,
    CatalogueQuery,
    catalogue_page,
    hidden_records,
    logged_decisions,
)
from holdfast.app.views.record_view import fingerprint, open_record, page_address
from holdfast.app.views.review_queue import count_waiting, load_queue
from holdfast.model.knowledge import Memory, Network
from holdfast.model.trust import Trust
from tests.support.opinion_sessions import (
    Clock,
    open_dated_memory,
)
from tests.support.refine_banks import NOW, open_filled, session_saying


def test_an_opinion_is_listed_with_its_trend_and_history(tmp_path: Path) -> None:
    clock = Clock()
    with open_dated_memory(tmp_path, clock) as memory:
        for day, confidence in ((1, 0.6), (3, 0.8)):
            clock.day = day
            memory.retain("The pipeline is flaky.", "opinion", confidence)
        (found,) = memory.opinions.opinions()
        (item,) = catalogue_page(memory, CatalogueQuery("opinions")).items
        assert (item.id, item.trend, item.speaks_for) == (found.id, "strengthening", 2)
        opened = open_record(memory, memory.show(item.uri))
        assert opened and opened.item == item and opened.trace.beliefs[0].note == "formed"
        assert len(opened.speaks_for) == 2 and all(ref.title for ref in opened.speaks_for)
        assert opened.can == {"forget", "correct", "merge"}


def test_each_person_can_confirm_a_fact_once(tmp_path: Path) -> None:
    with open_filled(
        tmp_path, session_saying("2026-09-01", 1, "From now on use npm in this repository.")
    ) as memory:
        (fact,) = memory.browse.facts()
        name = f"holdfast://fact/{fact.id}"
        memory.curation.confirm(name, who="ada")
        (once,) = memory.browse.facts()
        memory.curation.confirm(name, who="ada")
        assert memory.browse.facts() == [once] and once.confidence > fact.confidence
        assert once.last_validated == NOW > fact.last_validated
        opened = open_record(memory, memory.show(name))
        assert opened and opened.held and (opened.held.who, opened.held.time) == ("ada", NOW)
        assert all(ref.uri != name for ref in opened.speaks_for)
        memory.curation.confirm(name, who="ben")
        assert memory.browse.facts()[0].confidence > once.confidence
        memory.undo(3)
        assert memory.browse.facts() == [fact]


def test_a_superseded_fact_and_its_successor_refer_to_each_other(tmp_path: Path) -> None:
    scripts = [
        session_saying("2026-09-01", 1, "From now on use npm in this repository."),
        session_saying("2026-09-09", 2, "From now on use pnpm instead of npm in this repository."),
    ]
    with open_filled(tmp_path, *scripts) as memory:
        old, new = sorted(memory.browse.facts(all=True), key=lambda fact: fact.validity.learned)
        assert old.superseded_by == f"holdfast://fact/{new.id}"
        for fact in (old, new):
            opened = open_record(memory, memory.show(f"holdfast://fact/{fact.id}"))
            chain = opened.chain if opened else ()
            assert [ref.uri.rpartition("/")[2] for ref in chain] == [old.id, new.id]
            assert [ref.here for ref in chain] == [fact is old, fact is new]
        assert [item.id for item in catalogue_page(memory, CatalogueQuery("facts")).items] == [
            new.id
        ]
        everything = catalogue_page(memory, CatalogueQuery("facts", status=ANY)).items
        assert [item.ended for item in everything] == [False, True]
        assert page_address(memory.reader, old.evidence[0]).startswith("/sessions/")


@pytest.mark.slow
def test_a_long_section_is_listed_page_by_page(tmp_path: Path) -> None:
    with open_filled(
        tmp_path, session_saying("2026-09-01", 1, "Never push to the main branch.")
    ) as memory:
        for n in range(PAGE_SIZE + 3):
            memory.remember(f"Note number {n} of many.")
        memory.remember("One of another kind.")
        bank = memory.banks.all()[0].name
        wanted = CatalogueQuery("memories", bank, words="number")
        first, second = (
            catalogue_page(memory, wanted),
            catalogue_page(memory, wanted._replace(page=2)),
        )
        assert (len(first.items), first.more) == (PAGE_SIZE, True)
        assert (len(second.items), second.more) == (3, False)
        assert not {item.id for item in first.items} & {item.id for item in second.items}
        assert catalogue_page(memory, wanted._replace(page=3)).items == ()


def test_hidden_records_and_logged_decisions_are_listed_once(tmp_path: Path) -> None:
    with open_filled(
        tmp_path, session_saying("2026-09-01", 1, "Never push to the main branch.")
    ) as memory:
        one = memory.remember("The winch is blue.")
        other = memory.remember("The winch is painted blue.")
        memory.curation.merge(one.id, other.id)
        memory.forget(other.id)
        memory.restore(other.id)
        away, more = hidden_records(memory, CatalogueQuery("forgotten"))
        assert [(a.id, a.text, a.into.rpartition("/")[2]) for a in away] == [
            (one.id, one.what, other.id)
        ]
        assert not more
        found, _ = hidden_records(memory, CatalogueQuery("forgotten", words="winch BLUE"))
        assert found == away
        assert hidden_records(memory, CatalogueQuery("forgotten", words="green")) == (
            [],
            False,
        )
        log, _ = logged_decisions(memory, CatalogueQuery("decisions"))
        assert [d.entry.action.value for d in log[:3]] == ["restore", "forget", "merge"]
        # Everything is about the same two records, so only the last of each can be undone.
        assert [d.can_undo for d in log] == [True, False, False, False, False]
        memory.undo()
        log, _ = logged_decisions(memory, CatalogueQuery("decisions"))
        assert log[1].undone and not log[1].can_undo
        assert log[2].title == other.what, "what was forgotten is told"


def test_memories_of_agents_wait_for_review_and_those_of_people_do_not(tmp_path: Path) -> None:
    with open_filled(
        tmp_path, session_saying("2026-09-01", 1, "Never push to the main branch.")
    ) as memory:
        assert count_waiting(memory) == load_queue(memory).total == 0
        memory.remember("The winch is green.", trust=Trust.ASSISTANT)
        memory.remember("The winch is blue.")
        assert count_waiting(memory) == load_queue(memory).total == 1
        assert [one.what for one in load_queue(memory).memories] == ["The winch is green."]


def test_the_fingerprint_of_a_text_ignores_the_kind_of_line_ends() -> None:
    assert fingerprint("one\r\ntwo") == fingerprint("one\ntwo") != fingerprint("one two")


def test_a_memory_of_an_agent_waits_however_many_memories_follow(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, "Hello.")) as memory:
        bank = memory.context.bank_ids(None)[0]
        old = Memory(bank, "old", Network.WORLD, "The lathe hums.", Trust.ASSISTANT, "2026-01-01")
        with memory.store.transaction():
            memory.store.memories.put_remembered(old)
            for number in range(600):
                memory.store.memories.put_remembered(
                    replace(old, id=f"{number:04}", trust=Trust.USER, when="2026-02-01")
                )
        assert [one.id for one in load_queue(memory).memories] == ["old"]
        assert count_waiting(memory) == 1


def test_a_similar_record_is_found_beyond_the_first_page(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, "Hello.")) as memory:
        bank = memory.context.bank_ids(None)[0]
        one = Memory(bank, "one", Network.WORLD, "The lathe hums.", Trust.USER, "2026-01-01")
        with memory.store.transaction():
            memory.store.memories.put_remembered(one)
            for number in range(2 * PAGE_SIZE):
                memory.store.memories.put_remembered(
                    replace(one, id=f"{number:04}", what=f"Number {number}.", when="2026-02-01")
                )
            memory.store.memories.put_remembered(
                replace(one, id="two", what="That lathe hums.", when="2026-03-01")
            )
        opened = open_record(memory, memory.show("holdfast://memory/two"))
        assert opened and [item.id for item in opened.alike] == ["one"]
