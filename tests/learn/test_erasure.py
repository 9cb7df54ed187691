from __future__ import annotations

import json
import os
import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.background.runner import WorkerOptions
from holdfast.app.background.steps import STEPS
from holdfast.app.background.worker import run_worker
from holdfast.app.ingest.ingestion import exclusion_rules
from holdfast.app.memory import Holdfast
from holdfast.capture import journal
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.learn.erasure import is_unfinished
from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.query import RecordFilter
from holdfast.refine.hooks.reconcile import reconcile
from holdfast.refine.sessions.embedding import embed_pending
from holdfast.store.sqlite.migrate import back_up
from tests.support.embedders import BagOfWords
from tests.support.memory_dump import dump
from tests.support.sample_memory import (
    SESSION,
    exchange_about,
    memory_with_session,
    open_memory,
    places_found,
    sample_session,
    turn_saying,
)
from tests.support.waiting import wait_until
from tests.support.warm_commands import warm_interpreter

SECRET = "swordfish-7731-zanzibar"


def anywhere(home: Path, secret: str) -> list[str]:
    """Every file of a home that holds the bytes, but for what is not ours."""
    wanted = secret.encode()
    return [
        str(path.relative_to(home))
        for path in sorted(home.rglob("*"))
        if path.is_file() and "claude" not in path.parts and wanted in path.read_bytes()
    ]


def memory_with_secret(home: Path) -> Holdfast:
    """A memory into which a secret slipped by every way there is."""
    script = sample_session()
    script.user(f"The password of the harbour office is {SECRET}, keep it to yourself.")
    script.assistant(f"I will use {SECRET} for the harbour office.")
    script.tool("Bash", f"logged in with {SECRET}", command=f"login harbour {SECRET}")
    script.add({"type": "custom-title", "customTitle": f"On {SECRET}", "sessionId": SESSION})
    memory = memory_with_session(home, script)
    memory.remember(f"The office opens with {SECRET} on weekdays.")
    memory.correct(exchange_about(memory, "yawl").id, f"The yawl is blue; ask with {SECRET}.")
    places = HomePaths(home)
    journal.append(
        places.journal(SESSION),
        [{"v": 1, "id": "e1", "event": "UserPromptSubmit", "session": SESSION, "time": "",
          "role": "user", "trust": "user", "at": "", "text": f"again: {SECRET}"}],
    )  # fmt: skip
    places.worker_log.write_text(f"drain failed: {SECRET}\nall is well\n")
    places.briefs.mkdir()
    (home / "vectors").mkdir()
    (home / "vectors" / "0000.vectors").write_bytes(SECRET.encode())
    with memory.store.transaction():
        memory.store.failed_tasks.put(FailedTask("drain", 1, f"cannot: {SECRET}", "", ""))
    embed_pending(memory.store, BagOfWords())
    memory.remember("The lamp is lit at dusk.")  # has the briefs prepared
    return memory


def is_ledger_balanced(memory: Holdfast) -> bool:
    balance = memory.inventory.balance()
    return balance.accounted == balance.lines - balance.pending


@pytest.mark.model
def test_a_scrubbed_secret_is_in_no_byte_of_the_home(tmp_path: Path) -> None:
    with memory_with_secret(tmp_path) as memory:
        held = {Path(path).name for path in anywhere(tmp_path, SECRET)}
        assert held & {"memory.db", "memory.db-wal"}
        assert held >= {"worker.log", f"{SESSION}.jsonl", "0000.vectors"}
        assert any(path.startswith("briefs") for path in anywhere(tmp_path, SECRET))
        found = memory.erasure.plan_scrub(SECRET)
        told = memory.erasure.scrub(SECRET)
        assert told == found
        assert told.records == {
            "turn": 3, "session": 1, "memory": 1, "decision": 1, "chore": 1
        }  # fmt: skip
        assert (told.events, told.log_lines) == (1, 1)
        assert anywhere(tmp_path, SECRET) == []
        assert anywhere(tmp_path, "swordfish") == []
        assert is_ledger_balanced(memory)
        assert memory.store.vectors.prune("bag-of-words") == 0
        said = turn_saying(memory, "password of the harbour office")
        assert said.text == "The password of the harbour office is [erased], keep it to yourself."
        assert memory.recall("when does the office open").hits
        assert memory.store.check_integrity() == ((), ())
    assert anywhere(tmp_path, SECRET) == []


