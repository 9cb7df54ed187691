from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.model.curation import Action
from holdfast.model.query import Layer, RecordFilter
from holdfast.model.records import Exchange, Turn
from holdfast.model.trust import Status, Trust
from holdfast.recall.lookup.path import describe_record
from holdfast.refine.sessions.embedding import embed_pending
from tests.support.embedders import BagOfWords
from tests.support.memory_dump import dump
from tests.support.sample_memory import (
    SESSION,
    exchange_about,
    memory_with_session,
    places_found,
    sample_session,
    turn_saying,
)
from tests.support.transcripts import Script


def brief_of(memory: Holdfast) -> str:
    with Holdfast(memory.settings, create=False) as briefing:
        return briefing.briefs.session_brief().text


@pytest.mark.slow
def test_a_new_memory_is_found_cited_and_in_the_brief_at_once(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        kept = memory.remember("Deploys go out on Tuesdays.", who="ada")
        hit = memory.recall("when do deploys go out").hits[0]
        assert hit.uri == f"holdfast://memory/{kept.id}"
        assert (hit.layer, hit.trust, hit.status) == (
            Layer.OBSERVATIONS, Trust.USER, Status.VERIFIED
        )  # fmt: skip
        answer = memory.ask("When do deploys go out?")
        assert answer.citations[0].uri == hit.uri
        assert "Deploys go out on Tuesdays" in answer.answer
        assert "ada, to be remembered: “Deploys go out on Tuesdays.”" in brief_of(memory)
        assert memory.timeline().events[-1].uri == hit.uri
        assert memory.show(kept.id).history[0].action is Action.REMEMBER


def test_a_goal_brief_contains_related_memories(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        memory.remember("The mooring service must never retry a payment, the bank charges twice.")
        with Holdfast(memory.settings, create=False) as briefing:
            told = briefing.briefs.goal_brief("Make the mooring service retry a failed payment.")
    assert "never retry a payment" in told.text
    assert told.text.count("never retry a payment") == 1


@pytest.mark.slow
def test_secrets_are_redacted_from_new_and_corrected_text(tmp_path: Path) -> None:
    key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    with memory_with_session(tmp_path) as memory:
        assert memory.remember(f"the key is {key}").what == "the key is [redacted:anthropic-key]"
        assert key not in memory.correct(exchange_about(memory, "yawl").id, f"use {key}").text


@pytest.mark.slow
def test_the_same_text_is_remembered_once_and_again_after_an_undo(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        first = memory.remember("Tea is at four.")
        assert memory.remember("  Tea is at four. ") == first
        assert memory.inventory.counts().memories == 1
        memory.undo()
        assert memory.inventory.counts().memories == 0
        assert memory.remember("Tea is at four.").id == first.id
        assert memory.inventory.counts().memories == 1
        memory.forget(first.id)
        assert memory.remember("Tea is at four.").id == first.id
        assert memory.inventory.counts().memories == 1


@pytest.mark.parametrize("text", ["", "   ", "x" * 20_001])
def test_empty_and_overlong_texts_are_refused(text: str, tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory, pytest.raises(InputError):
        memory.remember(text)


@pytest.mark.slow
def test_a_corrected_exchange_shows_its_new_text_everywhere(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        id = exchange_about(memory, "yawl").id
        memory.correct(id, "We decided to always paint the yawl green, not blue.", who="ada")
        exchange = exchange_about(memory, "green")
        assert exchange.id == id
        assert (exchange.status, exchange.details, exchange.facts) == (Status.VERIFIED, "", ())
        assert exchange.files_modified == ("src/yawl.py",)
        found = memory.recall("what did we decide about how to paint the yawl").hits
        hits = {hit.uri: hit for hit in found}
        assert hits[f"holdfast://exchange/{id}"].corrected == "by ada on 2026-11-01"
        asked = "painted blue as the office wants it"
        assert memory.recall(asked).hits[0].uri == f"holdfast://exchange/{id}"
        said = memory.recall(asked, layers=[Layer.TRANSCRIPTS]).hits
        blue = {hit.status for hit in said if "blue" in hit.text}
        assert blue == {Status.SUPERSEDED}
        assert found[0].kind != "turn"
        assert "(corrected by ada on 2026-11-01)" in memory.ask("Is the yawl green?").answer
        digest = memory.reader.sessions.digest(exchange.bank, SESSION)
        assert digest is not None
        assert "green" in repr(digest)
        assert "blue" not in repr((digest.completed, digest.request)).replace("not blue", "")
        brief = brief_of(memory)
        assert "ada, correcting this on 2026-11-01: “We decided to always paint the yawl green" in (
            brief
        )
        assert brief.count("yawl green") == 1
        assert "yawl blue" not in brief
        told = memory.show(id)
        assert "yawl blue" in told.superseded
        assert [entry.action for entry in told.history] == [Action.CORRECT]


@pytest.mark.slow
def test_a_corrected_turn_updates_what_is_derived_from_it(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        turn = turn_saying(memory, "Renamed the ketch module")
        memory.correct(turn.id, "The ketch module was deleted; nothing was renamed to spritsail.")
        now = memory.reader.records.find(None, "turn", turn.id)[0]
        assert isinstance(now, Turn)
        assert (now.text[:30], now.trust) == ("The ketch module was deleted; ", Trust.USER)
        assert "deleted" in exchange_about(memory, "spritsail").summary
        assert memory.show(turn.id).superseded.startswith("Renamed the ketch")
        memory.correct(turn.id, "It was neither.", who="bob")
        assert memory.show(turn.id).superseded.startswith("Renamed the ketch")
        assert len(memory.show(turn.id).history) == 2
        assert not memory.reader.passages.search(None, ["spritsail"])


def test_correcting_a_tool_call_replaces_its_result(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        turns = memory.reader.turns.of_session(exchange_about(memory, "xebec").bank, SESSION)
        call = next(turn for turn in turns if turn.tool and turn.tool.name == "Bash")
        memory.correct(call.id, "a flaky machine, all passed")
        now = memory.show(call.id)
        assert isinstance(now.record, Turn)
        assert now.record.tool is not None
        assert now.record.tool.result == "a flaky machine, all passed"
        assert now.record.tool.action == "pytest tests/test_xebec.py"
        assert now.superseded == "xebec: 3 failed"


@pytest.mark.slow
def test_a_digest_and_a_memory_can_be_corrected(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        kept = memory.remember("Tea is at four.")
        memory.correct(kept.id, "Tea is at five.")
        assert memory.recall("when is tea").hits[0].text == "Tea is at five."
        assert memory.show(kept.id).superseded == "Tea is at four."
        digest = memory.reader.sessions.digest(kept.bank, SESSION)
        assert digest is not None
        memory.correct(digest.id, "A day of small repairs, the gunwale among them.")
        corrected = memory.reader.sessions.digest(kept.bank, SESSION)
        assert corrected is not None
        assert (corrected.request[:5], corrected.completed) == ("A day", ())
        assert memory.recall("gunwale").hits[0].corrected
        assert "[corrected by" in brief_of(memory)


def test_a_commit_can_be_corrected_forgotten_and_purged(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        repository = make_repository(tmp_path / "repo")
        memory.ingestion.ingest_git(repository)
        before = dump(memory.settings.database)
        commit = memory.recall("rudder").hits[0].uri
        memory.correct(commit, "Replace the rudder\n\nIt was cracked, not bent.")
        assert memory.recall("rudder").hits[0].text == (
            "Replace the rudder\n\nIt was cracked, not bent."
        )
        found = memory.browse.work("rudder.py")
        assert [describe_record(one)[0] for one in found] == ["Replace the rudder"]
        memory.forget(commit)
        assert places_found(memory, "rudder") == []
        assert not memory.browse.work("rudder.py")
        memory.ingestion.ingest_git(repository)
        memory.ingestion.rebuild()
        assert places_found(memory, "rudder") == []
        memory.undo(2)
        assert dump(memory.settings.database) == before
        memory.erasure.purge(commit)
        memory.ingestion.ingest_git(repository)
        assert places_found(memory, "rudder") == []


def make_repository(path: Path) -> Path:
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    path.mkdir()
    run(["git", "init", "-q", str(path)])
    (path / "rudder.py").write_text("bent = True\n")
    run([*git, "-C", str(path), "add", "."])
    run([*git, "-C", str(path), "commit", "-qm", "Straighten the rudder"])
    return path


def run(command: list[str]) -> None:
    subprocess.run(command, check=True)


@pytest.mark.model
def test_a_forgotten_exchange_hides_its_turns_and_its_part_of_the_digest(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        (tmp_path / "briefs").mkdir()
        embed_pending(memory.store, BagOfWords())
        before = dump(memory.settings.database)
        memory.forget(exchange_about(memory, "yawl").id)
        assert places_found(memory, "yawl") == []
        assert memory.recall("which colour did we paint the yawl?").hits == ()
        assert not memory.browse.work("yawl.py")
        assert len(memory.reader.records.filter(None, RecordFilter(since="0"))) == 2
        digest = memory.reader.sessions.digest(memory.reader.banks.all()[0].id, SESSION)
        assert digest is not None
        assert digest.exchanges == 2
        memory.undo()
        assert dump(memory.settings.database) == before


@pytest.mark.slow
def test_an_exchange_keeps_its_id_and_bounds_without_its_first_turn(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        before = exchange_about(memory, "xebec")
        memory.forget(turn_saying(memory, "why the xebec loader fails at night").id)
        after = exchange_about(memory, "xebec")
        assert (after.id, after.first_seq, after.last_seq) == (before.id, 1, before.last_seq)
        assert "at night" not in repr(after)
        memory.correct(after.id, "It was the felucca.")
        assert exchange_about(memory, "felucca").id == before.id


@pytest.mark.slow
def test_raw_lines_of_forgotten_records_are_not_searched(tmp_path: Path) -> None:
    script = sample_session()
    script.user("Please list what lies in the hold now.")
    noise = "\n".join(f"row {n} of nothing" for n in range(400))
    script.tool("Bash", f"{noise}\nbarquentine-0815\n{noise}", command="cat manifest.txt")
    with memory_with_session(tmp_path, script) as memory:
        found = memory.recall("barquentine-0815")
        assert found.fallbacks == ("raw_grep",)
        memory.forget(found.hits[0].uri)
        assert memory.recall("barquentine-0815").hits == ()


@pytest.mark.slow
def test_a_forgotten_session_hides_its_subagents_whenever_they_are_read(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        memory.forget(f"session/{SESSION}")
        agent = Script(SESSION)
        agent.user("Look at the spinnaker, agent.", isSidechain=True, agentId="a1")
        agent.assistant("The spinnaker is torn at the clew.", isSidechain=True, agentId="a1")
        folder = next((tmp_path / "claude").rglob("*.jsonl")).with_suffix("") / "subagents"
        folder.mkdir(parents=True)
        path = folder / "agent-a1.jsonl"
        path.write_bytes(agent.dumps())
        memory.ingest(memory.ingestion.find([path]))
        assert places_found(memory, "spinnaker") == []
        assert memory.inventory.counts().sessions == 0
        memory.restore(f"session/{SESSION}")
        assert places_found(memory, "spinnaker")
        assert memory.inventory.counts().sessions == 2


@pytest.mark.slow
def test_a_forgotten_record_says_so_and_how_to_restore_it(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        exchange = exchange_about(memory, "yawl")
        inside = turn_saying(memory, "paint the yawl")
        memory.forget(exchange.id, who="ada")
        with pytest.raises(NotFoundError, match="was forgotten on 2026-11-01 by ada") as told:
            memory.show(exchange.id)
        assert "holdfast restore" in told.value.remedy
        with pytest.raises(NotFoundError, match="part of something else"):
            memory.show(inside.id)
        with pytest.raises(InputError, match="is forgotten"):
            memory.correct(exchange.id, "anything")
        with pytest.raises(InputError, match="part of something else"):
            memory.restore(inside.id)
        memory.restore(exchange.id[:10])
        assert memory.show(exchange.id)
        with pytest.raises(InputError, match="not forgotten"):
            memory.restore(exchange.id)


@pytest.mark.slow
def test_a_merged_record_is_replaced_by_its_target(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        one = memory.remember("Tea is at four o'clock.")
        other = memory.remember("Tea is at four.")
        before = dump(memory.settings.database)
        memory.curation.merge(one.id, other.id)
        assert [h.uri for h in memory.recall("when is tea").hits] == [
            f"holdfast://memory/{other.id}"
        ]
        assert [e.action for e in memory.show(other.id).history] == ["remember", "merge"]
        with pytest.raises(NotFoundError, match="was merged into holdfast://memory/"):
            memory.show(one.id)
        memory.restore(one.id)
        assert dump(memory.settings.database) == before
        for wrong in (one.id, exchange_about(memory, "yawl").id):
            with pytest.raises(InputError):
                memory.curation.merge(one.id, wrong)


def test_a_session_cannot_be_corrected_as_a_whole(tmp_path: Path) -> None:
    with (
        memory_with_session(tmp_path) as memory,
        pytest.raises(InputError, match="no text of its own"),
    ):
        memory.correct(f"session/{SESSION}", "anything")


def test_undo_without_a_decision_does_nothing(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        assert memory.undo() == []
        memory.forget(exchange_about(memory, "yawl").id)
        assert [entry.action for entry in memory.undo(5)] == [Action.FORGET]
        assert memory.undo() == []


@pytest.mark.slow
def test_decisions_move_with_their_session_to_another_bank(tmp_path: Path) -> None:
    with memory_with_session(tmp_path) as memory:
        memory.forget(exchange_about(memory, "yawl").id)
        memory.correct(exchange_about(memory, "mizzen").id, "The ketch became a felucca.")
        with memory.store.transaction():
            bank = memory.context.bank_maker.ensure_named(memory.store, "elsewhere")
            for source in memory.reader.sources.all():
                memory.store.derived.move_source(source.id, bank)
        memory.ingestion.rebuild()
        assert places_found(memory, "yawl") == []
        told = memory.recall("felucca", bank="elsewhere").hits
        assert told
        memory.undo(2)
        assert isinstance(exchange_about(memory, "yawl"), Exchange)
