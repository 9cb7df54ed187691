from __future__ import annotations

from holdfast.interfaces.ui.render import PLACES
from tests.support.http.browser import (
    BrowserSession,
    accessibility_problems,
    wait_for_focus,
)


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


def test_every_page_is_reachable_by_its_shortcut_key(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/nowhere")
    for address, _, key in PLACES:
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(browser_session.server.site + address)
        wait_for_focus(page)
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
