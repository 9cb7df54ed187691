from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from tests.support.laws import costly
from tests.support.memory_dump import dump
from tests.support.prepared_home import PreparedHome
from tests.support.sample_memory import open_memory, places_found, sample_session
from tests.support.transcripts import Script

FEW = costly(25)
Step = tuple[str, int]
OPS = ("forget_turn", "forget_exchange", "forget_session", "forget_digest", "correct_turn")
MORE = ("correct_exchange", "correct_digest", "remember", "merge", "restore")
steps = st.lists(st.tuples(st.sampled_from((*OPS, *MORE)), st.integers(0, 30)), max_size=5)


def names(memory: Holdfast, kind: str) -> list[str]:
    """The records of a kind that are shown, in an order that everything agrees on."""
    reader = memory.reader
    found: list[str] = []
    for session in sorted(reader.sessions.latest(None), key=lambda s: s.id):
        digest = reader.sessions.digest(session.bank, session.id)
        listed = {
            "session": [session.id],
            "digest": [digest.id] if digest else [],
            "exchange": [x.id for x in reader.sessions.exchanges(session.bank, session.id)],
            "turn": [t.id for t in reader.turns.of_session(session.bank, session.id)],
        }
        found += [f"{kind}/{id}" for id in listed[kind]]
    return found


def play(memory: Holdfast, step: Step, words: str = "said anew: it was the windlass") -> list[str]:
    """One decision; the names it was about."""
    op, n = step
    if op == "remember":
        memory.remember(f"remember the bowsprit {n}")
        return []
    if op == "restore":
        log = [e for b in memory.reader.banks.all() for e in memory.reader.curation.log(b.id)]
        gone = [e.target for e in log if e.action == "forget"]
        return act(memory, gone, n, memory.restore)
    if op == "merge":
        listed = names(memory, "exchange")
        if len(listed) > 1:
            memory.curation.merge(listed[n % len(listed)], listed[(n + 1) % len(listed)])
        return []
    verb, _, kind = op.partition("_")
    if verb == "forget":
        return act(memory, names(memory, kind), n, memory.forget)
    return act(memory, names(memory, kind), n, lambda name: memory.correct(name, words))


def act(memory: Holdfast, listed: list[str], n: int, do: Callable[[str], object]) -> list[str]:
    if not listed:
        return []
    try:
        do(listed[n % len(listed)])
    except InputError:
        return []  # what is forgotten with another cannot be restored by itself
    return [listed[n % len(listed)]]


def two_sessions(home: Path) -> list[Path]:
    other = Script("44444444-0000-4000-8000-000000000001")
    other.user("Why is the capstan so slow?")
    other.assistant("The capstan waits for the pawl; a second pawl would help.")
    folder = home / "claude" / "projects"
    return [sample_session().write(folder), other.write(folder)]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedHome:
    """A home whose memory has read two sessions."""

    def make(home: Path) -> None:
        with open_memory(home) as memory:
            memory.ingest(memory.ingestion.find(two_sessions(home)))

    return PreparedHome(tmp_path_factory.mktemp("two_sessions"), make)


@pytest.mark.slow
@FEW
@given(decisions=steps)
def test_undoing_everything_restores_exactly(prepared: PreparedHome, decisions: list[Step]) -> None:
    with open_memory(prepared.fresh()) as memory:
        before = dump(memory.settings.database)
        for step in decisions:
            play(memory, step)
        memory.undo(1000)
        assert dump(memory.settings.database) == before
        memory.ingestion.rebuild()
        assert dump(memory.settings.database) == before


@pytest.mark.slow
@FEW
@given(decisions=steps)
def test_each_undo_restores_the_state_before_the_decision(
    prepared: PreparedHome, decisions: list[Step]
) -> None:
    with open_memory(prepared.fresh()) as memory:
        seen: list[tuple[int, dict[str, list[str]]]] = []
        for step in decisions:
            before = dump(memory.settings.database)
            seen.append((entries(memory), before))
            play(memory, step)
        for number, before in reversed(seen):
            memory.undo(entries(memory) - number) if entries(memory) > number else None
            assert dump(memory.settings.database) == before


def entries(memory: Holdfast) -> int:
    log = [e for b in memory.reader.banks.all() for e in memory.reader.curation.log(b.id)]
    undone = sum(e.action == "undo" for e in log)
    return len(log) - 2 * undone


