"""Takes the pictures of the pages: `python tools/screenshots.py` writes docs/images/*.webp.

The pages are those of `holdfast browse` over the sample sessions, in a home of their own; the
browser is the installed Chromium. Every picture is taken in light and in dark. Run it after a
change of the pages, and look at the result: pictures are not compared by a test.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SESSION = "6f25250f-82d7-541e-8901-c5f7a443a4a8"
QUALITY = 60
_OPTIONS = ("--no-sandbox", "--disable-background-networking", "--disable-gpu")
_BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)


class Picture(NamedTuple):
    """A page, and the size of the window that it is shown in."""

    name: str
    path: str
    width: int = 1180
    height: int = 720


PICTURES = (
    Picture("home", "/"),
    Picture("ask", "/?q=Do+we+still+cache+API+responses+in+Redis%3F"),
    Picture("search", "/search?q=duplicate+alerts"),
    Picture("search-phone", "/search?q=duplicate+alerts", 360, 700),
    Picture("session", f"/sessions/{SESSION}"),
    Picture("memory", "/memory?tab=memories"),
    Picture("timeline", "/timeline"),
    Picture("brief", "/brief"),
    Picture("health", "/status"),
)


@contextmanager
def sample_pages() -> Generator[str]:
    """The pages over the sample sessions; gives the link that signs a browser in."""
    with tempfile.TemporaryDirectory(prefix="holdfast-pictures-") as home:
        env = {name: value for name, value in os.environ.items() if "HOLDFAST" not in name}
        env |= {"HOME": home, "HOLDFAST_HOME": f"{home}/.holdfast", "CLAUDE_CONFIG_DIR": home}
        command = [sys.executable, "-m", "holdfast"]
        read = [*command, "ingest", "examples/sessions"]
        subprocess.run(read, check=True, cwd=ROOT, env=env, stdout=subprocess.DEVNULL)
        serve = [*command, "browse", "--no-open", "--port", "0", "--json"]
        with subprocess.Popen(
            serve, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            try:
                printed = ""
                while not printed.endswith("}\n"):
                    printed += server.stdout.readline()
                yield json.loads(printed)["enter"]
            finally:
                server.terminate()


def take(page: Page, picture: Picture, dark: bool) -> Path:
    """Take one picture; returns its file. Playwright itself writes no WebP, Chromium does."""
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    page.set_viewport_size({"width": picture.width, "height": picture.height})
    page.goto(picture.path)
    page.wait_for_load_state("load")
    if "?q=" in picture.path and picture.name == "ask":
        page.wait_for_selector("text=confidence", state="attached")
    # Playwright does not say what a command of Chromium returns.
    chrome: Any = page.context.new_cdp_session(page)
    shot = chrome.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    file = IMAGES / f"{picture.name}-{'dark' if dark else 'light'}.webp"
    file.write_bytes(base64.b64decode(shot["data"]))
    return file


def take_all() -> None:
    """Take every picture, light and dark."""
    program = next((found for name in _BROWSERS if (found := which(name))), None)
    if program is None:
        sys.exit("Chromium is needed: apt install chromium-headless-shell")
    with sample_pages() as enter, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_OPTIONS])
        site = enter.partition("/enter")[0]
        page = browser.new_context(base_url=site).new_page()
        page.goto(enter)
        for picture in PICTURES:
            for dark in (False, True):
                file = take(page, picture, dark)
                sys.stdout.write(f"{file.relative_to(ROOT)}  {file.stat().st_size // 1024} KB\n")
        browser.close()


if __name__ == "__main__":
    take_all()
