"""The documentation site: every page is on it, every link leads somewhere, nothing is loaded from
another address, and its search works from a folder."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, Request
from tools import diagrams, terminal_recording
from tools.build_site import ROOT, Staging, places, read_sections

from tests.support.http.browser import open_browser

_IMAGES = ROOT / "docs" / "images"
_PAGES_OF_DOCS = sorted(path for path in ROOT.glob("docs/*.md"))
_LOADED = {"script": "src", "link": "href", "img": "src", "source": "srcset", "iframe": "src"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. Its warnings are errors, so a link to a missing heading fails here."""
    target = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, str(ROOT / "tools" / "build_site.py"), str(target)]
    built = subprocess.run(command, check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    return target


class _Parsed(HTMLParser):
    """The links, the loaded files and the ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in _LOADED and found.get(_LOADED[tag]):
            self.loaded.append(found[_LOADED[tag]])


@cache
def parsed(page: Path) -> _Parsed:
    return _Parsed(page.read_text("utf-8"))


def test_every_page_of_the_documents_is_on_the_site_once() -> None:
    listed = [page for section in read_sections() for page in section.pages]
    assert len(listed) == len(set(listed))
    assert [
        str(p.relative_to(ROOT)) for p in _PAGES_OF_DOCS if str(p.relative_to(ROOT)) not in listed
    ] == []
    titles = [section.title for section in read_sections()]
    assert titles == ["Start", "Guides", "Reference", "Understand", "Develop"]


def test_no_two_pages_have_the_same_place() -> None:
    found = places()
    assert len(set(found.values())) == len(found) > 80


@pytest.mark.slow
def test_every_link_of_the_built_site_leads_to_a_page_and_a_heading(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 80
    wrong: list[str] = []
    for page in pages:
        for link in parsed(page).links:
            if not link.startswith(("http://", "https://", "mailto:")):
                wrong += [f"{page.relative_to(site)}: {link}"] if not _leads(page, link) else []
    assert wrong == []


def _leads(page: Path, link: str) -> bool:
    name, _, heading = unquote(link).partition("#")
    there = (page.parent / name.partition("?")[0]).resolve() if name else page
    if not there.is_file():
        return False
    return not heading or there.suffix != ".html" or heading in parsed(there).ids


@pytest.mark.slow
def test_no_built_page_or_style_loads_a_file_from_another_address(site: Path) -> None:
    outside = [
        (page.name, loaded)
        for page in site.rglob("*.html")
        for loaded in parsed(page).loaded
        if "//" in loaded.removeprefix("data:")
    ]
    styles = [
        (style.name, found)
        for style in site.rglob("*.css")
        for found in re.findall(r"(?:url\(|@import )[\"']?(https?:)?//", style.read_text("utf-8"))
    ]
    assert outside == [] and styles == []


@pytest.mark.slow
def test_the_site_is_searched_from_a_folder_and_asks_no_other_address(site: Path) -> None:
    with open_browser() as browser:
        page = browser.new_context(viewport={"width": 375, "height": 800}).new_page()
        left: list[str] = []
        page.on("request", lambda request: left.extend(_outside(request)))
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        for place in ("index.html", "start/first-hour.html", "reference/cli.html"):
            page.goto((site / place).as_uri())
            assert _fits(page), place
        page.goto((site / "search.html").as_uri() + "?q=redaction")
        page.wait_for_selector("#search-results li a")
        assert page.locator("#search-results li", has_text="Privacy").count() > 0
        assert left == [] and errors == []


def _outside(request: Request) -> Iterator[str]:
    if not request.url.startswith(("file:", "data:")):
        yield request.url


def _fits(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", diagrams.DIAGRAMS)
def test_a_diagram_is_the_one_that_its_script_draws_and_a_page_shows_it(name: str) -> None:
    file = _IMAGES / f"diagram-{name}.svg"
    assert file.read_text("utf-8") == diagrams.draw(diagrams.DIAGRAMS[name]), "run `make docs`"
    assert any(file.name in page.read_text("utf-8") for page in _PAGES_OF_DOCS)


@pytest.mark.parametrize("name", diagrams.DIAGRAMS)
def test_the_boxes_of_a_diagram_do_not_overlap_and_hold_their_words(name: str) -> None:
    boxes = diagrams.DIAGRAMS[name].boxes
    for number, box in enumerate(boxes):
        # An average letter of the title has about 8 pixels, of the note 6.
        assert max(len(box.title) * 7.9, len(box.note) * 6.1) <= box.right - box.left, box
        for other in boxes[number + 1 :]:
            beside = box.right <= other.left or other.right <= box.left
            assert beside or abs(box.top - other.top) >= diagrams.BOX_HEIGHT, (box, other)


def test_the_recording_shows_the_output_that_the_tour_has() -> None:
    steps = terminal_recording.read_steps(terminal_recording.PAGE.read_text("utf-8"))
    drawn = terminal_recording.TARGET.read_text("utf-8")
    assert drawn == terminal_recording.draw(steps), "run `make docs`"
    assert max(len(line) for step in steps for line in step.output) <= terminal_recording.COLUMNS


def test_every_picture_is_shown_light_and_dark_and_is_small() -> None:
    shown = {page: page.read_text("utf-8") for page in ROOT.glob("docs/**/*.md")}
    for file in _IMAGES.glob("*.webp"):
        assert file.stat().st_size < 80_000, file
        assert file.stem.endswith(("-light", "-dark")), file
        assert any(file.name in text for text in shown.values()), f"no page shows {file.name}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](cli.md#holdfast-ask)", "[a](../reference/cli.md#holdfast-ask)"),
        ("[b](../ARCHITECTURE.md)", "[b](../develop/architecture.md)"),
        ("[c](../LICENSE)", "c"),
        ("[d](https://example.org)", "[d](https://example.org)"),
        ("```\n[e](cli.md)\n```", "```\n[e](cli.md)\n```"),
        ("<!-- [[[cog\nx\n]]] -->\nf\n<!-- [[[end]]] -->\n", "f\n"),
    ],
)
def test_links_of_a_page_are_rewritten_to_their_place_on_the_site(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert Staging(tmp_path).rewritten(text, "docs/tour.md") == expected


def test_a_picture_is_shown_in_the_colours_of_the_page(tmp_path: Path) -> None:
    picture = (
        '<picture><source media="(prefers-color-scheme: dark)" srcset="images/ask-dark.webp">'
        '<img alt="An answer" src="images/ask-light.webp"></picture>'
    )
    shown = Staging(tmp_path).rewritten(picture, "docs/tour.md")
    assert "![An answer](../images/ask-light.webp){.only-light}" in shown
    assert "![An answer](../images/ask-dark.webp){.only-dark}" in shown
    assert (tmp_path / "images" / "ask-dark.webp").is_file()
