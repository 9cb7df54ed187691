from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.auth.permissions import FORMS
from holdfast.model.curation import Action
from holdfast.model.knowledge import ReviewState
from holdfast.model.trust import Trust
from holdfast.settings import load_settings
from tests.refine.rules.test_rules import git, project, put
from tests.support.http.browser import BrowserSession
from tests.support.http.forms import PageClient, open_server_memory
from tests.support.http.server import Server, empty_home, serving
from tests.support.transcripts import Script

RULES = ".claude/rules"
TRICK = "<script>document.title='run'</script> <b>x</b> [go](javascript:alert(1))"
SAID = (
    "Please always use table-driven tests for the parser.",
    "We use table-driven tests for the parser, so rewrite these.",
    "Use table-driven tests in the parser, as I said.",
)
WRONG = (
    ("Always deploy the storefront from the release branch.", "storefront release branch"),
    ("Always sign the invoices with the finance key.", "invoices finance key"),
    ("Always warm the search cache before a launch.", "search cache launch"),
)
TAUGHT = {
    "naming": "Name every fixture after what it stands for.",
    "logging": "Log one line for each request, and no more.",
    "release": "Tag a release only from the main branch.",
    "style": TRICK,
}
TOKEN = "ghp_" + "Zx81" * 9


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("review"))


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    """A memory in which something of every kind waits."""
    folder = root.parent
    env = empty_home(folder)
    with Holdfast(load_settings(env)) as memory:
        fill(memory, root)
    with serving(env, folder) as made:
        yield made


def fill(memory: Holdfast, root: Path) -> None:
    """Something of every kind that waits for a person."""
    words = [(n + 1, said) for n, said in enumerate(SAID)]
    for n, (rule, about) in enumerate(WRONG):
        words += [(5 + n, rule), (15 + n, f"The rule about the {about} is outdated.")]
    words.append((25, f"The deploy token is {TOKEN} for now."))
    paths = [_session(root, day, said) for day, said in words]
    memory.ingest(memory.ingestion.find(paths))
    put(root, "src/yawl.py", "a = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Add the yawl")
    memory.ingestion.ingest_git(root)
    bank = memory.banks.all()[0].id
    memory.retain("The yawl is painted blue.", where="src/yawl.py", bank=bank)
    memory.rules.sync_all()
    for domain, text in TAUGHT.items():
        memory.rules.suggest(domain, text, bank=bank)
    for text in ("The crane is out of order.", "The gate sticks.", TRICK):
        memory.remember(text, bank, who="agent (<i>x</i>)", trust=Trust.ASSISTANT)
    (root / "src" / "yawl.py").unlink()


def _session(root: Path, day: int, words: str) -> Path:
    script = Script(f"{day:08}-0000-4000-8000-000000000001", cwd=str(root))
    script.start = script.start.replace(day=day)
    script.user(words)
    script.assistant("Done, and everything passes.")
    return script.write(root.parent / "claude" / "projects")


@pytest.fixture
def browser_session(
    browser: Browser, signed_in_browser: BrowserSession
) -> Iterator[BrowserSession]:
    yield signed_in_browser
    signed_in_browser.close()


def test_a_rule_is_shown_as_a_change_edited_and_written(
    browser_session: BrowserSession, root: Path
) -> None:
    page = browser_session.open_page("/review?tab=rules", scripts=False)
    expect(page.locator(".added").last).to_contain_text("table-driven tests")
    page.get_by_text("Edit", exact=True).click()
    page.get_by_label("New text").fill("Parser tests are tables.")
    page.get_by_role("button", name="Show the change").click()
    expect(page.locator(".added").last).to_contain_text("Parser tests are tables.")
    assert not (root / RULES / "testing.md").exists()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("Written")
    assert "Parser tests are tables." in (root / RULES / "testing.md").read_text()
    expect(page.get_by_text("No proposed rules.")).to_be_visible()


def test_a_file_changed_meanwhile_is_shown_again_before_it_is_written(
    browser_session: BrowserSession, root: Path
) -> None:
    page = browser_session.open_page("/review?tab=agents", dark=True, phone=True)
    put(root, f"{RULES}/naming.md", "# Naming\n\n- Be brief.\n")
    card = page.locator("li.ruling", has_text="Name every fixture")
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert (root / RULES / "naming.md").read_text() == "# Naming\n\n- Be brief.\n"
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("Written")
    assert TAUGHT["naming"] in (root / RULES / "naming.md").read_text()


def test_a_file_that_cannot_be_written_is_reported_and_not_changed(
    browser_session: BrowserSession, root: Path
) -> None:
    file = put(root, f"{RULES}/logging.md", "# Logging\n")
    file.chmod(0o444)
    page = browser_session.open_page("/review?tab=agents")
    card = page.locator("li.ruling", has_text="Log one line")
    card.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("read-only")
    assert file.read_text() == "# Logging\n"
    assert "Log one line" in PageClient(browser_session.server).get("/review?tab=agents").text


