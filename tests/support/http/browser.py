"""Pages opened in a real browser, and checks of their accessibility."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from tests.support.http.server import Server
from tests.support.waiting import TIMEOUT_S

WIDE = (1280, 800)
PHONE = (360, 740)
# Whether it is dark, and on a phone. Each differs from the one before in one thing alone.
_LAYOUTS = ((False, False), (False, True), (True, True), (True, False))
_FOCUSED = "() => !document.querySelector('[autofocus]') || document.activeElement.autofocus"
_ACCESSIBLE = (Path(__file__).parent / "accessible.js").read_text()
_LAYOUT_AND_PROBLEMS = f"""() => [
  [matchMedia("(prefers-color-scheme: dark)").matches, innerWidth],
  ({_ACCESSIBLE.rstrip()})(),
]"""
# The first has no window to draw: a page takes half the processor time of that of the others.
_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)
_TIMEOUT_MS = TIMEOUT_S * 1000
_OPTIONS = ("--no-sandbox", "--disable-background-networking", "--disable-gpu")


@contextmanager
def open_browser() -> Generator[Browser]:
    """Start the installed Chromium; a test is skipped with a reason where there is none."""
    program = next((found for name in _NAMES if (found := which(name))), None)
    if program is None:
        pytest.skip("needs Chromium: apt install chromium-headless-shell")
    expect.set_options(timeout=_TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_OPTIONS])
        yield browser
        browser.close()


class BrowserSession:
    """A signed-in browser that opens any number of pages.

    A window takes Chromium half a second of processor time, so those of one test are used again by
    the next. Requests to other addresses and errors of a page are collected in `problems`.
    """

    def __init__(self, browser: Browser, server: Server) -> None:
        self.server = server
        self.problems: list[str] = []
        self._browser = browser
        self._contexts: dict[bool, BrowserContext] = {}
        self._shut: dict[bool, list[Page]] = {True: [], False: []}
        self._open: list[tuple[bool, Page]] = []
        page = self._window(True)
        page.goto(server.enter)
        self._shut[True].append(page)
        self._state = page.context.storage_state()
        assert self._state.get("cookies"), "the sign-in link set no cookie"

    def open_page(
        self, path: str = "/", *, dark: bool = False, phone: bool = False, scripts: bool = True
    ) -> Page:
        """Open a path of the server in a window that no other page of this test has."""
        shut = self._shut[scripts]
        page = shut.pop() if shut else self._window(scripts)
        self._open.append((scripts, page))
        set_layout(page, dark=dark, phone=phone)
        page.mouse.move(0, 0)  # what the last test pointed at is not under the pointer
        if "#" in path:
            page.goto("about:blank")  # an address that differs only behind # is not loaded again
        page.goto(path)
        return page

    def shut(self, page: Page) -> None:
        """Shut one page; its window may show another."""
        scripts = next(scripts for scripts, one in self._open if one is page)
        self._open.remove((scripts, page))
        if not page.is_closed():
            self._shut[scripts].append(page)

    def close(self) -> None:
        """Shut every page and forget the problems."""
        for _, page in self._open[:]:
            self.shut(page)
        self.problems.clear()

    def end(self) -> None:
        """Shut the windows for good."""
        for context in self._contexts.values():
            context.close()

    def _window(self, scripts: bool) -> Page:
        if scripts not in self._contexts:
            self._contexts[scripts] = self._browser.new_context(
                storage_state=self._state if self._contexts else None,
                base_url=self.server.site,
                java_script_enabled=scripts,
            )
            self._contexts[scripts].set_default_timeout(_TIMEOUT_MS)
        page = self._contexts[scripts].new_page()
        page.on("console", lambda told: self._note(told.type == "error", told.text))
        page.on("pageerror", lambda error: self._note(True, str(error)))
        page.on("dialog", lambda dialog: self._note(True, f"dialog: {dialog.message}"))
        page.on("request", lambda asked: self._note(not self._ours(asked.url), asked.url))
        return page

    def _ours(self, url: str) -> bool:
        return url.startswith((self.server.site + "/", "data:", "about:", "blob:"))

    def _note(self, is_problem: bool, what: str) -> None:
        if is_problem:
            self.problems.append(what)


def set_layout(page: Page, *, dark: bool = False, phone: bool = False) -> None:
    """Show a page in light or dark mode, on a wide or a narrow screen."""
    width, height = PHONE if phone else WIDE
    page.emulate_media(color_scheme="dark" if dark else "light")
    if page.viewport_size != {"width": width, "height": height}:
        page.set_viewport_size({"width": width, "height": height})


def wait_for_focus(page: Page) -> None:
    """Wait until the field that a page begins in has the focus, which it gets after it is loaded;
    keys that are pressed before go elsewhere."""
    page.wait_for_function(_FOCUSED)


def accessibility_problems(page: Page) -> list[str]:
    """Return the accessibility problems of a page; see accessible.js."""
    found: list[str] = page.evaluate(_ACCESSIBLE)
    return found


def accessibility_problems_in_every_layout(browser_session: BrowserSession, path: str) -> list[str]:
    """Return the problems of a path in light and dark mode, on a wide and a narrow screen."""
    return _problems_in(browser_session, path, _LAYOUTS)


def accessibility_problems_in_opposite_layouts(
    browser_session: BrowserSession, path: str
) -> list[str]:
    """Return the problems of a path in light mode on a wide screen and in dark mode on a narrow
    one. Colors hardly depend on the width, see tests/interfaces/ui/test_style_sheet.py; what does,
    or is shown on one screen alone, test_every_page.py checks in every layout."""
    return _problems_in(browser_session, path, _LAYOUTS[::2])


def _problems_in(
    browser_session: BrowserSession, path: str, layouts: Sequence[tuple[bool, bool]]
) -> list[str]:
    """Load a page once: what differs is in its style sheet alone."""
    told: list[str] = []
    page = browser_session.open_page(path)
    for dark, phone in layouts:
        set_layout(page, dark=dark, phone=phone)
        size, problems = page.evaluate(_LAYOUT_AND_PROBLEMS)
        assert size == [dark, (PHONE if phone else WIDE)[0]], f"the page is laid out as {size}"
        mark = f"{'dark' if dark else 'light'} {'phone' if phone else 'wide'}"
        told += [f"{mark}: {what}" for what in problems]
    browser_session.shut(page)
    return told


def take_screenshot(page: Page, target: Path, whole: bool = False) -> Path:
    """Save a screenshot of a page; return its path."""
    try:
        page.screenshot(path=target, full_page=whole, animations="disabled")
    except Error as error:
        raise AssertionError(f"no picture of {page.url}: {error}") from error
    return target
