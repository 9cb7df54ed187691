"""What became of the code that records speak about: on real repositories, by real commits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.errors import NotFoundError
from holdfast.model.query import Hit
from holdfast.model.trust import Freshness
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.links.anchors import subject_of
from tests.refine.git.test_commit_authorship import SESSIONS, START, Place
from tests.support.transcripts import Script

BODY = "".join(f"line {n}\n" for n in range(30))
ALL = RecallPlan(limit=30, include_repeats=True)
EARLIER, LATER = START - timedelta(days=2), START + timedelta(days=2)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    made = Place(tmp_path)
    monkeypatch.chdir(made.top)
    yield made
    made.memory.close()


def work_on(place: Place, *names: str, commit: str = "") -> None:
    """One session that edits files, and commits them if that is asked for."""
    script = place.session(0)
    place.edit(script, *names)
    if commit:
        _, printed = place.commit(commit, START + timedelta(minutes=5), **{names[0]: BODY + "x\n"})
        place.run_commit(script, commit, printed)
    place.read(script)


def found(place: Place, kind: str = "exchange") -> Hit:
    place.memory.ingestion.ingest_git(place.top)
    hits = place.memory.search.recall_with_plan(
        "work on part 0 of the harbour crane", None, ALL
    ).hits
    return next(hit for hit in hits if hit.kind == kind)


def test_an_unchanged_file_is_fresh_and_an_unknown_one_is_reported(place: Place) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY})
    work_on(place, "crane.py")
    assert (found(place).freshness, found(place).since) == (Freshness.FRESH, "")
    assert found(place, "digest").freshness is Freshness.FRESH
    assert found(place, "turn").freshness is Freshness.FRESH


def test_a_file_outside_the_git_history_is_unknown(place: Place) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY})
    work_on(place, "untracked.py")
    assert found(place).freshness is Freshness.UNKNOWN


def test_later_commits_are_counted_with_their_lines(place: Place) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY})
    work_on(place, "crane.py")
    place.commit("One", LATER, **{"crane.py": "new\n" + BODY})
    place.commit("Two", LATER + timedelta(hours=1), **{"crane.py": "new\nnewer\n" + BODY})
    hit = found(place)
    assert hit.freshness is Freshness.CHANGED
    assert hit.since == "crane.py changed in 2 later commits, 2 lines"
    # Changed, and changed back.
    place.commit("Back", LATER + timedelta(hours=2), **{"crane.py": BODY})
    assert found(place).freshness is Freshness.FRESH


def test_commits_of_the_records_own_session_do_not_make_it_stale(place: Place) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY})
    work_on(place, "crane.py", commit="Lift the harbour crane")
    assert found(place).freshness is Freshness.FRESH
    place.commit("Theirs", LATER, **{"crane.py": BODY})
    assert found(place).since == "crane.py changed in 1 later commit, 1 line"
    # The commit itself is anchored too.
    hits = place.memory.search.recall_with_plan("Lift the harbour crane", None, ALL).hits
    commit = next(hit for hit in hits if hit.kind == "commit")
    assert commit.freshness is Freshness.CHANGED


def test_a_renamed_file_is_followed_and_a_deleted_one_is_gone(place: Place) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY, "other.py": "y\n"})
    work_on(place, "crane.py")
    place.git("mv", "crane.py", "lift.py")
    place.commit("Rename", LATER)
    hit = found(place)
    assert (hit.freshness, hit.since) == (Freshness.RENAMED, "crane.py is now lift.py")
    place.commit("Change", LATER + timedelta(hours=1), **{"lift.py": BODY + "more\n"})
    place.git("mv", "lift.py", "hoist.py")
    place.commit("Again", LATER + timedelta(hours=2))
    note = "crane.py is now hoist.py, changed in 1 later commit, 1 line"
    assert (found(place).freshness, found(place).since) == (Freshness.RENAMED, note)
    place.git("rm", "-q", "hoist.py")
    place.commit("Remove", LATER + timedelta(hours=3))
    hit = found(place)
    assert (hit.freshness, hit.since) == (Freshness.GONE, "crane.py is gone since 2026-09-03")


def test_the_freshness_of_several_files_is_combined(place: Place) -> None:
    place.commit("Start", EARLIER, **{"a.py": BODY, "b.py": BODY + "b\n", "c.py": "c\n"})
    work_on(place, "a.py", "b.py", "c.py")
    place.commit("One", LATER, **{"a.py": BODY + "x\n", "b.py": "y\n" * 9})
    place.git("rm", "-q", "c.py")
    place.commit("Two", LATER + timedelta(hours=1))
    hit = found(place)
    assert hit.freshness is Freshness.CHANGED
    assert hit.since == "c.py is gone since 2026-09-03; 2 more of its files too"


def test_uncommitted_changes_on_disk_are_noticed(place: Place) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY})
    work_on(place, "crane.py")
    assert found(place).freshness is Freshness.FRESH
    (place.top / "crane.py").write_text(BODY + "not committed\n")
    future = (START + timedelta(days=9000)).timestamp()
    os.utime(place.top / "crane.py", (future, future))
    assert found(place).since == "crane.py changed on disk since, not committed"
    (place.top / "crane.py").write_bytes(BODY.replace("\n", "\r\n").encode())
    os.utime(place.top / "crane.py", (future, future))
    assert found(place).freshness is Freshness.FRESH  # only its line ends differ
    (place.top / "crane.py").unlink()
    assert (found(place).freshness, found(place).since) == (Freshness.GONE, "crane.py is gone")


def test_a_worktree_is_examined_only_from_inside_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY})
    work_on(place, "crane.py")
    tree = place.folder / "tree"
    place.git("worktree", "add", "-q", "-b", "side", str(tree))
    found(place)
    (tree / "crane.py").unlink()
    assert found(place).freshness is Freshness.FRESH
    monkeypatch.chdir(tree)
    assert found(place).freshness is Freshness.GONE


def test_records_of_unmerged_commits_are_marked_and_rank_lower(place: Place) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY})
    place.git("checkout", "-q", "-b", "side")
    work_on(place, "crane.py", commit="Lift the harbour crane by hand")
    place.git("checkout", "-q", "main")
    place.commit("Paint it", LATER, **{"crane.py": BODY + "paint\n"})
    recall = place.memory.search.recall_with_plan
    place.memory.ingestion.ingest_git(place.top)
    query = "lift the harbour crane by hand"

    def commit(branch: str) -> Hit:
        hits = recall(query, None, ALL._replace(branch=branch)).hits
        return next(hit for hit in hits if "by hand" in hit.text and hit.kind == "commit")

    assert commit("").astray and commit("").why["astray"] == 0.7
    assert commit("main").astray
    for branch in ("any", "side"):
        assert not commit(branch).astray
        assert commit(branch).score > commit("").score
    exchange = next(hit for hit in recall(query, None, ALL).hits if hit.kind == "exchange")
    assert exchange.astray
    # The change on the other line is no change of this one, and counts once it is merged.
    assert commit("").freshness is Freshness.CHANGED
    with pytest.raises(NotFoundError, match="No branch 'nowhere' is known") as caught:
        recall(query, None, RecallPlan(branch="nowhere"))
    assert "main, side" in caught.value.remedy
    place.git("merge", "-q", "-m", "Merge", "-X", "ours", "side", at=LATER + timedelta(hours=1))
    place.memory.ingestion.ingest_git(place.top)
    assert not commit("").astray


def test_an_answer_says_that_its_code_has_changed(place: Place) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY})
    work_on(place, "crane.py")
    place.commit("One", LATER, **{"crane.py": "new\n" + BODY})
    place.memory.ingestion.ingest_git(place.top)
    answer = place.memory.ask("Does the crane lift again?")
    assert "crane.py has changed in 1 commit since [1] (1 line)." in answer.caveats
    before = place.memory.ask("Does the crane lift again?", as_of="2026-09-02T00:00:00Z")
    assert not any("crane.py" in caveat for caveat in before.caveats)


def test_facts_and_memories_have_the_branch_of_their_latest_evidence(place: Place) -> None:
    place.commit("Start", EARLIER, **{"crane.py": BODY})
    rule = "From now on crane.py must always lift the load before it turns."
    for number, branch in enumerate(("main", "side")):
        start = START + timedelta(hours=number)
        script = Script(SESSIONS[number], cwd=str(place.top), start=start, branch=branch)
        script.user(rule)
        place.edit(script, "crane.py")
        place.read(script)
        (fact,) = [one for one in place.memory.reader.facts.all(None) if one.content == rule]
        known = place.memory.store.memories.retained(fact.bank, limit=30)
        (said,) = [one for one in known if one.what == rule]
        for record in (fact, said):
            assert subject_of(place.memory.reader, record).branch == branch
