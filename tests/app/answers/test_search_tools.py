from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.app.answers.search_tool_list import SEARCH_TOOLS
from holdfast.app.answers.search_tools import SearchTools
from holdfast.app.memory import open_memory
from holdfast.errors import InputError, NotFoundError
from holdfast.model.uris import uri
from holdfast.settings import Settings, load_settings
from holdfast.store.sqlite.read_only import SqliteReadStore
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
def settings(prepared: PreparedHome) -> Settings:
    return settings_of(prepared.fresh())


@pytest.fixture
def search(settings: Settings) -> Iterator[SearchTools]:
    with SearchTools.open(settings, "all") as made:
        yield made


def test_search_returns_an_index_with_the_token_cost_of_each_record(search: SearchTools) -> None:
    result = search.call("search_observations", {"query": "nightly import", **ALL})
    best = result["items"][0]
    assert result["format"] == "index" and best["kind"] in ("exchange", "memory", "fact")
    assert "text" not in best and best["tokens"] > 0 and best["uri"].startswith("holdfast://")
    assert result["tokens_in_full"] == sum(item["tokens"] for item in result["items"])
    full = search.call("search_observations", {"query": "nightly import", "format": "full", **ALL})
    assert full["items"][0]["text"] and len(str(full)) > len(str(result))


@pytest.mark.slow
def test_only_the_last_ninety_days_are_searched_by_default(settings: Settings) -> None:
    def at(now: str) -> SearchTools:
        return SearchTools(SqliteReadStore(settings.database), settings, "all", lambda: now)

    with at("2099-01-01T00:00:00.000Z") as late:
        result = late.call("search_observations", {"query": "nightly import"})
        assert result["items"] == [] and "days 0" in result["notes"][0]
        assert late.call("search_observations", {"query": "nightly import", "days": 0})["items"]
        assert late.call("find_by_type", {"type": ["feature", "change", "bugfix"]})["notes"]
        span = {"dateRange": {"start": "2020-01-01"}}
        assert late.call("search_observations", {"query": "nightly import", **span})["items"]
        gone = {"dateRange": {"start": 0, "end": 1000}}
        assert not late.call("search_observations", {"query": "nightly import", **gone})["items"]


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
    reader, now = SqliteReadStore(made.database), "2026-06-02T00:00:00.000Z"
    with SearchTools(reader, made, "all", lambda: now) as tools:
        asked = {"query": "nightly import"}
        auto = tools.call("get_timeline_by_query", asked)
        assert auto["mode"] == "auto" and auto["items"]
        assert "outside of the last 90 days" in auto["notes"][0]
        offered = tools.call("get_timeline_by_query", {**asked, "mode": "interactive"})
        assert auto["notes"][0] == offered["notes"][0]
        assert "notes" not in tools.call("get_timeline_by_query", {**asked, **ALL})
        # What goes by time alone has no window: the latest sessions, whenever they were.
        assert tools.call("get_recent_context", {})["total"] == 2


def test_prompts_are_searched_in_the_users_own_words(search: SearchTools) -> None:
    result = search.call("search_user_prompts", {"query": "rename uploader courier", **ALL})
    assert {item["type"] for item in result["items"]} == {"user"}
    assert "Please rename" in result["items"][0]["title"]


def test_sessions_are_found_by_their_summaries(search: SearchTools) -> None:
    result = search.call("search_sessions", {"query": "nightly import", **ALL})
    assert [item["kind"] for item in result["items"]] == ["digest"]


def test_a_session_in_full_tells_its_files_tools_and_messages(search: SearchTools) -> None:
    (session,) = search.call("get_recent_context", {"limit": 1})["items"]
    for line in ("Messages: 2 assistant, 2 user", "Tools: Edit 1, Write 1"):
        assert line in session["text"]
    assert "Files changed: src/cache.py, src/courier.py" in session["text"]
    found = search.call("search_sessions", {"query": "nightly import", "format": "full", **ALL})
    assert "Tools: Edit 1, Write 1" in found["items"][0]["text"]