@pytest.mark.slow
def test_scrubbed_text_does_not_come_back_when_the_file_is_read_again(tmp_path: Path) -> None:
    with memory_with_secret(tmp_path) as memory:
        memory.erasure.scrub(SECRET)
        path = next((tmp_path / "claude").rglob("*.jsonl"))
        path.write_bytes(b'{"type":"mode","mode":"x"}\n' + path.read_bytes())
        memory.ingest(memory.ingestion.find([path]))
        memory.ingestion.rebuild()
        assert anywhere(tmp_path, SECRET) == []
        assert is_ledger_balanced(memory)
        assert memory.inventory.balance().skipped is not None


@pytest.mark.model
def test_the_raw_line_of_scrubbed_text_is_not_shown(tmp_path: Path) -> None:
    with memory_with_secret(tmp_path) as memory:
        memory.erasure.scrub(SECRET)
        turn = turn_saying(memory, "password of the harbour office")
        raw = memory.show(f"turn/{turn.id}").raw
        assert raw is not None
        assert (raw.state, raw.text) == ("withheld", "")
        found = memory.recall(SECRET)
        assert (found.hits, found.fallbacks[0]) == ((), "raw_grep")


@pytest.mark.slow
def test_a_regular_expression_scrubs_everything_it_matches(tmp_path: Path) -> None:
    with memory_with_secret(tmp_path) as memory:
        memory.erasure.scrub(r"/swordfish-\d+-\w+/")
        assert anywhere(tmp_path, "swordfish") == []


@pytest.mark.parametrize("pattern", ["abc", "", "/x*/", "/(/"])
def test_a_pattern_that_would_match_everything_is_refused(pattern: str, tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory, pytest.raises(InputError):
        memory.erasure.scrub(pattern)


@pytest.mark.slow
def test_scrubbing_twice_finds_nothing_the_second_time(tmp_path: Path) -> None:
    with memory_with_secret(tmp_path) as memory:
        memory.erasure.scrub(SECRET)
        before = dump(memory.settings.database)
        assert memory.erasure.scrub(SECRET).nothing
        assert dump(memory.settings.database) == before


@pytest.mark.slow
def test_backups_that_contain_it_are_named(tmp_path: Path) -> None:
    with memory_with_secret(tmp_path) as memory:
        with closing(sqlite3.connect(memory.settings.database)) as raw:
            held = back_up(raw, memory.settings.database, 9)
        assert memory.erasure.scrub(SECRET).copies == (held,)
        with closing(sqlite3.connect(memory.settings.database)) as raw:
            clean = back_up(raw, memory.settings.database, 9)
        assert memory.erasure.plan_scrub(SECRET).copies == (held,)
        assert clean != held
        (tmp_path / "backups" / "broken.db").write_bytes(b"not a database at all" * 99)
        assert memory.erasure.plan_scrub(SECRET).copies[0].name == "broken.db"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["turn", "exchange", "session"])
def test_a_purged_record_is_in_no_byte_of_the_home(kind: str, tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        places = HomePaths(tmp_path)
        places.briefs.mkdir()
        exchange = exchange_about(memory, "xebec")
        turns = memory.reader.turns.of_session(
            exchange.bank, exchange.session, exchange.first_seq, 2
        )
        journal.append(
            places.journal(SESSION),
            [{"v": 1, "id": f"e{turn.seq}", "event": "Stop", "session": SESSION, "time": "",
              "role": turn.role.value, "trust": "user", "at": "", "text": turn.text}
             for turn in turns],
        )  # fmt: skip
        memory.correct(exchange.id, "The xebec loader waited for an unheard-of tide.")
        memory.correct(turns[1].id, "The xebec was held by an unheard-of lock.")
        target = {
            "turn": turns[1].id, "exchange": exchange.id, "session": f"session/{SESSION}"
        }[kind]  # fmt: skip
        if kind == "session":
            memory.forget(target)  # what is forgotten can still be purged
        told = memory.erasure.purge(target)
        gone = "unheard-of lock" if kind == "turn" else "unheard-of"
        assert anywhere(tmp_path, gone) == []
        assert anywhere(tmp_path, "because the tide table is locked") == []
        if kind != "turn":
            assert anywhere(tmp_path, "xebec") == []
            assert places_found(memory, "xebec") == []
        assert told.records["turn"] == {"turn": 1, "exchange": 4, "session": 10}[kind]
        assert is_ledger_balanced(memory)
        assert memory.undo(99) is not None
        assert anywhere(tmp_path, "because the tide table is locked") == []
        assert memory.store.check_integrity() == ((), ())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["exchange", "session"])
