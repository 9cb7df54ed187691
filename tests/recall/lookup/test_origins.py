from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.uris import uri
from holdfast.recall.lookup.origins import Named, Origin, origins
from holdfast.store.records.git_history import CommitAuthorship
from tests.store.conformance.samples import a_commit
from tests.support.sample_memory import SESSION, memory_with_session, turn_saying
from tests.support.transcripts import Script


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    with memory_with_session(tmp_path) as made:
        yield made


def _origin(memory: Holdfast, bank: str, name: str) -> Origin:
    return origins(memory.reader, [Named(bank, name)])[name]


def test_a_turn_comes_from_its_session(memory: Holdfast) -> None:
    turn = turn_saying(memory, "painted blue")
    found = _origin(memory, turn.bank, uri("turn", turn.id))
    assert found.session == turn.session and "xebec loader" in found.title


def test_a_fact_comes_from_the_session_of_its_evidence(memory: Holdfast) -> None:
    turn = turn_saying(memory, "always paint the yawl blue")
    facts = memory.reader.facts.stated_in(turn.bank, uri("turn", turn.id))
    assert facts, "the decision is a fact"
    assert _origin(memory, turn.bank, uri("fact", facts[0].id)).session == turn.session


def test_a_session_whose_title_ended_is_called_by_its_day(tmp_path: Path) -> None:
    script = Script(SESSION)
    script.user("We decided to always paint the yawl blue in the harbour.")
    script.assistant("Understood, the yawl is blue from now on.")
    with memory_with_session(tmp_path, script) as memory:
        turn = turn_saying(memory, "always paint the yawl blue")
        name = uri("turn", turn.id)
        assert "paint the yawl blue" in _origin(memory, turn.bank, name).title
        (fact,) = memory.reader.facts.stated_in(turn.bank, name)
        memory.correct(f"fact/{fact.id}", "We decided to paint the yawl red.", who="ada")
        called = f"session of {turn.time[:10]}"
        assert _origin(memory, turn.bank, name) == Origin(turn.session, called)


def test_a_commit_comes_from_the_session_that_made_it(memory: Holdfast) -> None:
    session = memory.reader.sessions.latest(None)[0]
    commit, passage = a_commit("c" * 40, "Paint the yawl", bank=session.bank)
    with memory.store.transaction():
        memory.store.git.put_commits([(commit, passage)])
    name = uri("commit", commit.id)
    assert _origin(memory, session.bank, name) == Origin()
    made = CommitAuthorship(session.bank, commit.id, session.id, "", 0.9, "its hash was printed")
    with memory.store.transaction():
        memory.store.git.put_authorship(session.bank, [made])
    assert _origin(memory, session.bank, name).session == session.id


def test_what_comes_from_no_session_has_no_origin(memory: Holdfast) -> None:
    bank = memory.reader.banks.all()[0].id
    kept = memory.remember("The quay floods at 4.2 metres.", bank)
    assert _origin(memory, bank, uri("memory", kept.id)) == Origin()
    assert _origin(memory, bank, uri("turn", "0" * 16)) == Origin()
