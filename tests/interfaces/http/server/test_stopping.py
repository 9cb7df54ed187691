from __future__ import annotations

import json
from collections.abc import Iterator
from threading import Event

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.http.browser import BrowserSession
from tests.support.http.server import Server, make_home, serving
from tests.support.permitted_model_service import Service, completion
from tests.support.permitted_model_service import serving as answering

WHY = "Why SQLite and not Postgres?"
NEXT = "What was the root cause of the duplicate alerts?"


@pytest.fixture(scope="module")
def free() -> Event:
    return Event()


@pytest.fixture(scope="module")
def service(free: Event) -> Iterator[Service]:
    """A model that takes its time."""

    def slow() -> tuple[int, dict[str, object]]:
        free.wait(60)
        return 200, completion()

    with answering() as made:
        made.answer = slow
        yield made
        free.set()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, service: Service) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("stop")
    env = {**make_home(folder), "NO_PROXY": "*"}
    (folder / "home" / "config.toml").write_text(
        f'[models]\nuse = "openai"\nendpoint = "{service.url}"\nagent = "small"\n'
        'summaries = "none"\nextraction = "none"\nreflection = "none"\n'
    )
    with serving(env, folder) as made:
        yield made


@pytest.fixture
def browser_session(
    browser: Browser, signed_in_browser: BrowserSession
) -> Iterator[BrowserSession]:
    yield signed_in_browser
    signed_in_browser.close()


def _ask(page: Page, question: str) -> None:
    page.locator("main input[name=q]").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("Searching…")).to_be_visible()


def _stop(page: Page) -> None:
    page.get_by_role("button", name="Stop").focus()
    page.keyboard.press("Enter")


@pytest.mark.slow
def test_a_question_can_be_stopped_while_a_model_answers_it(
    browser_session: BrowserSession, free: Event
) -> None:
    first, second = (browser_session.open_page("/", scripts=on) for on in (True, False))
    for page, question in ((first, WHY), (second, NEXT)):
        _ask(page, question)
        expect(page.get_by_role("heading", level=1)).to_have_text(question)
        expect(page.locator("#steps li").first).to_be_visible()
    found = json.loads(browser_session.server.ask("/api/v1/recall?query=SQLite").text)
    assert found["hits"], "who only recalls does not wait behind a model"
    name = second.url.partition("/research/")[2].partition("?")[0].partition("#")[0]
    told = json.loads(browser_session.server.ask(f"/api/v1/research/{name}").text)
    assert (told["state"], told["questions"]) == ("running", [NEXT])
    _stop(first)
    _stop(second)
    expect(first.get_by_text("Cancelled.")).to_be_visible()
    expect(second.get_by_text("Cancelled.")).to_be_visible()
    told = json.loads(browser_session.server.ask(f"/api/v1/research/{name}").text)
    assert told["state"] == "cancelled" and told["lines"][-1]["stage"] == "cancelled"
    free.set()
    page = browser_session.open_page("/")
    page.keyboard.type(WHY)
    page.keyboard.press("Enter")
    expect(page.locator(".said")).to_contain_text("We chose SQLite over Postgres")
    assert browser_session.problems == []
