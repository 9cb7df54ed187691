from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.model.graph import EntityKind, LinkKind
from holdfast.operations.entities import entity
from holdfast.recall.links.record_links import MAX_LINKS, Links
from holdfast.settings import Settings
from tests.refine.rules.test_rules import git, project
from tests.support.empty_memory import with_empty_memory
from tests.support.laws import costly
from tests.support.transcripts import Script

THINGS = ("AuthProvider", "TokenCache", "SessionGuard", "parse_http", "src/ui/rest.js", "#12")
SAYINGS = (
    "We moved {0} because {1} failed.",
    "{0} broke, so {1} was changed.",
    "The root cause of {0} was {1}.",
    "Keep {0} so that {1} works.",
    "{0} prevents errors in {1}.",
    "Look at {0} and {1}.",
)


def open_at(home: Path) -> Holdfast:
    given = Settings(home=home, claude_dir=home / "claude", bank="proj")
    return Holdfast(with_empty_memory(given), now=lambda: "2026-11-01T00:00:00.000Z")


def script(number: int, *texts: str) -> Script:
    made = Script(f"{number:08d}-0000-4000-8000-000000000001")
    for text in texts:
        made.user(text)
        made.assistant("Done as you said, and nothing else was touched by it.")
    return made


def read(memory: Holdfast, *scripts: Script) -> None:
    folder = memory.settings.home / "claude" / "projects"
    memory.ingest(memory.ingestion.find([s.write(folder) for s in scripts]))


def graph(memory: Holdfast) -> dict[str, list[object]]:
    """The whole graph by what it says, without the numbers that it happens to have."""
    queries = {
        "entity": "SELECT bank, id, kind, name, aliases, mentions FROM entity",
        "spelling": "SELECT s.bank, sort, text, key, e.id FROM entity_spelling AS s "
        "LEFT JOIN entity AS e ON e.number = s.entity",
        "mention": "SELECT n.bank, n.kind, n.id, m.time, s.sort, s.text, parts "
        "FROM entity_mention AS m JOIN graph_node AS n ON n.number = m.node "
        "JOIN entity_spelling AS s ON s.number = m.spelling",
        "same": "SELECT n.id, sort, one, other FROM spelling_equivalence "
        "JOIN graph_node AS n ON n.number = node",
        "node": "SELECT bank, kind, id, session, time, hash FROM graph_node",
    }
    with closing(sqlite3.connect(memory.settings.database)) as raw:
        return {name: sorted(raw.execute(query), key=repr) for name, query in queries.items()}


def the_bank(memory: Holdfast) -> str:
    bank = memory.context.bank_id("proj")
    assert bank
    return bank


def test_one_component_is_found_under_all_its_names(tmp_path: Path) -> None:
    moved = script(1, "Please move AuthProvider, the auth provider is too deep.")
    path = "/home/dev/proj/src/AuthProvider.tsx"
    moved.tool("Edit", "ok", file_path=path, old_string="a", new_string="b")
    with open_at(tmp_path) as memory:
        read(memory, moved, script(2, "Is the auth provider in place?"))
        assert memory.ingestion.update() == {}
        one = memory.browse.entity("the auth provider".removeprefix("the "), "proj")
        assert one.name == "AuthProvider" and one.kind is EntityKind.COMPONENT
        assert {"auth provider", "src/AuthProvider.tsx"} <= set(one.aliases)
        assert (
            one
            == memory.browse.entity("AuthProvider.tsx", "proj")
            == memory.browse.entity(one.id, "proj")
        )
        assert one.mentions >= 2
        about = entity(memory, "AuthProvider", "proj")
        assert {record.kind for record in about.records} >= {"exchange"}