@pytest.mark.slow
def test_observations_are_narrowed_by_file_type_and_concept(search: SearchTools) -> None:
    given = {"query": "nightly import courier rename", **ALL}
    result = search.call("search_observations", {**given, "files": "src/courier.py"})
    assert [item["kind"] for item in result["items"]] == ["exchange"]
    assert "rename" in result["items"][0]["title"].lower()
    assert not search.call("search_observations", {**given, "type": "decision"})["items"]
    assert not search.call("search_observations", {**given, "concepts": ["espresso"]})["items"]


def test_work_is_found_by_file_concept_and_type(search: SearchTools) -> None:
    result = search.call("find_by_file", {"filePath": "src/cache.py", **ALL})
    assert len(result["items"]) == 1 and result["sessions"][0]["kind"] == "digest"
    concept = search.call("find_by_concept", {"concept": "courier", **ALL})
    assert concept["total"] == 1 and "touched" not in concept
    every = {"type": ["decision", "bugfix", "feature", "refactor", "discovery", "change"], **ALL}
    latest = search.call("find_by_type", every)
    oldest = search.call("find_by_type", {**every, "orderBy": "date_asc"})
    assert latest["total"] == 2
    assert [i["uri"] for i in latest["items"]] == [i["uri"] for i in reversed(oldest["items"])]
    page = search.call("find_by_type", {**every, "limit": 1, "offset": 1})
    assert [i["uri"] for i in page["items"]] == [latest["items"][1]["uri"]] and page["total"] == 2


def test_recent_context_lists_sessions_with_their_work(search: SearchTools) -> None:
    result = search.call("get_recent_context")
    assert len(result["items"][0]["observations"]) == 2 and result["items"][0]["text"]


def test_a_timeline_is_centred_on_a_record_or_a_date(search: SearchTools) -> None:
    best = search.call("find_by_concept", {"concept": "courier", **ALL})["items"][0]
    result = search.call("get_context_timeline", {"anchor": best["uri"], "depth_after": 0})
    marked = [item for item in result["items"] if item.get("anchor")]
    assert [item["uri"] for item in marked] == [best["uri"]] and result["items"][-1] == marked[0]
    day = search.call("get_context_timeline", {"anchor": best["time"][:10]})
    assert best["uri"] in [item["uri"] for item in day["items"]]


@pytest.mark.slow
def test_a_timeline_by_query_finds_an_anchor_or_offers_a_choice(search: SearchTools) -> None:
    auto = search.call("get_timeline_by_query", {"query": "rename uploader courier", **ALL})
    assert auto["mode"] == "auto" and auto["anchor"] in [item["uri"] for item in auto["items"]]
    given = {"query": "rename uploader courier", "mode": "interactive", "limit": 2, **ALL}
    asked = search.call("get_timeline_by_query", given)
    assert 0 < len(asked["items"]) <= 2 and "anchor" in asked["notes"][-1]
    result = search.call("get_context_timeline", {"anchor": asked["items"][0]["uri"]})
    assert result["items"]
    assert search.call("get_timeline_by_query", {"query": "espresso quaternion"})["items"] == []


@pytest.mark.slow
def test_ids_of_imported_records_are_resolved_by_their_scheme(
    settings: Settings, tmp_path: Path
) -> None:
    missing = pytest.raises(NotFoundError, match="claude-mem://observation/1")
    with SearchTools.open(settings, "all") as search, missing:
        search.call("get_context_timeline", {"anchor": 1})
    path, later = claude_mem(tmp_path / "claude-mem.db"), "2026-03-02T12:00:00.000Z"
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE session_summaries SET created_at = ?", (later,))
        database.commit()
    with open_memory(with_empty_memory(settings)) as memory:
        memory.imports.import_records("claude-mem", path)
    with SearchTools.open(settings, "all") as search:
        for anchor, time in (
            (1, NOON),
            ("claude-mem://observation/1", NOON),
            ("S1", later),
            ("claude-mem://session/m-1", later),
        ):
            found = search.call("get_context_timeline", {"anchor": anchor})
            (at,) = (item for item in found["items"] if item.get("anchor"))
            assert at["uri"] == found["anchor"] and at["time"] == time
            assert len(found["items"]) > 1
        with pytest.raises(NotFoundError):
            search.call("get_context_timeline", {"anchor": "claude-mem://observation/13"})


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
    ("find_by_type", {"type": ["discovery", "refactor"]}, "observation/2"),
    ("get_recent_context", {"limit": 5}, "session/1"),
    ("get_context_timeline", {"anchor": "2026-03-01"}, "observation/1"),
    ("get_timeline_by_query", {"query": "sails of the yawl"}, "observation/1"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "given", "name"), IMPORTED_ANSWERS)
