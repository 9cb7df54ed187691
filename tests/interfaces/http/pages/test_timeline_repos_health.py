"""Timeline, repos and health, over the sample sessions and a small repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from holdfast.app.memory import open_memory
from holdfast.model.forge import Issue, Pull, Remark, RemarkKind, ThreadState
from holdfast.model.ledgers.model_calls import CallOutcome, ModelCall
from holdfast.model.query import Passage
from holdfast.model.trust import Trust
from holdfast.settings import load_settings
from tests.support.command_line import run_command
from tests.support.http.browser import (
    BrowserSession,
    accessibility_problems,
    accessibility_problems_in_opposite_layouts,
)
from tests.support.http.server import Server, make_home, serving

FILE = 'it\'s "quoted" <b>.py'
EVIL = "<script>alert(1)</script>"


def _git(folder: Path, *words: str, when: str = "2026-03-02T10:00:00Z") -> str:
    env = {**os.environ, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "HOME": str(folder)}
    who = ("-c", 'user.name=Ada "x" & co', "-c", "user.email=ada@example.org")
    run = subprocess.run(
        ["git", *who, *words], cwd=folder, env=env, capture_output=True, check=True
    )
    return run.stdout.decode().strip()


def _repository(folder: Path) -> Path:
    repo = folder / "harbour"
    repo.mkdir()
    _git(repo, "init", "-q", "-b", "main")
    (repo / FILE).write_text("tide = 1\n")
    _git(repo, "add", ".")
    _git(repo, "commit", "-qm", f"Count the tide {EVIL}")
    _git(repo, "tag", "v1")
    (repo / FILE).write_text("tide = 2\nclock = 'utc'\n")
    _git(repo, "commit", "-qam", "Count the tide twice (#12)\n\nWhy: **summer**.")
    _git(repo, "revert", "--no-edit", "HEAD", when="2026-03-03T10:00:00Z")
    _git(repo, "checkout", "-qb", "astray", "HEAD~1")
    (repo / "lost.txt").write_text("lost\n")
    _git(repo, "add", ".")
    _git(repo, "commit", "-qm", "Lose it", when="2026-03-04T10:00:00Z")
    _git(repo, "checkout", "-q", "main")
    for number in range(45):
        _git(repo, "commit", "-q", "--allow-empty", "-m", f"Step {number}")
    return repo


def _forge_and_costs(env: Mapping[str, str]) -> None:
    with open_memory(load_settings(dict(env))) as memory:
        bank = next(one.id for one in memory.reader.banks.all() if "harbour" in one.name)
        repo, when = "github.com/acme/harbour", "2026-03-02T09:00:00.000Z"
        pull = Pull(
            bank, "12@acme.harbour", 12, when, "ada", f"Twice {EVIL}", "It *must*.",
            ThreadState.MERGED, "https://github.com/acme/harbour/pull/12", Trust.TEAM, repo,
        )  # fmt: skip
        issue = Issue(bank, "7@acme.harbour", 7, when, "eve", "Tide is off", "By one.", repo=repo)
        remark = Remark(
            *(bank, "r1", "holdfast://pull/12@acme.harbour", RemarkKind.REVIEW, when, "eve"),
            *(f"[click](javascript:alert(1)) {EVIL}", "approved"),
        )
        call = ModelCall(
            bank, "c1", memory.now(), "", "digest", "claude", "haiku", 1200, 300, 0, 0.01, 90,
            1, CallOutcome.DONE,
        )  # fmt: skip
        store = memory.store
        with store.transaction():
            store.forge.put_thread(pull, Passage(bank, "pull", pull.id, "", when, pull.title))
            store.forge.put_thread(issue, Passage(bank, "issue", issue.id, "", when, issue.title))
            store.forge.put_remark(remark, None)
            store.model_calls.reserve(call)
            store.model_calls.record_result(call)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _repository(tmp_path_factory.mktemp("history"))


@pytest.fixture(scope="module")
def server(repo: Path) -> Iterator[Server]:
    folder = repo.parent
    env = make_home(folder)
    assert run_command(["ingest", "--embed", "none", str(repo)], env, folder).returncode == 0
    _forge_and_costs(env)
    with serving(env, folder) as made:
        yield made


def test_the_commit_history_is_paged_and_filtered(
    browser_session: BrowserSession, repo: Path
) -> None:
    page = browser_session.open_page("/repos")
    assert page.get_by_role("link", name="Step 44", exact=True).count() == 1
    page.get_by_role("link", name="Earlier →").click()
    page.wait_for_url("**page=2*")
    assert page.get_by_text("not in HEAD", exact=True).count() == 0
    page.get_by_label("Commits that touch").fill("lost.txt")
    page.keyboard.press("Enter")
    page.wait_for_url("**path=lost.txt*")
    found = page.locator("section", has=page.get_by_role("heading", name="Commits")).first
    assert found.locator("li").count() == 1 and "not in HEAD" in found.inner_text()
    found.get_by_role("link", name="Lose it").click()
    page.wait_for_url("**commit=*")
    assert "HEAD does not contain this commit" in page.locator("main").inner_text()
    assert browser_session.problems == [] and accessibility_problems(page) == []


def test_a_commit_is_shown_completely(browser_session: BrowserSession, repo: Path) -> None:
    sha = _git(repo, "log", "--format=%H", "--grep=^Count the tide twice", "main").split()[-1]
    page = browser_session.open_page(f"/repos?commit={sha[:12]}")
    told = page.locator("main").inner_text()
    assert sha in told and FILE in told and 'Ada "x" & co' in told
    assert "Reverted by" in told and "pull #12" in told and "summer" in told
    assert page.locator(".diff .added").count() >= 1
    assert page.locator(".diff .removed").count() >= 1
    assert accessibility_problems(page) == [] and browser_session.problems == []
    page.get_by_role("link", name="pull #12").click()
    page.wait_for_url("**/record/pull/12*")
    assert EVIL in page.locator("h1").inner_text()
    words = page.locator("main").inner_text()
    assert "from outside" in words and "approved" in words
    assert page.locator("a[href^=javascript]").count() == 0
    assert accessibility_problems(page) == [] and browser_session.problems == []
    assert "Tide is off" in browser_session.open_page("/repos?issue=7").locator("h1").inner_text()


def test_an_unknown_repository_or_commit_is_reported(server: Server) -> None:
    for path in ("/repos?commit=ffffffffff", "/repos?pull=99", "/repos?issue=1", "/repos?bank=no"):
        assert server.ask(path).status == 404, path
    for number in ("9223372036854775808", "99999999999999999999", "9" * 5000, "%C2%B2"):
        for kind in ("pull", "issue"):
            assert server.ask(f"/repos?{kind}={number}").status == 404, (kind, number)
    assert "No commits match" in server.ask("/repos?author=nobody%25").text
    for path in ("/timeline?span=2026-13", "/timeline?span=2026-02-30", "/timeline?after=x"):
        assert server.ask(path).status == 400, path
    as_page = {"Authorization": f"Bearer {server.token}", "Accept": "text/html"}
    got = server.ask("/repos?page=0", as_page)
    assert got.status == 422 and "page should be greater than or equal to 1." in got.text
    assert "openapi" not in got.text
    assert "<script>alert" not in server.ask("/repos").text


def test_links_zoom_into_the_timeline(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/timeline?bank=harbour")
    assert page.locator(".events li").count() == 50
    page.locator("svg.lanes a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**span=2026-03")
    page.locator("svg.lanes a[aria-label^='2 Mar 2026']").click()
    page.wait_for_url("**span=2026-03-02")
    assert page.locator("nav[aria-label=Span]").inner_text().split("\n")[0].startswith("All time")
    times = [one.get_attribute("datetime") or "" for one in page.locator(".events time").all()]
    assert times and times == sorted(times) and all(time.startswith("2026-03-02") for time in times)
    assert {"commit", "pull", "issue"} & set(page.locator(".events .kind").all_inner_texts())
    page.get_by_role("link", name=re.compile("3 Mar 2026")).click()
    page.wait_for_url("**span=2026-03-03")
    assert page.locator(".events li").count() == 1
    assert browser_session.problems == [] and accessibility_problems(page) == []


def test_every_event_is_on_exactly_one_page(
    browser_session: BrowserSession, server: Server
) -> None:
    seen: list[str] = []
    path = "/timeline?bank=harbour"
    while path:
        text = server.ask(path).text
        seen += re.findall(r"at=(holdfast[^&#\"]+)#anchor", text)
        more = re.search(r'href="([^"]*before=[^"]*)"', text)
        path = more.group(1).replace("&amp;", "&") if more else ""
    assert len(seen) == len(set(seen)) == 51


@pytest.mark.slow
def test_the_timeline_can_be_centred_on_a_record_or_a_query(
    browser_session: BrowserSession, repo: Path
) -> None:
    sha = _git(repo, "rev-list", "--max-parents=0", "main")
    page = browser_session.open_page(f"/timeline?at=holdfast://commit/{sha}&bank=harbour")
    assert "Count the tide" in page.locator(".events .anchor").inner_text()
    assert page.locator("svg.lanes .mark").count() == 1
    page.get_by_label("Around records about").fill("Lose it")
    page.get_by_label("Around", exact=True).fill("")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=Lose*")
    assert "Lose it" in page.locator(".events .anchor").inner_text()
    assert (
        accessibility_problems_in_opposite_layouts(
            browser_session, "/timeline?span=2026-03&kind=commit"
        )
        == []
    )
    page = browser_session.open_page("/timeline?span=1999")
    assert "No results" in page.locator("main").inner_text()


def test_the_health_page_shows_the_same_as_status(
    browser_session: BrowserSession, server: Server
) -> None:
    told = json.loads(run_command(["status", "--json"], server.env).stdout)
    page = browser_session.open_page("/status")
    words = page.locator("main").inner_text()
    assert "every line is accounted for" in words and told["capture"]["sentence"] in words
    for count in (told["ledger"]["captured"], told["ledger"]["lines"], told["turns"]):
        assert f"{count:,}" in words
    costs = page.locator("section", has=page.get_by_role("heading", name="Costs"))
    assert "1,200" in costs.locator("tbody").inner_text()
    assert accessibility_problems(page) == []
    page.get_by_role("link", name="Run checks").click()
    page.wait_for_url("**look=doctor*")
    assert page.locator(".checks li").count() > 5
    assert browser_session.problems == []