def test_a_purged_line_is_not_read_again(kind: str, tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        exchange = exchange_about(memory, "xebec")
        memory.erasure.purge(exchange.id if kind == "exchange" else f"session/{SESSION}")
        path = next((tmp_path / "claude").rglob("*.jsonl"))
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b'{"type":"mode","mode":"x"}\n' + b"".join(lines))
        memory.ingest(memory.ingestion.find([path]))
        assert anywhere(tmp_path, "xebec") == []
        assert is_ledger_balanced(memory)
        skipped = memory.inventory.balance().skipped or {}
        assert skipped["erased"] == {"exchange": 5, "session": 13}[kind]
        left = memory.reader.records.filter(None, RecordFilter(since="0"))
        assert len(left) == (2 if kind == "exchange" else 0)


@pytest.mark.slow
def test_a_purged_memory_does_not_even_leave_its_id(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        kept = memory.remember(f"open with {SECRET}")
        memory.correct(kept.id, f"open with {SECRET} and a smile")
        memory.erasure.purge(kept.id)
        assert anywhere(tmp_path, SECRET) == []
        assert anywhere(tmp_path, kept.id) == []
        assert memory.inventory.counts().memories == 0
        assert memory.remember(f"open with {SECRET}").id
        assert memory.inventory.counts().memories == 1


@pytest.mark.slow
def test_a_planned_purge_counts_what_is_then_erased(tmp_path: Path) -> None:
    with memory_with_secret(tmp_path) as memory:
        said = turn_saying(memory, "password of the harbour office")
        places = HomePaths(tmp_path)
        places.worker_log.write_text(f"drain failed: {said.text}\nall is well\n{said.text}\n")
        kept = memory.remember("The lamp is trimmed at dawn.")
        planned = memory.erasure.plan_purge(kept.id)
        assert (planned.records, planned.events, planned.log_lines) == ({"memory": 1}, 0, 0)
        assert memory.erasure.purge(kept.id) == planned
        planned = memory.erasure.plan_purge(f"session/{SESSION}")
        assert (planned.records["session"], planned.events, planned.log_lines) == (1, 1, 2)
        assert places.worker_log.read_text().count(said.text) == 2
        assert memory.erasure.purge(f"session/{SESSION}") == planned
        assert said.text not in places.worker_log.read_text()


def test_a_digest_is_not_purged_by_itself(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        digest = memory.reader.sessions.digest(exchange_about(memory, "yawl").bank, SESSION)
        assert digest is not None
        with pytest.raises(InputError, match="only what its exchanges say"):
            memory.erasure.purge(digest.id)


@pytest.mark.slow
def test_a_journal_with_erased_lines_still_adds_up(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        path = HomePaths(tmp_path).journal(SESSION)
        turn = turn_saying(memory, "rename the ketch")
        event = {
            "v": 1, "id": "e1", "event": "UserPromptSubmit", "session": SESSION, "time": "",
            "role": "user", "trust": "user", "at": "", "text": turn.text,
        }  # fmt: skip
        other = {**event, "id": "e2", "text": "Something else was asked."}
        journal.append(path, [event, other])
        assert memory.erasure.purge(turn.id).events == 1
        first, second = [json.loads(line) for line in path.read_text().splitlines()]
        assert first == {"v": 1, "id": "e1", "event": "UserPromptSubmit", "session": SESSION,
                         "time": "", "skip": "erased"}  # fmt: skip
        assert second == other
        assert journal.append(path, [event]) == 0


SCRUB = """
import sys
from pathlib import Path
from tests.support.sample_memory import open_memory
with open_memory(Path(sys.argv[1])) as memory:
    memory.erasure.scrub(sys.argv[2])
"""


@pytest.mark.process
def test_an_interrupted_erasure_is_finished_by_the_worker(tmp_path: Path) -> None:
    memory_with_secret(tmp_path).close()
    with open_memory(tmp_path) as memory, closing(sqlite3.connect(tmp_path / "memory.db")) as other:
        # While somebody reads the old rows, their file cannot be overwritten.
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM turn").fetchone()
        erasing = warm_interpreter().start([str(tmp_path), SECRET], os.environ, code=SCRUB)
        wait_until(
            lambda: is_unfinished(memory.store) or erasing.poll() is not None, "the rows are gone"
        )
        erasing.kill()
        assert erasing.wait() == -signal.SIGKILL
        assert is_unfinished(memory.store)
    assert anywhere(tmp_path, SECRET)
    settings = replace(memory.settings, embed_model="none")
    run_worker(
        settings,
        WorkerOptions(start_delay_s=0, linger_s=0),
        [s for s in STEPS if s.name != "ingest"],
    )
    assert anywhere(tmp_path, SECRET) == []
    with open_memory(tmp_path) as memory:
        assert not is_unfinished(memory.store)


@pytest.mark.slow
@pytest.mark.parametrize("erase", ["purge", "scrub"])
def test_erased_text_does_not_come_back_through_hooks(erase: str, tmp_path: Path) -> None:
    """The journal tells what the transcript told; once read, and once more after the erasure."""
    script = sample_session()
    script.user(f"The office opens with {SECRET} on weekdays, is that right?")
    with memory_with_session(tmp_path, script) as memory:
        turn = turn_saying(memory, "The office opens")
        event = {
            "v": 1, "id": "e1", "event": "UserPromptSubmit", "session": SESSION, "cwd": "/home/dev",
            "time": "2026-09-01T10:00:00.000Z", "role": "user", "trust": "user",
            "at": "2026-09-01T10:00:00.000Z", "text": turn.text,
        }  # fmt: skip
        over = {"v": 1, "id": "e2", "event": "SessionEnd", "session": SESSION,
                "time": "2026-09-01T10:00:01.000Z"}  # fmt: skip
        journal.append(HomePaths(tmp_path).journal(SESSION), [event, over])
        read_journals(memory)
        before = memory.inventory.counts().turns
        memory.erasure.purge(turn.id) if erase == "purge" else memory.erasure.scrub(SECRET)
        read_journals(memory)
        assert anywhere(tmp_path, SECRET) == []
        assert memory.inventory.counts().turns == before - (erase == "purge")
        assert is_ledger_balanced(memory)


def read_journals(memory: Holdfast) -> None:
    places = HomePaths(memory.settings.home)
    now = "2026-11-01T00:00:00.000Z"
    reconcile(
        memory.store,
        memory.context.bank_maker,
        places,
        exclusion_rules(memory.settings),
        lambda: now,
    )


@pytest.mark.slow
def test_database_pages_freed_earlier_are_overwritten_too(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        with closing(sqlite3.connect(memory.settings.database, isolation_level=None)) as raw:
            raw.execute("PRAGMA secure_delete = OFF")
            raw.execute("CREATE TABLE earlier (words TEXT)")
            raw.executemany(
                "INSERT INTO earlier VALUES (?)", [(f"{SECRET} {n}",) for n in range(500)]
            )
            raw.execute("DROP TABLE earlier")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert anywhere(tmp_path, SECRET) == ["memory.db"]
        memory.erasure.purge(turn_saying(memory, "rename the ketch").id)
        assert anywhere(tmp_path, SECRET) == []


def test_an_unused_home_has_nothing_to_scrub(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        assert memory.erasure.scrub(SECRET).nothing
