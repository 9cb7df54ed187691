"""Every page, in every layout. The list of pages is that of the routes: one without an example here
is an error."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from fastapi.routing import APIRoute
from playwright.sync_api import expect

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http import pages
from holdfast.settings import load_settings
from tests.support.command_line import run_command
from tests.support.http.browser import (
    BrowserSession,
    accessibility_problems,
    accessibility_problems_in_every_layout,
)
from tests.support.http.hostile_sessions import HOSTILE_SESSION, write_hostile_session
from tests.support.http.server import SAMPLES, Server, make_home, serving
from tests.support.http.told_session import TOLD_SESSION, tell_a_brief
from tests.support.transcripts import Script

MASTS = "77777777-0000-4000-8000-000000000007"
_SESSIONS = (MASTS, HOSTILE_SESSION, TOLD_SESSION)
_KINDS = (
    "session", "turn", "exchange", "digest", "fact", "memory", "concept", "commit", "rule",
)  # fmt: skip
# The pages of each route; `{KIND}` is the id of a record of that kind.
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "/": ("/", "/?q=Which+paint+do+the+masts+get%3F"),
    "/research/{id}": (),  # where an answer leads, above
    "/sessions": ("/sessions", "/sessions?branch=none"),
    "/sessions/{name}": tuple(f"/sessions/{one}" for one in _SESSIONS),
    "/sessions/{name}/injected": tuple(
        f"/sessions/{one}/injected" for one in (TOLD_SESSION, MASTS)
    ),
    "/search": ("/search", "/search?q=tide", "/search?q=xyzzy+kind%3Acommit"),
    "/record/{word}/{id:path}": (
        *(f"/record/{kind}/{{{kind}}}" for kind in _KINDS),
        "/record/memory/{memory}?merge=yes",
        "/record/memory/{hidden}",
    ),
    "/memory": tuple(
        f"/memory?tab={tab}"
        for tab in (
            "rules", "facts", "concepts", "opinions", "memories", "patterns", "shared", "imported",
            "forgotten", "decisions",
        )
    ),
    "/review": tuple(
        f"/review?tab={tab}" for tab in ("rules", "facts", "agents", "secrets", "stale")
    ),
    "/banks": ("/banks",),
    "/banks/{id}": ("/banks/masts", "/banks/masts?tab=settings"),
    "/brief": ("/brief", "/brief?bank=tidewatch"),
    "/entities": ("/entities", "/entities?focus=alerts.py", "/entities?focus=nobody"),
    "/timeline": ("/timeline", "/timeline?span=2026-10", "/timeline?at=2026-10-27"),
    "/repos": ("/repos", "/repos?commit={commit}", "/repos?path=none.py"),
    "/status": ("/status", "/status?look=doctor"),
}  # fmt: skip
_LINK = re.compile(r'(?:href|action)="([^"]*)"')
REFUSALS = ("/nowhere", "/timeline?span=yesterday", "/sessions/none", "/record/fact/none")
# These lead to another page.
REDIRECTS = (
    "/open", "/record/{word}/{id:path}/place", "/sessions/{name}/msg", "/sessions/{name}/msg/{n}",
)  # fmt: skip


class Site(NamedTuple):
    """A server, and the ids of its records by their kinds."""

    server: Server
    ids: Mapping[str, str]

    def address(self, path: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: self.ids[found[1]], path)


def _write_masts(folder: Path) -> Path:
    """A session whose title says what is corrected later."""
    script = Script(MASTS, cwd="/home/ada/masts")
    script.start = datetime(2026, 11, 13, tzinfo=UTC)
    script.user("We decided to always paint the masts with red lead in the harbour.")
    script.assistant("Understood, the masts get red lead from now on.")
    return script.write(folder)


def _repository(folder: Path) -> Path:
    repo = folder / "rigging"
    repo.mkdir()
    (repo / "CLAUDE.md").write_text("# Paint\n\n- Never paint a mast in the rain.\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (
        ("init", "-q"),
        ("add", "."),
        (*who, "commit", "-qm", "Say how masts are painted"),
    ):
        subprocess.run(["git", *words], cwd=repo, check=True, env={**os.environ, "HOME": str(repo)})
    return repo


def _decide(memory: Holdfast) -> dict[str, str]:
    """Correct a decision and forget a memory; returns ids of records."""
    masts = next(one for one in memory.reader.sessions.latest(None, 50) if one.host == MASTS)
    fact = next(one for one in memory.browse.facts(masts.bank) if "red lead" in one.content)
    memory.correct(f"fact/{fact.id}", "We decided to varnish the masts.", who="ada")
    hidden = memory.remember("The old boathouse key hangs behind the door.", masts.bank)
    kept = memory.remember("The new boathouse key lies in the drawer.", masts.bank)
    memory.forget(f"memory/{hidden.id}", who="ada")
    reader = memory.reader
    repository = reader.git.repositories()[0]
    exchange = reader.sessions.exchanges(masts.bank, masts.id)[0]
    digest = reader.sessions.digest(masts.bank, masts.id)
    assert digest is not None
    return {
        "session": masts.id,
        "turn": reader.turns.of_session(masts.bank, masts.id, 1, 1)[0].id,
        "exchange": exchange.id,
        "digest": digest.id,
        "fact": memory.browse.facts(masts.bank)[0].id,
        "memory": kept.id,
        "hidden": hidden.id,
        "concept": memory.browse.concepts("tidewatch")[0].id,
        "commit": repository.head,
        "rule": reader.rules.all(repository.bank)[0].id,
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("every-page")
    more = folder / "written"
    more.mkdir()
    env = make_home(folder, SAMPLES, write_hostile_session(more), _write_masts(more), embed=False)
    repo = _repository(folder)
    assert run_command(["ingest", "--embed", "none", str(repo)], env, folder).returncode == 0
    with Holdfast(load_settings(env), create=False) as memory:
        tell_a_brief(memory, folder)
        ids = _decide(memory)
    with serving(env, folder) as made:
        yield Site(made, ids)


@pytest.fixture(scope="module")
def server(site: Site) -> Server:
    return site.server


def _routes() -> set[str]:
    routes = [route for router in pages.ROUTERS for route in router.routes]
    return {
        one.path for one in routes if isinstance(one, APIRoute) and "GET" in (one.methods or ())
    }


def test_every_route_of_a_page_has_an_example() -> None:
    assert _routes() == EXAMPLES.keys() | set(REDIRECTS)


def test_the_accessibility_check_finds_planted_faults(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/")
    page.evaluate(
        """() => {
          const bad = document.createElement("div");
          bad.id = "main";
          bad.append(document.createElement("button"), document.createElement("h4"));
          const text = document.createElement("p");
          text.textContent = "pale";
          text.style.color = getComputedStyle(document.body).backgroundColor;
          const field = document.createElement("input");
          const words = document.createElement("p");
          words.innerHTML = "A sentence that has a <a href='/'>link</a> in it.";
          words.firstElementChild.style.textDecoration = "none";
          bad.append(text, field, words);
          document.querySelector("main").append(bad);
        }"""
    )
    told = "\n".join(accessibility_problems(page))
    for what in (
        "id twice",
        "no name",
        "empty heading",
        "contrast 1.00",
        "no label",
        "by colour alone",
    ):
        assert what in told


@pytest.mark.parametrize("path", [path for paths in EXAMPLES.values() for path in paths])
def test_every_page_is_accessible_in_every_layout(
    site: Site, browser_session: BrowserSession, path: str
) -> None:
    assert accessibility_problems_in_every_layout(browser_session, site.address(path)) == []
    is_missing = path in ("/record/memory/{hidden}", "/entities?focus=nobody")
    assert all(is_missing and "404" in found for found in browser_session.problems)


@pytest.mark.parametrize("path", REFUSALS)
def test_every_refusal_is_accessible_in_every_layout(
    browser_session: BrowserSession, path: str
) -> None:
    assert accessibility_problems_in_every_layout(browser_session, path) == []


def test_addresses_call_banks_by_name(site: Site) -> None:
    ids = {
        one["id"]: one["name"] for one in json.loads(site.server.ask("/api/v1/banks").text)["banks"]
    }
    assert len(ids) == len({*ids.values()}) > 2
    for path in (path for paths in EXAMPLES.values() for path in paths):
        links = _LINK.findall(site.server.ask(site.address(path)).text)
        # A position on the timeline is no choice of a bank.
        named = [link for link in links if "/timeline?" not in link]
        assert [link for link in named if any(id in link for id in ids)] == [], path


def test_a_session_whose_title_was_corrected_is_called_by_its_day(
    site: Site, browser_session: BrowserSession
) -> None:
    called = "session of 2026-11-13"
    page = browser_session.open_page(f"/sessions/{MASTS}", scripts=False)
    expect(page.get_by_role("heading", level=1)).to_have_text(called)
    assert called in page.title()
    for path in ("/", "/sessions", "/banks/masts"):
        page.goto(path)
        row = page.locator(f'a[href="/sessions/{MASTS}"]').first
        expect(row).to_have_text(called)
        assert "red lead" not in page.inner_text("main")
    page.goto(site.address("/record/turn/{turn}"))
    expect(page.get_by_role("link", name=called).first).to_be_visible()
    assert MASTS not in page.locator("main li").all_inner_texts()
