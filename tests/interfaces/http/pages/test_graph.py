from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.interfaces.ui.graph_layout import NodeToPlace, place_labels, place_nodes
from holdfast.interfaces.ui.graph_view import draw, shorten_name
from holdfast.recall.lookup.entities import Cooccurrence, Neighbour, Neighbourhood
from tests.support.http.browser import (
    BrowserSession,
    accessibility_problems,
    accessibility_problems_in_opposite_layouts,
)
from tests.support.http.server import Server, make_home, serving

HOSTILE = ("<script>alert(1)</script>.py", 'it\'s "quoted".py', "\u202egnp.py", "x" * 10_000)


def _session(folder: Path) -> Path:
    """A session whose files have the names that somebody hostile would choose."""
    lines: list[dict[str, object]] = []

    def say(role: str, content: object) -> None:
        number = len(lines)
        lines.append(
            {
                "type": role,
                "uuid": f"u{number}",
                "sessionId": "5e5510f0-0000-4000-8000-000000000001",
                "timestamp": f"2026-03-01T12:00:{number:02}.000Z",
                "cwd": "/home/dev/harbour",
                "message": {"role": role, "content": content},
            }
        )

    for file in (*HOSTILE, "src/tide.py", "src/clock.py"):
        say("user", f"Please mend `src/tide.py` and look at {file[:80]} with TideTable.")
        asked = {"file_path": f"/home/dev/harbour/{file}", "old_string": "a", "new_string": "b"}
        call = f"t{len(lines)}"
        use = {"type": "tool_use", "id": call, "name": "Edit", "input": asked}
        say("assistant", [{"type": "text", "text": "TideTable is mended."}, use])
        say("user", [{"type": "tool_result", "tool_use_id": call, "content": "ok"}])
    path = folder / "hostile.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("graph")
    with serving(make_home(folder, _session(folder), embed=False), folder) as made:
        yield made


def _net(count: int) -> Neighbourhood:
    """A focus, forty around it, and the rest around those."""
    made = [Neighbour("b", "e0", "the focus", "file", 90, 0, 0)]
    for n in range(1, count):
        via = 0 if n <= 40 else 1 + n % 40
        kind = ("person", "file", "component", "concept")[n % 4]
        made.append(
            Neighbour("b", f"e{n}", f"entity number {n}", kind, 1 + 400 // n, 1 + (n > 40), via)
        )
    ties = [Cooccurrence(min(one.via, n), max(one.via, n), 3) for n, one in enumerate(made) if n]
    ties += [Cooccurrence(n, n + 7, 1) for n in range(1, count - 7, 3)]
    return Neighbourhood(tuple(made), tuple(ties))


@pytest.mark.slow
def test_three_hundred_nodes_are_apart_with_readable_labels() -> None:
    net = draw(_net(300))
    assert net == draw.__wrapped__(_net(300))
    for node in net.nodes:
        assert 0 < node.x < net.width and 0 < node.y < net.height
    touching = sum(
        (one.x - other.x) ** 2 + (one.y - other.y) ** 2 < (one.radius + other.radius) ** 2
        for n, one in enumerate(net.nodes)
        for other in net.nodes[:n]
    )
    assert touching == 0
    assert net.nodes[0].label.shown
    assert 60 < len(net.nodes) - net.hidden < 300


def test_no_label_overlaps_another() -> None:
    texts = [f"label number {n}" for n in range(60)]
    at = place_nodes([NodeToPlace(n, 0, 4.0) for n in range(60)], [], 600, 500)
    shown = [one for one in place_labels(texts, at, [4.0] * 60, 600, 500) if one.shown]
    assert len(shown) > 20
    rows = sorted((round(one.y), one.x, one.text) for one in shown if one.anchor == "start")
    for (y, x, _), (next_y, next_x, _) in pairwise(rows):
        assert y != next_y or abs(next_x - x) > 80


def test_a_long_path_is_shortened_to_its_end() -> None:
    assert shorten_name("src/holdfast/interfaces/http/pages/graph.py") == "…/graph.py"
    assert shorten_name("word " * 3000).endswith("…") and len(shorten_name("x" * 9000)) == 24


@pytest.mark.slow
def test_a_graph_of_three_hundred_nodes_is_drawn_within_a_second() -> None:
    begun = time.process_time()
    draw.__wrapped__(_net(300))
    assert time.process_time() - begun < 1.0


def test_the_graph_can_be_walked_by_links_and_arrow_keys(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/graph")
    assert page.locator(".listed ol li").count() == page.locator("a.node").count() > 4
    page.locator(".listed ol a", has_text="src/tide.py").click()
    page.wait_for_url("**/graph?focus=*")
    assert page.locator("h1").inner_text() == "src/tide.py"
    assert page.locator("a.node.focus").count() == 1
    page.locator("a.node.focus").focus()
    before = page.evaluate("document.activeElement.getAttribute('aria-label')")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        now = page.evaluate("document.activeElement.getAttribute('aria-label')")
        if now != before:
            break
    assert now != before
    page.keyboard.press("Enter")
    page.wait_for_function(
        "name => document.querySelector('h1').textContent !== name", arg="src/tide.py"
    )
    assert accessibility_problems(page) == [] and browser_session.problems == []


def test_the_graph_can_be_limited_to_some_kinds(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/graph", scripts=False)
    page.get_by_label("files").check()
    page.get_by_role("button", name="Show").click()
    assert "kind=file" in page.url
    assert page.locator("a.node").count() == page.locator("a.node.file").count() > 2


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_shown_as_text(
    browser_session: BrowserSession, server: Server, name: str
) -> None:
    page = browser_session.open_page("/graph?kind=file", phone=True)
    shown = page.locator(".listed ol a").all_inner_texts()
    # A character that is not seen has a badge with its number.
    wanted = name[:100].replace("\u202e", "U+202E")
    assert any(text.startswith(wanted) for text in shown), shown
    page.locator(".listed ol a", has_text=wanted[:40]).first.click()
    page.wait_for_load_state()
    assert page.locator("h1").inner_text().startswith(wanted)
    assert accessibility_problems(page) == [] and browser_session.problems == []
    assert "<script>alert" not in server.ask("/graph").text


def test_neighbours_are_counted_in_words(server: Server) -> None:
    page = server.ask("/graph?focus=src/tide.py&hops=2").text
    found = re.findall(r"<summary>(\d+) (entity|entities), (\d) hops? away</summary>", page)
    assert found and all((count == "1") == (noun == "entity") for count, noun, _ in found)
    assert not re.search(r"<summary>\d+ \d", page)


def test_an_unknown_name_is_reported(browser_session: BrowserSession, server: Server) -> None:
    got = server.ask("/graph?focus=%3Cb%3Enobody&hops=3")
    assert got.status == 404 and "&lt;b&gt;nobody" in got.text and "<b>nobody" not in got.text
    assert (
        accessibility_problems_in_opposite_layouts(
            browser_session, "/graph?focus=src/tide.py&hops=3"
        )
        == []
    )
    assert server.ask("/graph?hops=9").status == 422
