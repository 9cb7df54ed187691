from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.ingest.stages import stages_behind
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.model.knowledge import Concept
from holdfast.model.query import Layer
from holdfast.model.uris import uri
from holdfast.operations import records
from holdfast.operations.concepts import keyword
from holdfast.recall.lookup.topics import find_concept
from tests.support.laws import costly
from tests.support.memory_dump import dump
from tests.support.prepared_home import PreparedHome
from tests.support.sample_memory import exchange_about, open_memory, places_found
from tests.support.transcripts import Script

TOPICS = {
    "gauge": ("tide gauge readings", "src/gauge.py", ("zircon", "quartz", "feldspar")),
    "crane": ("crane winch brake", "src/winch.py", ("pumice", "basalt", "gneiss")),
}


def sessions(home: Path) -> list[Path]:
    """Two topics, three sessions each; each has one word that stands nowhere else."""
    made: list[Path] = []
    for place, (name, (what, file, words)) in enumerate(TOPICS.items()):
        for number, word in enumerate(words):
            script = Script(f"5555{place}{number}55-0000-4000-8000-000000000001")
            script.user(f"The {what} are wrong, look at {word} please.")
            script.tool(
                "Edit", "ok", file_path=f"/home/dev/proj/{file}", old_string="a", new_string=word
            )
            script.assistant(
                f"The {what} are right again: the {name} used {word} where it must not."
            )
            made.append(script.write(home / "claude" / "projects"))
    return made


def read_sessions(home: Path) -> None:
    with open_memory(home) as memory:
        memory.ingest(memory.ingestion.find(sessions(home)))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedHome:
    return PreparedHome(tmp_path_factory.mktemp("prepared"), read_sessions)


@pytest.fixture
def memory(prepared: PreparedHome) -> Iterator[Holdfast]:
    with open_memory(prepared.fresh()) as opened:
        yield opened


def concept(memory: Holdfast, word: str) -> Concept:
    (found,) = [c for c in memory.browse.concepts(limit=100) if word in c.name.lower()]
    return found


@pytest.mark.slow
def test_ingested_sessions_give_concepts_that_are_found(memory: Holdfast) -> None:
    names = sorted(c.name for c in memory.browse.concepts())
    assert names == ["crane winch brake", "tide gauge readings"]
    gauge = concept(memory, "gauge")
    assert len(gauge.members) == 3 and gauge.files == ("src/gauge.py",)
    hits = memory.recall("tide gauge readings", layers=[Layer.SUMMARIES]).hits
    assert uri("concept", gauge.id) in [hit.uri for hit in hits]
    shown = memory.show(uri("concept", gauge.id))
    assert [uri("exchange", x.id) for x in shown.below] == list(gauge.members)
    assert memory.show(gauge.members[0]).above[0] == uri("concept", gauge.id)


@pytest.mark.slow
def test_a_name_given_by_a_person_survives_growth_rebuild_and_loss_of_the_founder(
    memory: Holdfast, tmp_path: Path
) -> None:
    gauge = concept(memory, "gauge")
    memory.correct(uri("concept", gauge.id), "Gauges in the fog")
    renamed = find_concept(memory.reader, None, "gauges in the fog")
    assert (renamed.id, renamed.members) == (gauge.id, gauge.members)
    assert memory.show(uri("concept", gauge.id)).superseded == "tide gauge readings"
    assert places_found(memory, "Gauges in the fog") or memory.recall("fog").hits
    memory.ingestion.rebuild()
    assert find_concept(memory.reader, None, "Gauges in the fog") == renamed
    memory.forget(gauge.members[0])
    left = find_concept(memory.reader, None, "Gauges in the fog")
    assert (left.id, left.members) == (gauge.id, gauge.members[1:])
    memory.undo(2)
    assert concept(memory, "gauge") == gauge


@pytest.mark.slow
def test_a_forgotten_concept_is_hidden_and_its_exchanges_stay(memory: Holdfast) -> None:
    gauge = concept(memory, "gauge")
    before = dump(memory.settings.database)
    memory.forget(uri("concept", gauge.id))
    for again in (False, True):
        if again:
            memory.ingestion.rebuild()
        assert [c.name for c in memory.browse.concepts()] == ["crane winch brake"]
        assert keyword(memory, "gauge").counts == {"exchange": 3}
        with pytest.raises(NotFoundError, match="was forgotten"):
            memory.show(uri("concept", gauge.id))
        assert exchange_about(memory, "zircon")
    memory.restore(uri("concept", gauge.id))
    assert dump(memory.settings.database) == before


@pytest.mark.slow
def test_two_concepts_can_be_merged_and_the_old_name_still_resolves(memory: Holdfast) -> None:
    gauge, crane = concept(memory, "gauge"), concept(memory, "crane")
    before = dump(memory.settings.database)
    memory.curation.merge(uri("concept", crane.id), uri("concept", gauge.id))
    for again in (False, True):
        if again:
            memory.ingestion.rebuild()
        (one,) = memory.browse.concepts()
        assert one.id == gauge.id and set(one.members) == {*gauge.members, *crane.members}
        assert any(told.why == "a person merged them" for told in one.history)
        shown = memory.show(uri("concept", crane.id))
        assert shown.record == one and shown.note.endswith("was merged into this one.")
    memory.undo()
    assert dump(memory.settings.database) == before


