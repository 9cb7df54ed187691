"""Links between real commits and the sessions that made them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.team import Commit
from holdfast.refine.git.commit_authorship import link_commits
from holdfast.settings import Settings
from holdfast.store.records.git_history import CommitAuthorship
from tests.support.transcripts import Script

START = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)
SESSIONS = [f"{n}{n}{n}{n}{n}{n}{n}{n}-0000-4000-8000-00000000000{n}" for n in range(1, 5)]


class Place:
    """A repository in which agents work."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.top = folder / "harbour"
        self.top.mkdir()
        self.git("init", "-q", "-b", "main")
        settings = Settings(folder / "home", folder / "claude", embed_model="none")
        self.memory = Holdfast(settings)

    def git(self, *arguments: str, at: datetime = START) -> str:
        identity = ["-c", "user.name=Ann Ex", "-c", "user.email=ann@x.org"]
        done = subprocess.run(
            ["git", *identity, "-C", str(self.top), *arguments],
            check=True, capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.folder),
                 "GIT_AUTHOR_DATE": at.isoformat(), "GIT_COMMITTER_DATE": at.isoformat()},
        )  # fmt: skip
        return done.stdout

    def commit(self, message: str, at: datetime, **files: str) -> tuple[str, str]:
        """A commit's id, and what git printed."""
        for name, content in files.items():
            (self.top / name).write_text(content)
        self.git("add", "-A")
        printed = self.git("commit", "--allow-empty", "-m", message, at=at)
        return self.git("rev-parse", "HEAD").strip(), printed

    def session(self, number: int, hours: float = 0.0) -> Script:
        start = START + timedelta(hours=hours)
        script = Script(session=SESSIONS[number], cwd=str(self.top), start=start)
        script.user(f"Please work on part {number} of the harbour crane, it does not lift.")
        return script

    def edit(self, script: Script, *names: str) -> None:
        for name in names:
            call = script.call("Write", file_path=str(self.top / name), content="x\n")
            script.result(call, "File created")

    def run_commit(self, script: Script, message: str, printed: str) -> None:
        script.result(script.call("Bash", command=f'git commit -m "{message}"'), printed)

    def read(self, *scripts: Script) -> list[CommitAuthorship]:
        for script in scripts:
            script.assistant("It is done and the crane lifts again, as the tests show.")
            script.write(self.folder / "claude" / "projects")
        self.memory.ingest(self.memory.ingestion.find([]))
        self.memory.ingestion.ingest_git(self.top)
        (bank,) = self.memory.reader.banks.all()
        link_commits(self.memory.store, bank.id)
        return self.memory.reader.git.authorship(bank.id)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.memory.close()


def host(place: Place, made: CommitAuthorship) -> str:
    session = place.memory.reader.sessions.get(made.bank, made.session)
    assert session is not None
    return session.host


def test_a_commit_id_printed_by_git_links_with_certainty(place: Place) -> None:
    one, two = place.session(0), place.session(1)
    id, printed = place.commit("Lift the crane", START + timedelta(days=9), a="1")
    place.run_commit(one, "Lift", "nothing to commit")
    place.run_commit(two, "Something else", printed)
    (made,) = place.read(one, two)
    assert (made.commit, host(place, made), made.because) == (id, SESSIONS[1], "its name")
    assert made.score == 1.0 and made.exchange


def test_a_trailer_links_to_its_session(place: Place) -> None:
    id, _ = place.commit(
        f"Lift\n\nClaude-Session: https://claude.ai/code/{SESSIONS[0]}",
        START + timedelta(days=9),
        a="1",
    )
    (made,) = place.read(place.session(0), place.session(1))
    assert (made.commit, host(place, made), made.because) == (id, SESSIONS[0], "its trailer")


def test_the_same_subject_links_if_the_time_fits(place: Place) -> None:
    script = place.session(0)
    place.run_commit(script, "Lift the crane", "")
    id, _ = place.commit("Lift the crane", START + timedelta(minutes=2), a="1")
    place.commit("Lift the crane", START + timedelta(days=5), a="2")
    made = place.read(script)
    assert [(one.commit, one.because) for one in made] == [(id, "its subject")]


def test_files_changed_shortly_before_link(place: Place) -> None:
    one, two = place.session(0), place.session(1, hours=1)
    place.edit(one, "a.py", "b.py")
    place.edit(two, "c.py")
    id, _ = place.commit(
        "Crane", START + timedelta(hours=1.5), **{"a.py": "1", "b.py": "1", "c.py": "1"}
    )
    (made,) = place.read(one, two)
    assert (made.commit, host(place, made), made.because) == (id, SESSIONS[0], "its files")
    assert made.score < 0.7


def test_files_that_two_sessions_changed_do_not_link(place: Place) -> None:
    one, two = place.session(0), place.session(1, hours=1)
    place.edit(one, "a.py")
    place.edit(two, "a.py")
    place.commit("Crane", START + timedelta(hours=1.5), **{"a.py": "1"})
    assert place.read(one, two) == []


