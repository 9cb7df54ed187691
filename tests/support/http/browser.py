"""Pages opened in a real browser, and checks of their accessibility."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from tests.support.http.server import Server
from tests.support.waiting import TIMEOUT_S

WIDE = (1280, 800)
PHONE = (360, 740)
_ACCESSIBLE = (Path(__file__).parent / "accessible.js").read_text()
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_TIMEOUT_MS = TIMEOUT_S * 1000
_OPTIONS = ("--no-sandbox", "--disable-background-networking", "--disable-gpu")


@contextmanager
def open_browser() -> Generator[Browser]:
    """Start the installed Chromium; a test is skipped with a reason where there is none."""
    program = next((found for name in _NAMES if (found := which(name))), None)
    if program is None:
        pytest.skip("needs Chromium: apt install chromium")
    expect.set_options(timeout=_TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_OPTIONS])
        yield browser
        browser.close()


class BrowserSession:
    """A signed-in browser that opens any number of pages.

    Requests to other addresses and errors of a page are collected in `problems`.
    """

    def __init__(self, browser: Browser, server: Server) -> None:
        self.server = server
        self.problems: list[str] = []
        self._browser = browser
        self._open: list[BrowserContext] = []
        entering = browser.new_context()
        entering.new_page().goto(server.enter)
        self._state = entering.storage_state()
        assert self._state.get("cookies"), "the sign-in link set no cookie"
        entering.close()

    def open_page(
        self, path: str = "/", *, dark: bool = False, phone: bool = False, scripts: bool = True
    ) -> Page:
        """Open a path of the server in a new browser context."""
        width, height = PHONE if phone else WIDE
        context = self._browser.new_context(
            storage_state=self._state,
            base_url=self.server.url,
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
        )
        context.set_default_timeout(_TIMEOUT_MS)
        self._open.append(context)
        page = context.new_page()
        page.on("console", lambda told: self._note(told.type == "error", told.text))
        page.on("pageerror", lambda error: self._note(True, str(error)))
        page.on("dialog", lambda dialog: self._note(True, f"dialog: {dialog.message}"))
        page.on("request", lambda asked: self._note(not self._ours(asked.url), asked.url))
        page.goto(path)
        return page

    def close(self) -> None:
        """Close every page and forget the problems."""
        while self._open:
            self._open.pop().close()
        self.problems.clear()

    def _ours(self, url: str) -> bool:
        return url.startswith((self.server.url + "/", "data:", "about:", "blob:"))

    def _note(self, is_problem: bool, what: str) -> None:
        if is_problem:
            self.problems.append(what)


def accessibility_problems(page: Page) -> list[str]:
    """Return the accessibility problems of a page; see accessible.js."""
    found: list[str] = page.evaluate(_ACCESSIBLE)
    return found


def accessibility_problems_in_every_layout(browser_session: BrowserSession, path: str) -> list[str]:
    """Return the problems of a path in light and dark mode, on a wide and a narrow screen."""
    told: list[str] = []
    for dark in (False, True):
        for phone in (False, True):
            page = browser_session.open_page(path, dark=dark, phone=phone)
            mark = f"{'dark' if dark else 'light'} {'phone' if phone else 'wide'}"
            told += [f"{mark}: {what}" for what in accessibility_problems(page)]
            page.context.close()
    return told


def take_screenshot(page: Page, target: Path, whole: bool = False) -> Path:
    """Save a screenshot of a page; return its path."""
    try:
        page.screenshot(path=target, full_page=whole, animations="disabled")
    except Error as error:
        raise AssertionError(f"no picture of {page.url}: {error}") from error
    return target