@pytest.mark.slow
def test_a_forgotten_exchange_is_removed_from_its_concept(memory: Holdfast) -> None:
    gauge = concept(memory, "gauge")
    last = gauge.members[-1]
    assert "feldspar" in gauge.summary
    memory.forget(last)
    for again in (False, True):
        if again:
            memory.ingestion.rebuild()
        left = concept(memory, "gauge")
        assert left.id == gauge.id and last not in left.members
        assert "feldspar" not in repr(left)
        assert places_found(memory, "feldspar") == []


@pytest.mark.slow
@pytest.mark.parametrize("how", ["purge", "scrub"])
def test_erased_text_is_in_no_byte_of_the_memory(memory: Holdfast, how: str) -> None:
    gauge = concept(memory, "gauge")
    if how == "purge":
        memory.erasure.purge(gauge.members[-1])
    else:
        memory.erasure.scrub("feldspar")
    assert concept(memory, "gauge").id == gauge.id
    memory.close()
    for path in memory.settings.home.glob("memory.db*"):
        assert b"feldspar" not in path.read_bytes(), path


@pytest.mark.slow
def test_a_concept_cannot_be_purged_but_its_members_can(memory: Holdfast) -> None:
    with pytest.raises(InputError, match="holds only what its exchanges"):
        memory.erasure.purge(uri("concept", concept(memory, "gauge").id))


@pytest.mark.slow
def test_a_memory_joins_the_concept_of_its_subject(memory: Holdfast) -> None:
    kept = memory.remember("Tide gauge readings in src/gauge.py are in centimetres.")
    assert uri("memory", kept.id) in concept(memory, "gauge").members
    memory.forget(uri("memory", kept.id))
    assert len(concept(memory, "gauge").members) == 3


def test_the_path_leads_up_to_the_concept_and_down_to_the_raw_lines(memory: Holdfast) -> None:
    gauge = concept(memory, "gauge")
    down = records.path(memory, uri("concept", gauge.id))
    assert [r.uri for r in down.down if r.kind == "exchange"] == list(gauge.members)
    turns = [r for r in down.down if r.kind == "turn"]
    assert len(turns) == 9 and {r.under for r in turns} == set(gauge.members)
    lines = [r for r in down.down if r.kind == "line"]
    assert len(lines) == 9 and all(r.state == "present" and r.line for r in lines)
    up = records.path(memory, turns[0].uri)
    assert [r.uri for r in up.up] == [uri("concept", gauge.id), gauge.members[0]]
    assert [r.kind for r in up.down] == ["line"]
    assert [r.level for r in (*up.up, up.here, *up.down)] == ["L3", "L2", "L1", "raw"]


@pytest.mark.model
def test_a_kill_before_concepts_are_written_loses_no_work(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.ingestion.ingest(memory.ingestion.find(sessions(tmp_path)), then_know=False)
        assert memory.browse.concepts() == [] and "concepts" in stages_behind(
            memory.store, memory.settings
        )
    with open_memory(tmp_path) as memory:
        memory.remember("Nothing about that.")
        assert len(memory.browse.concepts()) == 2 and not stages_behind(
            memory.store, memory.settings
        )


@pytest.mark.slow
def test_unchanged_concepts_are_not_written(memory: Holdfast) -> None:
    def rows() -> list[int]:
        with closing(sqlite3.connect(memory.settings.database)) as database:
            return [n for (n,) in database.execute("SELECT rowid FROM concept ORDER BY rowid")]

    before = rows()
    memory.remember("We deploy on Tuesdays.")
    assert rows() == before


_Step = tuple[str, int]
_steps = st.lists(
    st.tuples(
        st.sampled_from(("correct", "forget", "merge", "exchange", "undo")), st.integers(0, 5)
    ),
    max_size=5,
)


def play(memory: Holdfast, step: _Step) -> None:
    op, n = step
    concepts = sorted(memory.browse.concepts(limit=100), key=lambda c: c.id)
    if op == "undo":
        memory.undo()
    elif op == "exchange":
        members = sorted(m for c in concepts for m in c.members)
        if members:
            memory.forget(members[n % len(members)])
    elif concepts:
        target = uri("concept", concepts[n % len(concepts)].id)
        if op == "correct":
            memory.correct(target, f"Called anew {n}")
        elif op == "forget":
            memory.forget(target)
        elif len(concepts) > 1:
            memory.curation.merge(target, uri("concept", concepts[(n + 1) % len(concepts)].id))


@pytest.fixture(scope="module")
def read_at_once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What a memory that has read all sessions in one go holds."""
    home = tmp_path_factory.mktemp("read_at_once")
    with open_memory(home) as memory:
        memory.ingest(memory.ingestion.find(sessions(home)))
        return dump(memory.settings.database)


@pytest.mark.slow
@costly(15)
@given(steps=_steps, order=st.permutations(range(6)))
def test_decisions_survive_a_rebuild_and_any_order_of_reading(
    read_at_once: dict[str, list[str]], steps: list[_Step], order: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        paths = sessions(home)
        with open_memory(home) as memory:
            for number, place in enumerate(order):
                # Concepts are made after every second session.
                inputs = memory.ingestion.find([paths[place]])
                memory.ingestion.ingest(inputs, then_know=number % 2 == 1)
            before = dump(memory.settings.database)
            for step in steps:
                play(memory, step)
            decided = dump(memory.settings.database)
            memory.ingestion.rebuild()
            assert dump(memory.settings.database) == decided
            memory.undo(1000)
            assert dump(memory.settings.database)["concept"] == before["concept"]
            assert dump(memory.settings.database)["passage"] == before["passage"]
    assert read_at_once["concept"] == before["concept"] != []
    assert read_at_once["concept_member"] == before["concept_member"]
