"""Whatever a page changes leaves an entry in the log of decisions, in the name of who did it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from holdfast.interfaces.http.auth.permissions import FORMS
from holdfast.interfaces.http.pages.forms import LOOKS
from holdfast.model.curation import Action
from holdfast.operations.registry import find_operation
from tests.interfaces.http.rest.test_rest import get
from tests.support.http.decision_log import LoggedServer, serve_with_log
from tests.support.http.forms import open_server_memory

WAYS: Mapping[str, tuple[Action, dict[str, str]]] = {
    "retain": (Action.REMEMBER, {"text": "A swan.", "network": "world"}),
    "correct": (Action.CORRECT, {"text": "A duck."}),
    "forget": (Action.FORGET, {}),
    "restore": (Action.RESTORE, {}),
    "merge": (Action.MERGE, {}),
    "confirm": (Action.CONFIRM, {}),
    "undo": (Action.UNDO, {}),
    "purge": (Action.PURGE, {"confirm": "purge"}),
    "judge": (Action.JUDGE, {"verdict": "useful"}),
    "review decide": (Action.APPROVE, {"keep": "true"}),
    "review adopt": (Action.REMEMBER, {"text": "A blue jay."}),
    "promote approve": (Action.APPROVE, {}),
    "promote reject": (Action.REJECT, {"why": "no"}),
    "bank set": (Action.SET, {"skepticism": "2"}),
    "research useful": (Action.VOUCH, {}),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoggedServer]:
    with serve_with_log(tmp_path_factory.mktemp("audit")) as made:
        yield made


def _fields(place: LoggedServer, name: str) -> dict[str, str]:
    """What a form sends, about something that was made for it."""
    if name == "retain":
        return {"bank": place.bank}
    if name == "bank set":
        return {"name": place.bank}
    if name == "review decide":
        return {"id": get(place.server, "/reviews")["reviews"][0]["id"]}
    if name.startswith("promote"):
        known = get(place.server, f"/rules/candidates?bank={place.bank}")["candidates"]
        return {"id": next(one["id"] for one in known if one["diff"]), "bank": place.bank}
    if name == "research useful":
        place.remember("The tug leaves at ten from the south pier.")
        asked = {"question": "When does the tug leave from the south pier?"}
        return {"id": place.change("/ask", asked)["session_id"]}
    record = place.remember(f"A bird to {name}.")
    if name == "restore":
        place.change(f"/records/{record}/forget", {})
    if name == "undo":
        return {"numbers": str(place.log()[-1].seq)}
    if name == "merge":
        return {"id": record, "into": place.remember("Another bird.")}
    return {"ids" if name == "judge" else "id": record}


@pytest.mark.parametrize("name", FORMS)
def test_every_change_made_on_a_page_is_in_the_log(place: LoggedServer, name: str) -> None:
    action, more = WAYS[name]
    fields = {**_fields(place, name), **more}
    if name in LOOKS:
        given = {key: value for key, value in fields.items() if key in ("id", "name", "bank")}
        given |= {"ids": (fields["ids"],)} if "ids" in fields else {}
        with open_server_memory(place.server) as memory:
            fields["seen"] = LOOKS[name](memory, given).seen
    before = len(place.log())
    place.submit_form(f"/do/{find_operation(name).id}", fields)
    new = [entry for entry in place.log()[before:] if entry.action is action]
    assert new and new[-1].who.endswith("(browse)")
