"""A verdict is the same by whatever interface it is given: the same entry of the log, the same
brief, undone by the same undo; only its author differs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.app.memory import Holdfast
from holdfast.interfaces.cli.main import main
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.protocol import CallContext
from holdfast.model.curation import Action
from holdfast.model.knowledge import Kind
from holdfast.settings import load_settings
from tests.brief.test_known_statements import FILLER, retain, session
from tests.brief.test_verdicts import KEPT, OTHER, name_of
from tests.support.http.forms import PageClient
from tests.support.http.server import Server, empty_home, serving
from tests.support.refine_banks import open_filled, session_on

WHY = "the berths were sold"


class Harbour(NamedTuple):
    """A memory whose brief tells two statements, and a server of it."""

    server: Server

    def opened(self) -> Holdfast:
        return Holdfast(load_settings(dict(self.server.env)), create=False)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    folder = tmp_path_factory.mktemp("verdicts")
    env = {**empty_home(folder), "HOLDFAST_BANK": "proj"}
    with open_filled(
        folder / "home",
        session("2026-09-01", 1, FILLER, KEPT),
        session("2026-09-02", 2, "Look at the cranes, please.", OTHER),
        session("2026-09-03", 3, "Which lamp of the pier is broken?", "The third lamp is broken."),
    ) as memory:
        retain(memory, KEPT, Kind.FACT)
        retain(memory, OTHER, Kind.FACT)
    with pytest.MonkeyPatch.context() as patch, serving(env, folder) as server:
        for name in ("HOLDFAST_HOME", "CLAUDE_CONFIG_DIR", "HOLDFAST_BANK"):
            patch.setenv(name, env[name])
        patch.chdir(folder)
        yield Harbour(server)


def by_python(harbour: Harbour, names: list[str]) -> None:
    with harbour.opened() as memory:
        memory.curation.judge(names, "outdated", WHY)


def by_command(harbour: Harbour, names: list[str]) -> None:
    assert main(["review", "outdated", *names, "--why", WHY]) == 0


def by_page(harbour: Harbour, names: list[str]) -> None:
    client = PageClient(harbour.server)
    for name in names:
        place = "/record/memory/" + name.rpartition("/")[2]
        shown = client.get(place).text.partition('action="/do/judge"')[2]
        seen = shown.partition('name="seen" value="')[2].partition('"')[0]
        form = {"ids": name, "seen": seen, "verdict": "outdated", "why": WHY, "from": place}
        assert client.post("/do/judge", form).status == 303


def by_rest(harbour: Harbour, names: list[str]) -> None:
    body = {"ids": names, "verdict": "outdated", "why": WHY}
    server = harbour.server
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    got = server.ask("/api/v1/verdicts", headers, json.dumps(body).encode())
    assert [one["target"] for one in json.loads(got.text)["decided"]] == names


def by_tool(harbour: Harbour, names: list[str]) -> None:
    engine = ToolEngine()
    given = {"verdict": "outdated", "ids": names, "why": WHY}
    told = engine.call("review", given, CallContext(client="a client"))
    engine.close()
    assert told["structuredContent"]["judged"] == names


WAYS: dict[Callable[[Harbour, list[str]], None], str] = {
    by_python: "", by_command: "", by_page: "(browse)", by_rest: "(http)",
    by_tool: "agent (a client)",
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_every_interface_judges_several_records_with_a_reason(
    harbour: Harbour, way: Callable[[Harbour, list[str]], None]
) -> None:
    names = [name_of(KEPT), name_of(OTHER)]
    with harbour.opened() as memory:
        before = memory.briefs.session_brief()
        assert KEPT in before.text and OTHER in before.text
    way(harbour, names)
    with harbour.opened() as memory:
        made = memory.reader.curation.log(memory.context.bank_id() or "")[-2:]
        assert [(one.action, one.target, one.text) for one in made] == [
            (Action.JUDGE, name, f"outdated: {WHY}") for name in names
        ]
        assert all(one.who.endswith(WAYS[way]) for one in made)
        after = memory.briefs.session_brief().text
        assert KEPT not in after and OTHER not in after
        assert [one.target for one in memory.undo(2)] == names[::-1]
        assert memory.briefs.session_brief().text == before.text


@pytest.mark.parametrize("call", ["shell", "tool"])
def test_what_an_agent_reports_of_its_review_is_no_statement_of_its_own(
    tmp_path: Path, call: str
) -> None:
    outdated = "The root cause was that each berth kept its own queue of ships at night."
    script = session_on("2026-09-05", 5)
    script.user("Review what the next session is told, please.")
    if call == "shell":
        judging = 'sh "/p/scripts/holdfast.sh" review --by-agent cc outdated memory/1a2b3c4d'
        script.tool("Bash", "1 record judged outdated.", command=judging)
    else:
        name = "mcp__plugin_holdfast_memory__review"
        script.tool(name, "1 record judged outdated.", verdict="outdated", ids=["memory/1a2b3c4d"])
    script.assistant(f"I called this outdated. {outdated}")
    with open_filled(tmp_path, script) as memory:
        bank = memory.context.bank_id() or ""
        told = [one.what for one in memory.reader.memories.retained(bank)]
        told += [one.content for one in memory.browse.facts(bank)]
        assert not any("berth" in text for text in told), told