def test_an_unknown_entity_is_an_error(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        read(memory, script(1, "Look at AuthProvider."))
        memory.ingestion.update()
        with pytest.raises(NotFoundError, match="There is no entity"):
            memory.browse.entity("Nowhere", "proj")


@pytest.mark.slow
@costly(12)
@given(
    st.lists(
        st.tuples(st.sampled_from(SAYINGS), st.sampled_from(THINGS), st.sampled_from(THINGS)),
        min_size=2,
        max_size=9,
    ),
    st.integers(0, 1000),
)
def test_incremental_updates_in_any_order_equal_a_rebuild(
    tmp_path_factory: pytest.TempPathFactory, templates: list[tuple[str, str, str]], seed: int
) -> None:
    texts = [form.format(one, other) for form, one, other in templates]
    scripts = [script(n, *texts[n::3]) for n in range(3) if texts[n::3]]
    with open_at(tmp_path_factory.mktemp("whole")) as memory:
        read(memory, *scripts)
        memory.ingestion.update()
        whole = graph(memory)
        links = all_links(memory)
    with open_at(tmp_path_factory.mktemp("parts")) as memory:
        shuffled = list(scripts)
        random.Random(seed).shuffle(shuffled)
        for one in shuffled:
            read(memory, one)
            memory.ingestion.update()
        assert graph(memory) == whole
        assert all_links(memory) == links
        memory.ingestion.rebuild()
        assert graph(memory) == whole
        check_links(memory)


def all_links(memory: Holdfast) -> list[tuple[str, str, str, float]]:
    reader, bank = memory.reader, the_bank(memory)
    links = Links(reader, bank)
    return sorted(
        (link.source, link.kind.value, link.target, link.weight)
        for place in reader.graph.records(bank, list(range(1, 500)))
        for link in links.all(place)
    )


def check_links(memory: Holdfast) -> None:
    """Symmetric where they must be, bounded, never to oneself."""
    links = all_links(memory)
    there = {(source, kind, target) for source, kind, target, _ in links}
    turned = {
        LinkKind.CAUSES: LinkKind.CAUSED_BY,
        LinkKind.CAUSED_BY: LinkKind.CAUSES,
        LinkKind.ENTITY: LinkKind.ENTITY,
        LinkKind.TEMPORAL: LinkKind.TEMPORAL,
    }
    counts: dict[tuple[str, str], int] = {}
    for source, kind, target, _ in links:
        assert source != target
        counts[source, kind] = counts.get((source, kind), 0) + 1
        back = turned.get(LinkKind(kind))
        assert back is None or (target, back.value, source) in there, (source, kind, target)
    assert max(counts.values(), default=0) <= MAX_LINKS


@pytest.mark.slow
def test_links_stay_bounded_where_everything_is_about_one_thing(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        lines = [f"TokenCache failed {n} times because TokenCache was stale." for n in range(40)]
        read(memory, *[script(n, line) for n, line in enumerate(lines)])
        memory.ingestion.update()
        check_links(memory)


def test_forgetting_removes_mentions_and_links_and_restoring_brings_them_back(
    tmp_path: Path,
) -> None:
    with open_at(tmp_path) as memory:
        read(memory, script(1, "We moved AuthProvider because TokenCache failed."))
        read(memory, script(2, "TokenCache failed because the xebec_lock was held."))
        memory.ingestion.update()
        before = graph(memory)
        (exchange,) = [
            x
            for session in memory.reader.sessions.latest(None)
            for x in memory.reader.sessions.exchanges(session.bank, session.id)
            if "xebec" in x.title
        ]
        memory.forget(f"holdfast://session/{exchange.session}")
        assert "xebec" not in repr(graph(memory))
        memory.restore(f"holdfast://session/{exchange.session}")
        assert graph(memory) == before


def test_purging_and_scrubbing_leave_no_name(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        read(memory, script(1, "The secret_xebec holds.", "Look at KetchLoader."))
        memory.ingestion.update()
        memory.erasure.scrub("secret_xebec")
        assert "xebec" not in repr(graph(memory)) and "KetchLoader" in repr(graph(memory))
        session = memory.reader.sessions.latest(None)[0]
        memory.erasure.purge(f"holdfast://session/{session.id}")
        assert all(rows == [] for rows in graph(memory).values())
        assert b"KetchLoader" not in memory.settings.database.read_bytes()


@pytest.mark.slow
def test_decisions_hold_through_a_rebuild_and_are_undone_exactly(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        read(memory, script(1, "Look at AuthProvider and TokenCache, the auth provider is old."))
        read(memory, script(2, "The auth provider and the token cache differ."))
        memory.ingestion.update()
        before = graph(memory)
        memory.curation.merge_entities("TokenCache", "AuthProvider", "proj")
        one = memory.browse.entity("TokenCache", "proj")
        assert {"AuthProvider", "TokenCache"} <= {one.name, *one.aliases}
        memory.curation.split_entity(one.name, "auth provider", "proj")
        assert memory.browse.entity("auth provider", "proj").id != one.id
        decided = graph(memory)
        memory.ingestion.rebuild()
        assert graph(memory) == decided
        with pytest.raises(InputError, match="one entity already"):
            memory.curation.merge_entities("TokenCache", "AuthProvider", "proj")
        memory.correct(memory.browse.entity("TokenCache", "proj").id, "the cache of tokens")
        assert memory.browse.entity("TokenCache", "proj").name == "the cache of tokens"
        memory.forget(memory.browse.entity("TokenCache", "proj").id)
        with pytest.raises(NotFoundError):
            memory.browse.entity("TokenCache", "proj")
        memory.undo(4)
        assert graph(memory) == before


def test_banks_do_not_see_each_other(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        read(memory, script(1, "Look at AuthProvider."))
        memory.remember("KetchLoader needs AuthProvider.", "other")
        names = {entity.name for entity in memory.browse.entities("proj")}
        assert "KetchLoader" not in names and "AuthProvider" in names
        assert [record.kind for record in entity(memory, "AuthProvider", "other").records] == [
            "memory"
        ]
        assert memory.recall("KetchLoader", "proj").abstained


def test_a_renamed_file_keeps_its_history(tmp_path: Path) -> None:
    first = script(1, "Please write the loader.")
    first.tool("Edit", "ok", file_path="/home/dev/proj/a/ketch.py", old_string="x", new_string="y")
    second = script(2, "Please rename it.")
    second.tool("Bash", "", command="git mv a/ketch.py b/mizzen.py")
    with open_at(tmp_path) as memory:
        read(memory, first, second)
        memory.ingestion.update()
        one = memory.browse.entity("b/mizzen.py", "proj")
        assert one.name == "b/mizzen.py" and "a/ketch.py" in one.aliases
        assert one == memory.browse.entity("a/ketch.py", "proj") and one.mentions >= 2


@pytest.mark.slow
def test_contradictory_merges_and_splits_terminate_and_are_undone_exactly(tmp_path: Path) -> None:
    one, other, third = "AuthProvider", "TokenCache", "SessionGuard"
    text = f"Look at {one}, {other} and {third}."
    with open_at(tmp_path) as memory:
        read(memory, script(1, text), script(2, f"{text} Once more."))
        before = graph(memory)

        def entities() -> int:
            return len({memory.browse.entity(name, "proj").id for name in (one, other, third)})

        memory.curation.merge_entities(one, other, "proj")
        assert entities() == 2
        memory.undo()
        assert graph(memory) == before
        memory.curation.merge_entities(one, third, "proj")
        memory.curation.merge_entities(third, other, "proj")
        assert entities() == 1
        with pytest.raises(InputError, match="one entity already"):
            memory.curation.merge_entities(other, one, "proj")
        memory.curation.split_entity(one, other, "proj")
        assert entities() == 2
        assert memory.browse.entity(one, "proj") == memory.browse.entity(third, "proj")
        memory.curation.merge_entities(other, third, "proj")
        assert entities() == 1, "the later decision wins"
        memory.ingestion.rebuild()
        assert entities() == 1
        memory.undo()
        assert entities() == 2
        memory.undo(3)
        assert graph(memory) == before


@pytest.mark.slow
def test_generic_names_have_no_links(tmp_path: Path) -> None:
    scripts = [script(n, f"Run the test of the index number {n}, please.") for n in range(1, 9)]
    for n, made in enumerate(scripts):
        for name in ("index.ts", "test.py", "main.go"):
            path = f"/home/dev/proj/part{n}/{name}"
            made.tool("Edit", "ok", file_path=path, old_string="a", new_string="b")
    with open_at(tmp_path) as memory:
        read(memory, *scripts)
        names = {entity.name for entity in memory.browse.entities("proj", limit=1000)}
        assert not names & {"test", "index", "main", "index.ts", "test.py", "main.go"}
        for name in ("test", "index", "index.ts"):
            with pytest.raises(NotFoundError):
                memory.browse.entity(name, "proj")
        found = memory.recall("what did the index test of the main part say", "proj")
        assert {arm.name: arm.found for arm in found.strategies}["graph"] == 0
        assert memory.browse.entity("part3/index.ts", "proj").name == "part3/index.ts"


def renamed(folder: Path, at: pytest.MonkeyPatch, again: bool = False) -> Path:
    """A repository in which a file was moved twice, and maybe another took its first name."""
    root = project(folder)
    hours = iter(range(10, 20))

    def commit(message: str) -> None:
        when = f"2026-10-01T{next(hours)}:00:00Z"
        at.setenv("GIT_AUTHOR_DATE", when)
        at.setenv("GIT_COMMITTER_DATE", when)
        git(root, "add", ".")
        git(root, "commit", "-qm", message)

    (root / "a").mkdir()
    (root / "a" / "ketch_loader.py").write_text("one = 1\ntwo = 2\nthree = 3\n")
    commit("Write the first loader of all")
    for old, new in (
        ("a/ketch_loader.py", "b/yawl_loader.py"),
        ("b/yawl_loader.py", "b/mizzen.py"),
    ):
        (root / new).parent.mkdir(exist_ok=True)
        git(root, "mv", old, new)
        commit(f"Give it the place {new.partition('/')[0]}")
    if again:
        (root / "a").mkdir(exist_ok=True)
        (root / "a" / "ketch_loader.py").write_text("def other():\n    return 5\n")
        commit("Write another one")
    return root


def test_a_file_is_followed_through_the_history_of_its_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = renamed(tmp_path / "work", monkeypatch)
    with open_at(tmp_path) as memory:
        read(memory, script(1, "Why does ketch_loader.py swallow the tide table?"))
        memory.ingestion.ingest_git(root, "proj")
        one = memory.browse.entity("ketch_loader.py", "proj")
        assert {"ketch_loader.py", "a/ketch_loader.py", "b/yawl_loader.py"} <= set(one.aliases)
        assert (
            one
            == memory.browse.entity("b/mizzen.py", "proj")
            == memory.browse.entity("yawl_loader.py", "proj")
        )
        found = memory.recall("mizzen.py", "proj")
        by_graph = {hit.kind for hit in found.hits if "graph" in hit.why}
        assert "exchange" in by_graph and "commit" in by_graph
        before = graph(memory)
        memory.ingestion.rebuild()
        assert graph(memory) == before
        memory.curation.split_entity("b/mizzen.py", "a/ketch_loader.py", "proj")
        parted = memory.browse.entity("b/mizzen.py", "proj")
        assert parted.aliases == ("b/yawl_loader.py",)
        memory.ingestion.ingest_git(root, "proj")
        memory.ingestion.rebuild()
        assert memory.browse.entity("b/mizzen.py", "proj") == parted, "what was parted stays so"
        memory.undo()
        assert graph(memory) == before


def test_a_name_that_another_file_has_now_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = renamed(tmp_path / "work", monkeypatch, again=True)
    with open_at(tmp_path) as memory:
        memory.ingestion.ingest_git(root, "proj")
        assert memory.browse.entity("a/ketch_loader.py", "proj") != memory.browse.entity(
            "b/mizzen.py", "proj"
        )
        assert memory.browse.entity("b/mizzen.py", "proj") == memory.browse.entity(
            "b/yawl_loader.py", "proj"
        )