def test_files_changed_after_the_commit_or_long_before_do_not_link(place: Place) -> None:
    late, early = place.session(0, hours=2), place.session(1, hours=-48)
    place.edit(late, "a.py")
    place.edit(early, "a.py")
    place.commit("Crane", START + timedelta(hours=1), **{"a.py": "1"})
    assert place.read(late, early) == []


def test_a_forgotten_session_gets_no_links(place: Place) -> None:
    script = place.session(0)
    _, printed = place.commit("Lift the crane", START, a="1")
    place.run_commit(script, "Lift the crane", printed)
    (made,) = place.read(script)
    place.memory.forget(f"holdfast://session/{made.session}")
    assert place.read() == []


def speak(place: Place, number: int, hours: float, *said: str) -> Script:
    script = Script(
        session=SESSIONS[number], cwd=str(place.top), start=START + timedelta(hours=hours)
    )
    for text in said:
        script.user(text)
        script.assistant("That is done now; nothing else had to be touched for it.")
    return script


def test_words_link_if_nothing_else_does_and_the_time_fits(place: Place) -> None:
    pulley = "Let the pulley of the harbour crane brake softly before the load touches ground."
    one = speak(place, 0, 0, pulley, "And the brake of the pulley, is its load softly held?")
    two = speak(place, 1, 1, "Paint the office of the port authority in another blue, please.")
    soon, _ = place.commit("Brake the pulley softly under load", START + timedelta(hours=20))
    late, _ = place.commit("Softly brake the load of the pulley", START + timedelta(days=30))
    vague, _ = place.commit("Fix harbour", START + timedelta(hours=21))
    other, _ = place.commit("Translate invoices into Portuguese", START + timedelta(hours=22))
    made = place.read(one, two)
    assert [(m.commit, m.because) for m in made] == [(soon, "its words")]
    assert host(place, made[0]) == SESSIONS[0] and made[0].exchange and made[0].score == 0.7
    assert late and vague and other
    # Read again after something else changed, it is still known.
    three = speak(place, 2, 900, "What is the weather like at the harbour today, by the way?")
    assert [(m.commit, m.because) for m in place.read(three)] == [(soon, "its words")]


def test_links_by_words_beyond_the_limit_of_searches_stay(place: Place) -> None:
    pulley = "Let the pulley of the harbour crane brake softly before the load touches ground."
    soon, _ = place.commit("Brake the pulley softly under load", START + timedelta(hours=20))
    assert [made.commit for made in place.read(speak(place, 0, 0, pulley))] == [soon]
    # A session of those days may change the result, so the commit is due for another search.
    paint = speak(place, 1, 1, "Paint the office of the port authority in another blue, please.")
    paint.write(place.folder / "claude" / "projects")
    place.memory.ingestion.ingest(place.memory.ingestion.find([]), then_know=False)
    (bank,) = place.memory.reader.banks.all()
    assert link_commits(place.memory.store, bank.id, max_searches=0) == 1
    (kept,) = place.memory.reader.git.authorship(bank.id)
    assert (kept.commit, kept.because) == (soon, "its words")
    # A commit that was never searched for is not linked without a search.
    other = speak(place, 2, 2, "Let the winch of the harbour crane wind the rope in slowly, too.")
    other.write(place.folder / "claude" / "projects")
    place.memory.ingestion.ingest(place.memory.ingestion.find([]), then_know=False)
    assert link_commits(place.memory.store, bank.id, max_searches=0) == 1


def test_a_commit_without_a_time_links_by_name_only(place: Place) -> None:
    script = place.session(0)
    place.run_commit(script, "Lift the crane", "[main abcdef1] Lift the crane")
    place.read(script)
    (bank,) = place.memory.reader.banks.all()
    store = place.memory.store
    unnamed, named = "0" * 40, "abcdef1" + "0" * 33
    with store.transaction():
        for id in (unnamed, named):
            timeless = Commit(bank.id, id, "", "Ann Ex", "ann@x.org", "Lift the crane")
            store.git.put_commits([(timeless, None)])
        store.progress.mark_changed(bank.id, "")
    link_commits(store, bank.id)
    links = store.git.authorship(bank.id)
    assert [(made.commit, made.because) for made in links] == [(named, "its name")]


def test_words_that_fit_two_sessions_do_not_link(place: Place) -> None:
    said = "Let the pulley of the harbour crane brake softly before the load touches ground."
    place.commit("Brake the pulley softly under load", START + timedelta(hours=20))
    assert place.read(speak(place, 0, 0, said), speak(place, 1, 1, said)) == []


def test_a_commit_by_hand_beside_a_session_is_not_linked(place: Place) -> None:
    script = place.session(0)
    place.edit(script, "crane.py")
    soon = START + timedelta(hours=1)
    place.commit("Tidy up before the weekend", soon, **{"notes.md": "a\n", "deploy.sh": "b\n"})
    mixed = {"crane.py": "1\n", "berth.py": "2\n", "quay.py": "3\n"}
    place.commit("Rename all the things", soon + timedelta(minutes=1), **mixed)
    assert place.read(script) == []
