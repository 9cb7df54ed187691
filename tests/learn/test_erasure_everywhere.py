"""A word that came in by every way there is, and got into all that is made of it, is in no row of
any table and in no file after it was erased."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from holdfast.app.memory import Holdfast
from holdfast.learn.bank_settings import BankChanges
from holdfast.model.forge import ForgeAccount, Issue, Pull, Remark, RemarkKind
from holdfast.refine.git.forge_threads import curated_remark_passage, curated_thread_passage
from tests.refine.rules.test_rules import git, open_at, put
from tests.support.transcripts import Script

WORD = "quaywall"
NOON = "2026-03-01T12:00:00.000Z"
SAID = (
    "Please always use table-driven tests for the quaywall parser.",
    "We use table-driven tests for the quaywall parser, so rewrite these.",
    "No, use table-driven tests in the quaywall parser, as I said.",
)
# The tables that contain the word after `soaked`; others have no text.
_EVERYWHERE = {
    "turn", "session", "commit", "commit_patch", "remembered_memory", "memory_dimension",
    "curation", "curation_state", "exchange", "digest", "claim", "fact", "concept", "label",
    "passage", "entity", "entity_spelling", "memory_occurrence", "retained_memory", "opinion",
    "statement", "pattern", "refused_proposal", "git_tag", "git_branch", "file_change",
    "pull", "issue", "remark", "forge_login",
}  # fmt: skip


def rows_with(home: Path) -> set[str]:
    """The tables of a memory that hold the word in any column."""
    found: set[str] = set()
    with closing(sqlite3.connect(home / "memory.db")) as raw:
        raw.text_factory = bytes
        tables = raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in tables:
            table = name.decode()
            for row in raw.execute(f'SELECT * FROM "{table}"'):
                if any(WORD.encode() in v.lower() for v in row if isinstance(v, bytes)):
                    found.add(table)
    return {table for table in found if not table.startswith("passage_fts")}


def files_with(home: Path, root: Path) -> list[str]:
    """The files of a home that hold the word, but for the project's and the agent's."""
    return [
        path.name
        for path in sorted(home.rglob("*"))
        if path.is_file() and root not in path.parents and "claude" not in path.parts
        and WORD.encode() in path.read_bytes().lower()
    ]  # fmt: skip


def history(root: Path) -> None:
    (root / "quaywall.py").write_text("def quaywall_main():\n    return 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Add the quaywall loader\n\nWe always test the quaywall loader.")
    git(root, "tag", "quaywall-1.0")
    git(root, "branch", "quaywall-side")
    (root / "b.py").write_text('x = "quaywall"\n')
    git(root, "add", ".")
    git(root, "commit", "-qm", "Name the quaywall in b")


def talk(root: Path, number: int) -> Path:
    script = Script(f"{number:08}-0000-4000-8000-000000000001", cwd=str(root), branch="quaywall")
    script.start = script.start.replace(day=1 + number)
    script.user(SAID[number])
    script.assistant("Understood.")
    script.user("The quaywall parser is really slow.")
    script.assistant("Indeed, the quaywall parser is slow because of QuaywallTable.")
    script.user("Fix the failing quaywall test in src/quaywall.py.")
    script.tool("Bash", "KeyError: quaywall", error=True, command="pytest tests/test_quaywall.py")
    script.tool(
        "Edit", "ok", file_path=str(root / "src/quaywall.py"), old_string="a", new_string="b"
    )
    script.tool("Bash", "3 passed", command="pytest tests/test_quaywall.py")
    script.assistant(
        "Fixed the quaywall parser; the root cause was a key missing in QuaywallTable."
    )
    script.user("We decided to use SQLite for the quaywall store, because it is quick.")
    script.assistant("Decided: SQLite for the quaywall store.")
    return script.write(root.parent / "claude" / "projects")


def discussed(memory: Holdfast) -> None:
    """What a forge said of it."""
    (bank,) = memory.reader.banks.all()
    pull = Pull(bank.id, "1@a.b", 1, NOON, "quaywall-fan", "Quaywall", files=("quaywall.py",))
    issue = Issue(bank.id, "2@a.b", 2, NOON, "ann", "The quaywall leaks", labels=("quaywall",))
    thread = "holdfast://pull/1@a.b"
    said = Remark(bank.id, "r1", thread, RemarkKind.COMMENT, NOON, "ann", "Mend the quaywall.")
    with memory.store.transaction():
        for one in (pull, issue):
            memory.store.forge.put_thread(one, curated_thread_passage(memory.store, one))
        memory.store.forge.put_remark(said, curated_remark_passage(memory.store, said))
        memory.store.forge.put_logins(
            bank.id, [ForgeAccount("quaywall-fan", "Quaywall Fan", "q@x.org")]
        )
    memory.ingestion.update()


def memory_full_of_text(root: Path) -> Holdfast:
    """A memory that is full of the word."""
    history(root)
    memory = open_at(root.parent)
    memory.ingest(memory.ingestion.find([talk(root, n) for n in range(3)]))
    memory.ingestion.ingest_git(root, with_diff=True)
    discussed(memory)
    memory.remember("Always keep the quaywall log short.")
    memory.retain(
        "The quaywall tool is fast.", "opinion", 0.7, "src/quaywall.py", "quaywall was measured"
    )
    memory.rules.sync_all()
    memory.rules.reject(memory.rules.candidates()[0].proposal.id, why="quaywall is one thing only")
    memory.opinions.reflect("Is the quaywall parser slow?")
    corrections = (
        ("memory", memory.opinions.opinions(all=True)[0].id),
        ("entity", next(e.id for e in memory.browse.entities() if WORD in e.name.lower())),
        ("concept", memory.browse.concepts()[0].id),
        ("pull", "1@a.b"),
        ("remark", "r1"),
        *(("fact", fact.id) for fact in memory.browse.facts(all=True)),
    )
    for kind, id in corrections:
        memory.correct(f"{kind}/{id}", f"The {kind} of the quaywall, put rightly")
    (root.parent / "briefs").mkdir(exist_ok=True)
    memory.remember("The lamp is lit at dusk.")  # has the briefs prepared
    return memory


def test_scrubbed_text_is_in_no_table_and_no_file(root: Path) -> None:
    put(root, ".claude/rules/testing.md", "# Testing\n\n- Name the quaywall tests plainly.\n")
    put(root, ".claude/memory.md", "# Decisions\n\n- The quaywall store is SQLite.\n")
    home = root.parent
    with memory_full_of_text(root) as memory:
        memory.banks.change(BankChanges(background="A quaywall backend."))
        assert rows_with(home) >= {*_EVERYWHERE, "rule", "bank"}
        memory.erasure.scrub(f"/(?i){WORD}/")
        assert rows_with(home) == set() and files_with(home, root) == []
        git(root, "commit", "-q", "--allow-empty", "-m", "Go on")
        memory.ingestion.ingest_git(root, with_diff=True)
        memory.ingestion.rebuild()
        memory.ingestion.update()
        assert rows_with(home) == set() and files_with(home, root) == []
        assert memory.store.check_integrity() == ((), ())


def test_purged_text_is_in_no_table_and_no_file(root: Path) -> None:
    """Record by record, until nothing is left that said it; other words stay."""
    home = root.parent
    with memory_full_of_text(root) as memory:
        assert rows_with(home) >= _EVERYWHERE
        (bank,) = memory.reader.banks.all()
        for session in memory.reader.sessions.latest(None):
            memory.erasure.purge(f"session/{session.id}")
        assert not rows_with(home) & {"turn", "exchange", "digest", "claim", "retained_memory"}
        for commit in list(memory.store.git.commits_uncurated(bank.id)):
            memory.erasure.purge(f"commit/{commit.id}")
        for name in ("issue/2", "pull/1@a.b"):
            memory.erasure.purge(name)
        for kept in memory.store.memories.remembered_uncurated(bank.id):
            if WORD in kept.what:
                memory.erasure.purge(f"memory/{kept.id}")
        assert rows_with(home) == set() and files_with(home, root) == []
        memory.ingestion.rebuild()
        memory.ingestion.update()
        assert rows_with(home) == set() and files_with(home, root) == []
        assert [m.what for m in memory.store.memories.remembered_uncurated(bank.id)] == [
            "The lamp is lit at dusk."
        ]


def test_a_purge_keeps_the_corrections_of_other_records(root: Path) -> None:
    with memory_full_of_text(root) as memory:
        (bank,) = memory.reader.banks.all()
        kept = [f for f in memory.browse.facts(all=True) if "put rightly" in f.content]
        assert kept
        first = min(memory.reader.sessions.latest(None), key=lambda s: s.started)
        memory.erasure.purge(f"session/{first.id}")
        left = {f.id: f.content for f in memory.browse.facts(all=True)}
        assert {f.id for f in kept} & set(left)
        assert all("put rightly" in left[f.id] for f in kept if f.id in left)
        texts = [e.text for e in memory.store.curation.log(bank.id)]
        assert "The memory of the quaywall, put rightly" in texts