@pytest.mark.slow
@FEW
@given(decisions=steps)
def test_decisions_survive_a_rebuild_and_reading_everything_again(
    prepared: PreparedHome, decisions: list[Step]
) -> None:
    home = prepared.fresh()
    with open_memory(home) as memory:
        for step in decisions:
            play(memory, step)
        decided = dump(memory.settings.database)
        memory.ingestion.rebuild()
        assert dump(memory.settings.database) == decided
        paths = sorted((home / "claude" / "projects").rglob("*.jsonl"))
        assert len(paths) == 2
        for path in paths:  # a rewritten file is read from its start
            path.write_bytes(b'{"type":"mode","mode":"x"}\n' + path.read_bytes())
        memory.ingest(memory.ingestion.find(paths))
        again = dump(memory.settings.database)
        for table in ("exchange", "digest", "passage", "labelled_record", "record_labels"):
            assert again[table] == decided[table], table


@pytest.mark.slow
@FEW
@given(st.integers(1, 10), st.sampled_from((*OPS, "correct_exchange", "correct_digest")),
       st.integers(0, 30))  # fmt: skip
def test_the_order_of_ingest_and_curation_does_not_matter(cut: int, op: str, n: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = sample_session().dumps().splitlines(keepends=True)
        dumps: list[dict[str, list[str]]] = []
        targets: list[str] = []
        path = sample_session().write(Path(folder) / "claude" / "projects")
        for late in (True, False):
            with open_memory(Path(folder) / f"home{late}") as memory:
                if late:
                    path.write_bytes(b"".join(whole[:cut]))
                    memory.ingest(memory.ingestion.find([path]))
                    targets = play(memory, (op, n))
                    path.write_bytes(b"".join(whole))
                    memory.ingest(memory.ingestion.find([path]))
                else:
                    memory.ingest(memory.ingestion.find([path]))
                    for name in targets:
                        decide(memory, op, name)
                dumps.append(dump(memory.settings.database))
        assert dumps[0] == dumps[1]


def decide(memory: Holdfast, op: str, name: str) -> None:
    if op.startswith("forget"):
        memory.forget(name)
    else:
        memory.correct(name, "said anew: it was the windlass")


WORDS = ("quartzite", "sandstone", "limestone", "porphyry")


@pytest.fixture(scope="module")
def four_exchanges(tmp_path_factory: pytest.TempPathFactory) -> PreparedHome:
    """A home whose memory has read a session; each exchange has a word that no other has."""

    def make(home: Path) -> None:
        script = Script()
        for word in WORDS:
            script.user(f"Please look into the {word} and tell me what it does there.")
            script.assistant(f"The {word} holds the wall; nothing else depends on {word}.")
        path = script.write(home / "claude" / "projects")
        with open_memory(home) as memory:
            (home / "briefs").mkdir(parents=True)
            memory.ingest(memory.ingestion.find([path]))

    return PreparedHome(tmp_path_factory.mktemp("four_exchanges"), make)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "count"), [("turn", 2 * len(WORDS)), ("exchange", len(WORDS)), ("session", 1)]
)
def test_forgotten_records_are_not_found_after_a_rebuild(
    four_exchanges: PreparedHome, kind: str, count: int
) -> None:
    """Words that only the forgotten turns hold are nowhere, now and after a rebuild: whichever
    record of a kind is forgotten."""
    with open_memory(four_exchanges.fresh()) as memory:
        listed = names(memory, kind)
    assert len(listed) == count
    for target in listed:
        with open_memory(four_exchanges.fresh()) as memory:
            check_forgotten(memory, target)


def check_forgotten(memory: Holdfast, target: str) -> None:
    held = memory.show(target)
    before = dump(memory.settings.database)
    memory.forget(target)
    left = " ".join(
        turn.text
        for session in memory.reader.sessions.latest(None)
        for turn in memory.reader.turns.of_session(session.bank, session.id)
    )
    gone = [word for word in WORDS if word in repr(held) and word not in left]
    assert gone or target.startswith("turn/")
    for again in (False, True):
        if again:
            memory.ingestion.rebuild()
        for word in gone:
            assert places_found(memory, word) == []
    memory.restore(target)
    assert dump(memory.settings.database) == before
