"""`holdfast show` of commits, and of the sessions that made them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli.main import main
from tests.refine.git.test_commit_authorship import SESSIONS, START, Place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "none")
    return Place(tmp_path)


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_a_commit_is_shown_with_its_context(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "".join(f"line {n}\n" for n in range(60))
    place.commit("Start", START - timedelta(days=1), **{"crane.py": body})
    place.git("mv", "crane.py", "lift.py")
    script = place.session(0)
    place.edit(script, "lift.py")
    changed = "".join(f"row {n}\n" for n in range(12)) + body
    long = "".join(f"new {n}\n" for n in range(80))
    id, printed = place.commit(
        "Lift higher", START + timedelta(minutes=1), **{"lift.py": changed, "long.py": long}
    )
    place.run_commit(script, "Lift higher", printed)
    place.git("tag", "v1.0")
    place.git("revert", "--no-edit", id, at=START + timedelta(hours=1))
    undone = place.git("rev-parse", "HEAD").strip()
    place.read(script)
    place.memory.close()

    shown = output_of(capsys, "show", f"commit/{id[:10]}")
    assert "tags: v1.0" in shown and f"reverted by: holdfast://commit/{undone}" in shown
    assert "crane.py → lift.py  (renamed, +12 -0)" in shown
    assert "long.py  (new, +80 -0)" in shown
    assert (
        f"made by session {SESSIONS[0]} (matched by its name, 1.00): holdfast://exchange/" in shown
    )
    assert "+row 3" in shown and "more: --full" in shown and "+new 40" not in shown
    assert "+new 40" in output_of(capsys, "show", id, "--full")
    assert f"reverts: holdfast://commit/{id}" in output_of(capsys, "show", undone)
    one = json.loads(output_of(capsys, "show", id, "--json"))["commit"]
    assert (one["tags"], one["astray"]) == (["v1.0"], False)
    assert one["files"][0]["was"] == "crane.py" and len(one["files"][0]["blob"]) == 40
    (maker,) = one["made_by"]
    assert maker["host"] == SESSIONS[0]
    for name in (maker["session"], maker["exchange"]):
        assert "made 1 commit:" in output_of(capsys, "show", name)
        (made,) = json.loads(output_of(capsys, "show", name, "--json"))["commits"]
        assert (made["uri"], made["because"]) == (f"holdfast://commit/{id}", "its name")


def test_an_unmerged_commit_says_so(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = place.commit("Start", START, **{"a.py": "1\n"})
    script = place.session(0)
    lost, printed = place.commit("Crane", START + timedelta(minutes=1), **{"a.py": "2\n"})
    place.run_commit(script, "Crane", printed)
    place.read(script)
    place.git("reset", "-q", "--hard", first)
    place.memory.ingestion.ingest_git(place.top)
    (made,) = place.memory.reader.git.authorship(place.memory.reader.banks.all()[0].id)
    place.memory.close()
    assert "not in HEAD" in output_of(capsys, "show", lost)
    assert ", unmerged)" in output_of(capsys, "show", f"session/{made.session}")


def test_the_freshness_of_the_code_is_shown(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.top)
    place.commit("Start", START - timedelta(days=1), **{"crane.py": "1\n2\n3\n4\n5\n"})
    script = place.session(0)
    place.edit(script, "crane.py")
    place.read(script)
    before = place.git("rev-parse", "HEAD:crane.py").strip()
    head = place.git("rev-parse", "HEAD").strip()
    place.git("checkout", "-q", "-b", "side")
    place.commit("Paint the crane", START + timedelta(days=1), **{"crane.py": "1\n2\n3\n4\n6\n"})
    place.memory.ingestion.ingest_git(place.top)
    place.memory.close()

    query = ("recall", "harbour crane does not lift", "--layer", "observations")
    shown = output_of(capsys, *query, "--explain")
    assert "since then: crane.py changed in 1 later commit, 2 lines" in shown
    why = " ".join(shown.split())
    assert "freshness changed (crane.py changed in 1 later commit, 2 lines)" in why
    hit = json.loads(output_of(capsys, *query, "--json"))["hits"][0]
    assert hit["freshness"] == "changed" and hit["since"].startswith("crane.py changed")
    assert not hit["astray"]
    opened = output_of(capsys, "show", hit["uri"])
    assert f"code: changed (as of then at {head[:12]} on main)" in opened
    anchor = json.loads(output_of(capsys, "show", hit["uri"], "--json"))["anchor"]
    (file,) = anchor["files"]
    assert (anchor["branch"], anchor["commit"], file["blob"]) == ("main", head, before)
    painted = ("recall", "paint the crane", "--layer", "team", "--json", "--branch")
    astray = json.loads(output_of(capsys, *painted, "main"))["hits"][0]
    assert astray["astray"] is True
    assert not json.loads(output_of(capsys, *painted, "any"))["hits"][0]["astray"]
    capsys.readouterr()
    assert main(["recall", "crane", "--branch", "nowhere"]) == 2
    assert "No branch 'nowhere' is known." in capsys.readouterr().err


def test_an_audit_lists_outdated_records(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.top)
    assert "The memory is empty" in output_of(capsys, "audit")
    body = "".join(f"line {n}\n" for n in range(20))
    files = {"gone.py": "g\n", "much.py": body, "little.py": "1\n2\n3\n", "kept.py": "k\n"}
    place.commit("Start", START - timedelta(days=1), **files)
    scripts = [place.session(number, hours=number) for number in range(4)]
    for script, name in zip(scripts, files, strict=True):
        script.user(f"We decided that {name} decides how the harbour crane lifts from now on.")
        place.edit(script, name)
    place.read(*scripts)
    later = {"much.py": "new\n" * 20, "little.py": "1\n2\n4\n"}
    place.git("rm", "-q", "gone.py")
    place.commit("Later", START + timedelta(days=1), **later)
    place.memory.ingestion.ingest_git(place.top)
    place.memory.close()

    found = json.loads(output_of(capsys, "audit", "--json"))
    decided = [one for one in found["stale"] if one["kind"] == "exchange"]
    named = [one["files"][0]["path"] for one in decided]
    assert list(dict.fromkeys(named)) == ["gone.py", "much.py", "little.py"]
    assert decided[0]["freshness"] == "gone" and found["histories"] == 1
    assert found["fresh"] >= 1
    only = output_of(capsys, "audit", "--file", "little.py")
    assert "- little.py changed in 1 later commit, 2 lines" in only and "much.py" not in only
    assert decided[0]["uri"] in output_of(capsys, "audit")

    held = [one["uri"] for one in decided if one["files"][0]["path"] in ("gone.py", "much.py")]
    with open_memory() as memory:
        for name in held:
            memory.curation.confirm(name)
    left = json.loads(output_of(capsys, "audit", "--json"))
    assert not {one["uri"] for one in left["stale"]} & set(held)
    assert left["fresh"] == found["fresh"] + len(held)
    place.commit("Much later", START.replace(year=START.year + 50), **{"much.py": "other\n"})
    with open_memory() as memory:
        memory.ingestion.ingest_git(place.top)
    again = [one["uri"] for one in json.loads(output_of(capsys, "audit", "--json"))["stale"]]
    assert sum(name in again for name in held) == 1