def test_every_tool_finds_the_imported_records_that_it_would_find_in_claude_mem(
    settings: Settings, tmp_path: Path, tool: str, given: dict[str, object], name: str
) -> None:
    with open_memory(with_empty_memory(settings)) as memory:
        memory.imports.import_records("claude-mem", claude_mem(tmp_path / "claude-mem.db"))
    properties = next(one for one in SEARCH_TOOLS if one.name == tool).properties
    everything = ALL if "days" in properties else {}
    with SearchTools.open(settings, "all") as search:
        result = search.call(tool, {**given, **everything})
    found = {item["origin"]: item for item in result["items"] if "origin" in item}
    item = found[f"claude-mem://{name}"]
    assert item["kind"] == "imported" and item["program"] == "claude-mem"
    # The title alone of each is shorter than what it costs to read.
    assert item["tokens"] > len(item["title"]) // 4 + (name != "prompt/1")


def test_imported_observations_are_read_in_full_with_their_subtitle_and_facts(
    settings: Settings, tmp_path: Path
) -> None:
    with open_memory(with_empty_memory(settings)) as memory:
        memory.imports.import_records("claude-mem", claude_mem(tmp_path / "claude-mem.db"))
    asked = {"type": "decision", "format": "full", **ALL}
    with SearchTools.open(settings, "all") as search:
        (item,) = (i for i in search.call("find_by_type", asked)["items"] if "origin" in i)
        (recent,) = (
            i for i in search.call("get_recent_context", {"limit": 5})["items"] if "origin" in i
        )
    assert item["subtitle"] == "Cotton rots within a season." and item["type"] == "decision"
    for said in ("Hemp sails for the yawl", "hemp cloth", "Bergen", "trade-off", "rig/sails.py"):
        assert said in item["text"]
    assert "Bergen has the best sailmaker" in recent["text"]
    assert [one["origin"] for one in recent["observations"]] == ["claude-mem://observation/1"]


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
    with SearchTools.open(settings, "all") as search:
        meant = search.call("find_by_concept", {"concept": "login without passwords", **ALL})
        assert any("credentials" in item["title"] for item in meant["items"])
        named = search.call("find_by_concept", {"concept": "courier", **ALL})
        assert "courier" in named["items"][0]["title"]
        missing = search.call("find_by_concept", {"concept": "espresso quaternion", **ALL})
        assert missing["items"] == []


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("search_observations", {"query": "x", "type": "poem"}),
        ("search_observations", {"query": "x", "type": ["decision", "poem"]}),
        ("search_observations", {"query": "x", "dateRange": {"start": "soon"}}),
        ("search_observations", {"query": "x", "dateRange": {"from": "2026-01-01"}}),
        ("search_observations", {"query": "x", "dateRange": {"start": 1e300}}),
        ("search_observations", {"query": "x", "days": -1}),
        ("find_by_type", {}),
        ("get_context_timeline", {"anchor": uri("turn", "0" * 16)}),
        ("get_context_timeline", {"anchor": "two words"}),
        ("search_sessions", {"query": "x", "project": "nowhere"}),
    ],
)
def test_invalid_arguments_are_refused(search: SearchTools, name: str, given: object) -> None:
    with pytest.raises(InputError):
        search.call(name, given)


def test_there_are_nine_tools_and_none_writes() -> None:
    assert len(SEARCH_TOOLS) == 9 and not any(tool.writes for tool in SEARCH_TOOLS)