def test_a_rejected_rule_is_remembered_and_not_proposed_again(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/review?tab=agents")
    card = page.locator("li.ruling", has_text="Tag a release")
    card.get_by_text("Reject", exact=True).click()
    card.get_by_label("Reason").fill("we tag from anywhere")
    card.get_by_role("button", name="Reject permanently").click()
    expect(page.get_by_role("status")).to_contain_text("Rejected")
    expect(page.locator("li.ruling", has_text="Tag a release")).to_have_count(0)
    page.get_by_text("Rejected, and not proposed again").click()
    expect(page.get_by_text("we tag from anywhere")).to_be_visible()
    with open_server_memory(browser_session.server) as memory:
        bank = memory.banks.all()[0].id
        learned = memory.rules.suggest("release", TAUGHT["release"], bank=bank)
        assert "we tag from anywhere" in learned.refused


def test_a_disputed_fact_can_be_kept_retired_or_corrected(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/review?tab=facts")
    for words, button, note in (
        ("storefront", "Keep", "Kept"),
        ("invoices", "Retire", "Retired"),
    ):
        card = page.locator("li.ruling", has_text=words)
        card.get_by_role("button", name=button).click()
        expect(page.get_by_role("status")).to_contain_text(note)
    card = page.locator("li.ruling", has_text="search cache")
    card.locator("summary", has_text="Correct").click()
    card.get_by_label("New text").fill("Warm the search cache an hour before a launch.")
    card.get_by_role("button", name="Correct and keep").click()
    expect(page.get_by_role("status")).to_contain_text("Corrected")
    expect(page.locator("li.ruling")).to_have_count(0)
    with open_server_memory(browser_session.server) as memory:
        decided = memory.browse.reviews("all", all=True)
        states = sorted(review.state for review in decided)
        assert states == [ReviewState.KEPT, ReviewState.KEPT, ReviewState.RETIRED]
        facts = [fact.content for fact in memory.browse.facts("all")]
        assert "Warm the search cache an hour before a launch." in facts
        assert not any("invoices" in fact for fact in facts)


def test_memories_of_agents_are_approved_in_a_persons_name_or_forgotten(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/review?tab=agents")
    crane = page.locator("li.ruling", has_text="The crane is out of order.")
    crane.get_by_text("Edit", exact=True).click()
    crane.get_by_label("New text").fill("The crane works again.")
    crane.get_by_role("button", name="Keep this text").click()
    expect(page.get_by_role("status")).to_contain_text("Kept in your name")
    gate = page.locator("li.ruling", has_text="The gate sticks.")
    gate.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("status")).to_contain_text("Forgotten")
    with open_server_memory(browser_session.server) as memory:
        bank = memory.banks.all()[0].id
        kept = {m.what: m.trust for m in memory.reader.memories.remembered(bank)}
        assert kept["The crane works again."] is Trust.USER
        assert "The crane is out of order." not in kept and "The gate sticks." not in kept
        actions = [entry.action for entry in memory.reader.curation.log(bank)]
        assert Action.MERGE in actions and Action.FORGET in actions


def test_secrets_are_counted_by_kind_and_never_shown(server: Server) -> None:
    text = PageClient(server).get("/review?tab=secrets").text
    assert "1 × " in text and ".jsonl" in text
    assert TOKEN not in text


def test_records_about_deleted_code_are_listed(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/review?tab=stale", dark=True)
    yawl = page.locator("li", has_text="The yawl is painted blue.")
    expect(yawl).to_contain_text("src/yawl.py is gone")
    yawl.get_by_role("button", name="Still holds").click()
    expect(page.get_by_role("status")).to_contain_text("Confirmed.")
    expect(yawl).to_have_count(0)
    with open_server_memory(browser_session.server) as memory:
        hit = memory.recall("yawl painted blue", "all").hits[0]
        assert hit.freshness not in ("gone", "changed")
    page.goto(f"/open?uri={hit.uri}")
    expect(page.locator("dl.facts")).to_contain_text("Confirmed")
    expect(page.get_by_role("button", name="Still holds")).to_have_count(0)
    with open_server_memory(browser_session.server) as memory:
        memory.undo()
    page.reload()
    expect(page.get_by_role("button", name="Still holds")).to_be_visible()
    page.goto("/review?tab=stale")
    yawl.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("status")).to_contain_text("Forgotten")
    assert "/review?tab=stale" in page.url


def test_a_form_without_its_key_changes_nothing(server: Server) -> None:
    client = PageClient(server)
    for name in (one.replace(" ", "_") for one in FORMS):
        given = {"id": "00ff", "ids": "00ff", "text": "my", "keep": "true", "verdict": "useful"}
        assert client.post(f"/do/{name}", given, key="").status == 400, name
        if name not in ("retain", "undo", "bank_set"):
            assert client.post(f"/do/{name}", given).status in (400, 404), name
