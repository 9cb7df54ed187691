"""Whatever a page changes leaves an entry in the log of decisions, or it is said here why not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import pytest

from holdfast.app.views.record_view import current_text, fingerprint
from holdfast.interfaces.http.pages import ROUTERS
from holdfast.model.curation import Action
from tests.interfaces.http.rest.test_rest import get
from tests.support.http.decision_log import LoggedServer, serve_with_log
from tests.support.http.forms import PageClient, open_server_memory


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoggedServer]:
    with serve_with_log(tmp_path_factory.mktemp("audit")) as made:
        yield made


def _seen(place: LoggedServer, path: str) -> str:
    page = PageClient(place.server).get(path).text
    return page.partition('name="seen" value="')[2].partition('"')[0]


PAGES_ELSEWHERE = {
    "/review/preview": "shows what would change",
    "/ask": "asks",
    "/research/{id}/cancel": "stops a question",
    "/research/{id}/remove": "removes a question, no record",
}


def _pages(place: LoggedServer) -> dict[str, tuple[Action, Callable[[], None]]]:
    visit = place.submit_form

    def on(path: str, said: str, **more: str) -> Callable[[], None]:
        def done() -> None:
            name = place.remember(said)
            seen = _seen(place, f"/record/{name}")
            visit(path, {"uri": f"holdfast://{name}", "seen": seen, **more})

        return done

    def bank() -> None:
        path = f"/banks/{place.bank}"
        seen = _seen(place, f"{path}?tab=settings")
        visit(path, {"seen": seen, "skepticism": "2", "literalism": "2"})

    def restore() -> None:
        name = place.remember("A gull.")
        place.change(f"/records/{name}/forget", {})
        visit("/memory/restore", {"uri": name})

    def undo() -> None:
        place.remember("A tern.")
        visit("/memory/undo", {"seq": str(place.log()[-1].seq)})

    def purge() -> None:
        name = place.remember("A skua.")
        visit("/memory/purge", {"uri": name, "sure": "yes", "seen": "memory:1"})

    def useful() -> None:
        place.remember("The tug leaves at ten from the south pier.")
        asked = {"question": "When does the tug leave from the south pier?"}
        visit(f"/research/{place.change('/ask', asked)['session_id']}/useful", {})

    remember = {"text": "A swan.", "bank": place.bank}
    return {
        "/memory/remember": (Action.REMEMBER, lambda: visit("/memory/remember", remember)),
        "/memory/correct": (Action.CORRECT, on("/memory/correct", "A hen.", text="A duck.")),
        "/memory/forget": (Action.FORGET, on("/memory/forget", "A goose.")),
        "/memory/restore": (Action.RESTORE, restore),
        "/memory/merge": (
            Action.MERGE,
            on("/memory/merge", "A coot.", into=f"holdfast://{place.remember('A coot is black.')}"),
        ),
        "/memory/undo": (Action.UNDO, undo),
        "/memory/purge": (Action.PURGE, purge),
        "/memory/holds": (Action.CONFIRM, on("/memory/holds", "A heron.")),
        "/brief/judge": (Action.JUDGE, on("/brief/judge", "A stork.", verdict="useful")),
        "/review/drop": (Action.FORGET, on("/review/drop", "A crow.")),
        "/review/confirm": (Action.REMEMBER, on("/review/confirm", "A jay.", text="A blue jay.")),
        "/banks/{id}": (Action.SET, bank),
        "/research/{id}/useful": (Action.VOUCH, useful),
    }


def _waiting(place: LoggedServer) -> dict[str, tuple[Action, Callable[[], None]]]:
    """What is decided of all that waits for a person."""

    def rule(path: str, said: str, **more: str) -> Callable[[], None]:
        def done() -> None:
            known = get(place.server, f"/rules/candidates?bank={place.bank}")["candidates"]
            found = next(one for one in known if said in one["text"])
            seen = hashlib.sha256(found["diff"].encode()).hexdigest()[:24]
            asked = {"id": found["id"], "bank": place.bank, "seen": seen}
            place.submit_form(path, {**asked, **more})

        return done

    def fact(path: str, said: str, **more: str) -> Callable[[], None]:
        def done() -> None:
            with open_server_memory(place.server) as memory:
                asked = {
                    review.id: current_text(
                        memory, memory.curation.target(review.target, review.bank)
                    )
                    for review in memory.browse.reviews("all")
                }
            id, words = next(one for one in asked.items() if said in one[1])
            place.submit_form(path, {"id": id, "seen": fingerprint(words), **more})

        return done

    def several() -> None:
        id = place.remember("A rail.").rpartition("/")[2]
        picked = {f"pick:memory:{place.bank}:{id}": "-"}
        place.submit_form("/review/several", {"act": "reject", **picked})

    return {
        "/review/approve": (Action.APPROVE, rule("/review/approve", "Name every fixture")),
        "/review/reject": (Action.REJECT, rule("/review/reject", "Tag a release", why="no")),
        "/review/several": (Action.FORGET, several),
        "/review/keep": (Action.APPROVE, fact("/review/keep", "storefront")),
        "/review/retire": (Action.REJECT, fact("/review/retire", "invoices")),
        "/review/reword": (
            Action.CORRECT,
            fact("/review/reword", "search cache", text="Warm the search cache early."),
        ),
    }


def test_every_change_made_on_a_page_is_in_the_log(place: LoggedServer) -> None:
    offered = {
        str(getattr(route, "path", ""))
        for router in ROUTERS
        for route in router.routes
        if "POST" in (getattr(route, "methods", None) or ())
    }
    cases = {**_pages(place), **_waiting(place)}
    assert offered == {*cases, *PAGES_ELSEWHERE}
    for path, (action, act) in cases.items():
        before = len(place.log())
        act()
        new = [e for e in place.log()[before:] if e.action is action]
        assert new and new[-1].who.endswith("(browse)"), path
