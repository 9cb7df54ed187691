"""The server that returns an index first, and texts on request."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast, open_memory
from holdfast.model.uris import uri
from holdfast.operations.agents.tools import SERVERS
from holdfast.operations.finding import Part, find
from holdfast.operations.history import TimelineMode, timeline
from holdfast.settings import Settings, load_settings
from tests.support.agent_tools import ToolError, Tools
from tests.support.empty_memory import with_empty_memory
from tests.support.foreign_exports import NOON, claude_mem
from tests.support.prepared_home import PreparedHome
from tests.support.transcripts import Script

WHY = "The nightly import failed because the cache was warmed before the migration had run."
ALL = {"days": 0}


def settings_of(home: Path) -> Settings:
    return load_settings({"HOLDFAST_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "c")})


def write_two_requests(home: Path) -> None:
    project = home.parent / "proj"
    project.mkdir()
    script = Script(cwd=str(project))
    script.user("Fix the nightly import, it fails.")
    script.tool("Edit", file_path=str(project / "src" / "cache.py"), old_string="a", new_string="b")
    script.assistant(WHY)
    script.user("Please rename the uploader to courier.")
    file = str(project / "src" / "courier.py")
    script.tool("Write", file_path=file, content="class Courier: ...")
    script.assistant("Renamed the uploader to courier in src/courier.py.")
    script.write(home / "c" / "projects")
    with open_memory(with_empty_memory(settings_of(home))) as memory:
        memory.ingest(memory.ingestion.find([]))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedHome:
    return PreparedHome(tmp_path_factory.mktemp("prepared"), write_two_requests)


@pytest.fixture
def settings(prepared: PreparedHome, monkeypatch: pytest.MonkeyPatch) -> Settings:
    home = prepared.fresh()
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "c"))
    return settings_of(home)


@pytest.fixture
def search(settings: Settings) -> Iterator[Tools]:
    made = Tools("search")
    yield made
    made.engine.close()


def test_search_returns_an_index_with_the_token_cost_of_each_record(search: Tools) -> None:
    told = search("search_observations", query="nightly import", **ALL)
    best = told["findings"][0]
    assert best["kind"] in ("exchange", "memory", "fact") and "text" not in best
    assert best["tokens"] > 0 and best["uri"].startswith("holdfast://")
    assert told["tokens_in_full"] == sum(one["tokens"] for one in told["findings"])
    index = search.text("search_observations", query="nightly import", **ALL)
    assert f"{best['uri']} (~{best['tokens']} tokens)" in index and WHY not in index
    full = search("search_observations", query="nightly import", format="full", **ALL)
    assert full["findings"][0]["text"] and len(str(full)) > len(str(told))
    opened = search.text("show", id=best["uri"])
    assert all(line.startswith("|") for line in opened.splitlines()) and "raw line" in opened


@pytest.mark.slow
def test_only_the_last_ninety_days_are_searched_by_default(settings: Settings) -> None:
    with Holdfast(settings, lambda: "2099-01-01T00:00:00.000Z", only_reads=True) as late:
        told = find(late, "nightly import", days=90, bank="all")
        assert told.findings == () and "days 0" in told.notes[0]
        assert find(late, "nightly import", bank="all").findings
        assert find(late, concept="courier", days=90, bank="all").notes
        since = find(late, "nightly import", since="2020-01-01", days=90, bank="all")
        assert since.findings and not since.notes
        assert not find(late, "nightly import", until="1971-01", bank="all").findings
    for tool in SERVERS["search"].tools:
        assert tool.presets.get("days", 90) == 90


@pytest.mark.slow
def test_a_timeline_counts_what_its_query_finds_before_the_window(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "proj"
    project.mkdir()
    told = {1: WHY, 6: "The nightly import reads the whole table again, so it is slow."}
    for month, answer in told.items():
        id = f"{month:08d}-0000-4000-8000-000000000001"
        script = Script(id, cwd=str(project), start=datetime(2026, month, 1, 9, tzinfo=UTC))
        script.user(f"What is wrong with the nightly import in month {month}?")
        script.assistant(answer)
        script.write(home / "c" / "projects")
    made = settings_of(home)
    with open_memory(with_empty_memory(made)) as memory:
        memory.ingest(memory.ingestion.find([]))
    with Holdfast(made, lambda: "2026-06-02T00:00:00.000Z", only_reads=True) as memory:
        auto = timeline(memory, query="nightly import", days=90, bank="all")
        assert auto.anchor and "outside of the last 90 days" in auto.notes[0]
        offered = timeline(
            memory, query="nightly import", days=90, mode=TimelineMode.INTERACTIVE, bank="all"
        )
        assert auto.notes[0] == offered.notes[-1]
        assert not timeline(memory, query="nightly import", bank="all").notes
        # What goes by time alone has no window: the latest sessions, whenever they were.
        assert find(memory, of=Part.SESSIONS, bank="all").total == 2


def test_prompts_are_searched_in_the_users_own_words(search: Tools) -> None:
    told = search("search_user_prompts", query="rename uploader courier", **ALL)
    assert {one["type"] for one in told["findings"]} == {"user"}
    assert "Please rename" in told["findings"][0]["title"]


def test_sessions_are_found_by_their_summaries(search: Tools) -> None:
    told = search("search_sessions", query="nightly import", **ALL)
    assert [one["kind"] for one in told["findings"]] == ["digest"]


def test_a_session_in_full_tells_its_files_tools_messages_and_work(search: Tools) -> None:
    (session,) = search("get_recent_context", limit=1)["findings"]
    for line in ("Messages: 2 assistant, 2 user", "Tools: Edit 1, Write 1"):
        assert line in session["text"]
    assert "Files changed: src/cache.py, src/courier.py" in session["text"]
    assert session["text"].count("holdfast://exchange/") == 2
    found = search("search_sessions", query="nightly import", format="full", **ALL)
    assert "Tools: Edit 1, Write 1" in found["findings"][0]["text"]


@pytest.mark.slow
def test_observations_are_narrowed_by_file_type_and_concept(search: Tools) -> None:
    given = {"query": "nightly import courier rename", **ALL}
    told = search("search_observations", **given, files="src/courier.py")
    assert [one["kind"] for one in told["findings"]] == ["exchange"]
    assert "rename" in told["findings"][0]["title"].lower()
    assert not search("search_observations", **given, type="decision")["findings"]
    assert not search("search_observations", **given, concepts="espresso")["findings"]


def test_work_is_found_by_file_concept_and_type(search: Tools) -> None:
    told = search("find_by_file", filePath="src/cache.py", **ALL)
    assert [one["kind"] for one in told["findings"]] == ["exchange"]
    assert search("find_by_concept", concept="courier", **ALL)["total"] == 1
    every = {"filePath": "src/", **ALL}
    latest = search("find_by_file", **every)
    oldest = search("find_by_file", **every, orderBy="date_asc")
    assert latest["total"] == 2
    names = [one["uri"] for one in latest["findings"]]
    assert names == [one["uri"] for one in reversed(oldest["findings"])]
    page = search("find_by_file", **every, limit=1, offset=1)
    assert [one["uri"] for one in page["findings"]] == names[1:] and page["total"] == 2
    assert search("find_by_type", type=latest["findings"][0]["type"], **ALL)["findings"]


def test_a_timeline_is_centred_on_a_record_or_a_date(search: Tools) -> None:
    best = search("find_by_concept", concept="courier", **ALL)["findings"][0]
    told = search("get_context_timeline", anchor=best["uri"], depth_after=0)
    marked = [one for one in told["events"] if one.get("anchor")]
    assert [one["uri"] for one in marked] == [best["uri"]] and told["events"][-1] == marked[0]
    text = search.text("get_context_timeline", anchor=best["time"][:10])
    assert f"{best['uri']} (~{best['tokens']} tokens)" in text


@pytest.mark.slow
def test_a_timeline_by_query_finds_an_anchor_or_offers_a_choice(search: Tools) -> None:
    asked = {"query": "rename uploader courier", **ALL}
    auto = search("get_timeline_by_query", **asked)
    assert auto["anchor"] in [one["uri"] for one in auto["events"]]
    offered = search("get_timeline_by_query", **asked, mode="interactive", limit=2)
    assert 0 < len(offered["events"]) <= 2 and "anchor" in offered["notes"][0]
    assert search("get_context_timeline", anchor=offered["events"][0]["uri"])["events"]
    assert search("get_timeline_by_query", query="espresso quaternion")["events"] == []


@pytest.mark.slow
def test_ids_of_imported_records_are_resolved_by_their_scheme(
    settings: Settings, tmp_path: Path
) -> None:
    with pytest.raises(ToolError, match="claude-mem://observation/1"):
        Tools("search")("get_context_timeline", anchor="claude-mem://observation/1")
    path, later = claude_mem(tmp_path / "claude-mem.db"), "2026-03-02T12:00:00.000Z"
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE session_summaries SET created_at = ?", (later,))
        database.commit()
    with open_memory(with_empty_memory(settings)) as memory:
        memory.imports.import_records("claude-mem", path)
    search = Tools("search")
    for anchor, time in (
        ("claude-mem://observation/1", NOON),
        ("claude-mem://session/m-1", later),
    ):
        found = search("get_context_timeline", anchor=anchor)
        (at,) = (one for one in found["events"] if one.get("anchor"))
        assert at["uri"] == found["anchor"] and at["time"] == time and len(found["events"]) > 1
    with pytest.raises(ToolError):
        search("get_context_timeline", anchor="claude-mem://observation/13")


# What claude-mem's own tools return for these arguments; the names are those of its records.
IMPORTED_ANSWERS = [
    ("search_observations", {"query": "sails of the yawl"}, "observation/1"),
    ("search_observations", {"query": "sails of the yawl", "type": "decision"}, "observation/1"),
    ("search_observations", {"query": "sails", "files": "rig/sails.py"}, "observation/1"),
    ("search_observations", {"query": "sails", "concepts": "trade-off"}, "observation/1"),
    ("search_sessions", {"query": "best sailmaker"}, "session/1"),
    ("search_user_prompts", {"query": "Which cloth for the sails"}, "prompt/1"),
    ("find_by_concept", {"concept": "trade-off"}, "observation/1"),
    ("find_by_file", {"filePath": "sails.py"}, "observation/1"),
    ("find_by_file", {"filePath": "rig/"}, "observation/1"),
    ("find_by_type", {"type": "discovery"}, "observation/2"),
    ("get_recent_context", {"limit": 5}, "session/1"),
]
IMPORTED_EVENTS = [
    ("get_context_timeline", {"anchor": "2026-03-01"}),
    ("get_timeline_by_query", {"query": "sails of the yawl"}),
]


@pytest.mark.slow
def test_every_tool_finds_the_imported_records_that_it_would_find_in_claude_mem(
    settings: Settings, tmp_path: Path
) -> None:
    with open_memory(with_empty_memory(settings)) as memory:
        memory.imports.import_records("claude-mem", claude_mem(tmp_path / "claude-mem.db"))
    search = Tools("search")
    for name, given, wanted in IMPORTED_ANSWERS:
        days = {} if name == "get_recent_context" else ALL
        found = {one.get("origin"): one for one in search(name, **given, **days)["findings"]}
        one = found[f"claude-mem://{wanted}"]
        # The title alone of each is shorter than what it costs to read.
        assert one["kind"] == "imported"
        assert one["tokens"] > len(one["title"]) // 4 + (wanted != "prompt/1")
    for name, given in IMPORTED_EVENTS:
        days = ALL if "query" in given else {}
        events = search(name, **given, **days)["events"]
        assert any("Hemp sails for the yawl" in one["title"] for one in events), name
    (full,) = (
        one
        for one in search("find_by_type", type="decision", format="full", **ALL)["findings"]
        if "origin" in one
    )
    for said in ("Hemp sails for the yawl", "Cotton rots", "Bergen", "trade-off", "rig/sails.py"):
        assert said in full["text"]


@pytest.mark.model
def test_a_concept_also_finds_what_means_it_in_other_words(
    settings: Settings, tmp_path: Path
) -> None:
    script = Script("44444444-0000-4000-8000-000000000001", cwd=str(tmp_path / "proj"))
    script.user("People keep forgetting their credentials. Let's go with links that are mailed.")
    script.assistant("Signing in works by a mailed link now. Nobody needs a password any more.")
    with open_memory(with_empty_memory(settings)) as memory:
        memory.ingest(memory.ingestion.find([script.write(tmp_path / "more")]))
        memory.ingestion.embed()
    search = Tools("search")
    meant = search("find_by_concept", concept="login without passwords", **ALL)
    assert any("credentials" in one["title"] for one in meant["findings"])
    named = search("find_by_concept", concept="courier", **ALL)
    assert "courier" in named["findings"][0]["title"]
    assert search("find_by_concept", concept="espresso quaternion", **ALL)["findings"] == []


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("search_observations", {"query": "x", "type": "poem"}),
        ("search_observations", {"query": "x", "since": "soon"}),
        ("search_observations", {"query": "x", "days": -1}),
        ("find_by_type", {}),
        ("get_context_timeline", {"anchor": uri("turn", "0" * 16)}),
        ("get_context_timeline", {"anchor": "two words"}),
        ("search_sessions", {"query": "x", "project": "nowhere"}),
    ],
)
def test_invalid_arguments_are_refused(search: Tools, name: str, given: dict[str, object]) -> None:
    with pytest.raises(ToolError):
        search(name, **given)
