"""Derived rows carry the version of the rules or prompts, and a new version derives them again."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.core.rules_version import RULES_VERSION
from holdfast.refine.model_output import prompts
from holdfast.refine.sessions.derive import derive_outdated, derive_stale
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.memory_dump import dump
from tests.support.transcripts import Script, bug_hunt

RECORDED = Path(__file__).parents[2] / "recorded" / "transcripts"
# What each version makes of the recorded transcripts, and asks of a model. Where a test finds
# another sum, the rules or the words have changed: raise the version, and put the sum here.
RULES_SUM = {22: "07ab82a43574176b"}
PROMPTS_SUM = {2: "664b4f249031c92e"}


def sum_of(texts: list[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def open_memory(folder: Path) -> Holdfast:
    return Holdfast(
        with_empty_memory(Settings(folder / "home", folder / "claude", embed_model="none"))
    )


def spoil(folder: Path, rules: int = 0) -> None:
    """Make all rows look derived by older rules, which gave every exchange the same title."""
    with closing(sqlite3.connect(folder / "home" / "memory.db")) as raw, raw:
        raw.execute("UPDATE session_derivation SET rules_version = ?", (rules,))
        raw.execute("UPDATE exchange SET title = 'by older rules'")


def titles(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / "home" / "memory.db")) as raw:
        return {title for (title,) in raw.execute("SELECT title FROM exchange")}


def two_talks() -> Script:
    script = bug_hunt()
    script.user("Now please also write the changelog entry for the importer fix, in one line.")
    script.assistant("The changelog tells that rows are loaded once, after the retry wrapper fix.")
    return script


@pytest.mark.slow
def test_sessions_of_older_rules_are_derived_again_like_a_rebuild(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([RECORDED]))
        wanted = dump(tmp_path / "home" / "memory.db")
        assert memory.store.versions.count_outdated_sessions(RULES_VERSION) == 0
        spoil(tmp_path)
        count = memory.store.versions.count_outdated_sessions(RULES_VERSION)
        progress: list[tuple[int, int]] = []
        assert (
            derive_outdated(memory.store, lambda done, total: progress.append((done, total)))
            == count
            > 5
        )
        assert (
            progress[-1] == (count, count)
            and memory.store.versions.count_outdated_sessions(RULES_VERSION) == 0
        )
        memory.ingestion.update()
        assert dump(tmp_path / "home" / "memory.db") == wanted
        assert derive_outdated(memory.store) == 0


@pytest.mark.slow
@pytest.mark.parametrize("rules", [RULES_VERSION - 1, RULES_VERSION + 1])
def test_a_session_is_never_derived_by_two_versions(tmp_path: Path, rules: int) -> None:
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([bug_hunt().write(tmp_path / "claude" / "projects")]))
        spoil(tmp_path, rules)
        memory.ingest(memory.ingestion.find([two_talks().write(tmp_path / "claude" / "projects")]))
        assert len(titles(tmp_path)) == 2 and "by older rules" not in titles(tmp_path)
        assert memory.store.versions.count_outdated_sessions(RULES_VERSION) == 0


@pytest.mark.slow
def test_an_interrupted_run_continues_with_the_rest(tmp_path: Path) -> None:
    class KilledError(BaseException):
        pass

    def die(done: int, total: int) -> None:
        if done == 3:
            raise KilledError

    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([RECORDED]))
        wanted = dump(tmp_path / "home" / "memory.db")
        spoil(tmp_path)
        before = memory.store.versions.count_outdated_sessions(RULES_VERSION)
        with pytest.raises(KilledError):
            derive_outdated(memory.store, die)
        assert derive_outdated(memory.store) == before - 3
        memory.ingestion.update()
        assert dump(tmp_path / "home" / "memory.db") == wanted


@pytest.mark.slow
def test_decisions_survive_new_rules(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([two_talks().write(tmp_path / "claude" / "projects")]))
        (session,) = memory.reader.sessions.latest(None)
        first, second = memory.reader.sessions.exchanges(session.bank, session.id)
        memory.correct(first.id, "The report counted twice.")
        memory.forget(second.id)
        spoil(tmp_path)
        derive_outdated(memory.store)
        (left,) = memory.reader.sessions.exchanges(session.bank, session.id)
        assert left.title == "The report counted twice."
        assert derive_stale(memory.store) == 0


@pytest.mark.slow
def test_changed_rules_need_a_new_version(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.ingestion.ingest(memory.ingestion.find([RECORDED]), then_know=False)
    found = dump(tmp_path / "home" / "memory.db")
    made = [row for table in ("exchange", "digest", "claim", "passage") for row in found[table]]
    assert sum_of(sorted(made)) == RULES_SUM[RULES_VERSION]


def test_changed_prompts_need_a_new_version() -> None:
    call = ToolCall("WebFetch", "https://pages.example", "", "read", "found", True)
    edit = ToolCall("Edit", "src/importer.py", "", "+retry(load)\n" * 40, "updated", True)
    turns = [
        Turn("b", "t1", "s", 1, "", Role.USER, Trust.USER, "Why twice? " * 900),
        Turn("b", "t2", "s", 2, "", Role.TOOL, Trust.EXTERNAL, "", tool=call),
        Turn("b", "t3", "s", 3, "", Role.ASSISTANT, Trust.ASSISTANT, "The retry wrapper."),
        Turn("b", "t4", "s", 4, "", Role.TOOL, Trust.TOOL, "", tool=edit),
    ]
    parts = prompts.split_exchange(turns, 2000)
    context = prompts.PromptContext("tidewatch", "- change, done: Before", ["It is known."])
    asked = (
        prompts.exchanges_question(parts, "notes", context),
        prompts.digest_question("all of it", context),
    )
    plain = [repr(q).replace(", toolbox=None", "") for q in asked]
    questions = [
        said.replace(q.text.split("\n", 1)[0], "border")
        for said, q in zip(plain, asked, strict=True)
    ]
    assert sum_of(questions) == PROMPTS_SUM[prompts.PROMPT_VERSION]
