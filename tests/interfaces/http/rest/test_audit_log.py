"""Whatever changes something leaves an entry in the log of decisions, with who did it and by which
way; or it is said here why it is no change of what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from holdfast.model.curation import Action
from tests.app.remote.test_remote_recall import a_line
from tests.interfaces.http.rest.test_rest import get
from tests.support.foreign_exports import claude_mem
from tests.support.http.decision_log import LoggedServer, serve_with_log
from tests.support.http.forms import open_server_memory


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoggedServer]:
    with serve_with_log(tmp_path_factory.mktemp("audit")) as made:
        yield made


def _candidate(place: LoggedServer, words: str) -> str:
    told = get(place.server, f"/rules/candidates?bank={place.bank}")["candidates"]
    return next(one["id"] for one in told if words in one["text"])


def _review(place: LoggedServer) -> str:
    return get(place.server, "/reviews")["reviews"][0]["uri"].rpartition("/")[2]


def _answered(place: LoggedServer) -> str:
    place.remember("The ferry leaves at nine from the north pier.")
    question = {"question": "When does the ferry leave from the north pier?"}
    return str(place.change("/ask", question)["session_id"])


def _two_entities(place: LoggedServer) -> tuple[str, str]:
    found = get(place.server, f"/entities?bank={place.bank}&limit=10")["entities"]
    return found[0]["name"], found[1]["name"]


def _merged(place: LoggedServer) -> None:
    one, other = _two_entities(place)
    place.change("/entities/merge", {"name": one, "into": other, "bank": place.bank})


def _split(place: LoggedServer) -> None:
    found = get(place.server, f"/entities?bank={place.bank}&limit=50")["entities"]
    whole = next(one for one in found if one["aliases"])
    name = {"name": whole["name"], "alias": whole["aliases"][0], "bank": place.bank}
    place.change("/entities/split", name)


def _merge(place: LoggedServer) -> None:
    one, other = place.remember("The buoy is red."), place.remember("The buoy is painted red.")
    place.change(f"/records/{one}/merge", {"into": other})


def _restore(place: LoggedServer) -> None:
    name = place.remember("The buoy was green.")
    place.change(f"/records/{name}/forget", {})
    place.change(f"/records/{name}/restore", {})


def _scrub(place: LoggedServer) -> None:
    place.remember("The word is plugh7.")
    place.change("/scrub", {"pattern": "plugh7", "confirm": "scrub"})


def _judge(place: LoggedServer) -> object:
    names = [place.remember(f"The pier is {colour}.") for colour in ("green", "grey")]
    return place.change("/verdicts", {"ids": names, "verdict": "outdated", "why": "painted"})


def _record(way: str, body: object, text: str) -> Callable[[LoggedServer], object]:
    return lambda place: place.change(f"/records/{place.remember(text)}/{way}", body)


def _taught(place: LoggedServer) -> object:
    rule = {"text": "Count every deed twice.", "domain": "deeds", "bank": place.bank}
    return place.change("/rules", {**rule, "confirm": "write"})


def _shared(place: LoggedServer) -> object:
    line = a_line("The ferry is late on Mondays.")
    return place.change("/shares", {"bank": place.bank, "shares": [line]})


def _unpulled(place: LoggedServer) -> object:
    known = get(place.server, f"/pulls?bank={place.bank}")["pulls"]
    left = next(one["id"] for one in known if not one["undone"])
    return place.change(f"/pulls/{left}/undo?bank={place.bank}", {})


def _unimported(place: LoggedServer) -> object:
    file = place.root.parent / "claude-mem.db"
    claude_mem(file)
    with open_server_memory(place.server) as memory:
        memory.imports.import_records("claude-mem", file, place.bank)
    (known,) = get(place.server, "/imports")["imports"]
    assert known["undone"] is False and known["program"]
    return place.change(f"/imports/{known['id']}/undo", {})


def _merged_banks(place: LoggedServer) -> object:
    for name in ("quay", "dock"):
        place.change("/memories", {"text": f"The {name} is closed.", "bank": name})
    return place.change("/banks/quay/merge", {"into": "dock"})


def _approve(place: LoggedServer) -> object:
    path = f"/rules/candidates/{_candidate(place, 'Log one line')}/approve?bank={place.bank}"
    return place.change(path, {})


def _reject(place: LoggedServer) -> object:
    path = f"/rules/candidates/{_candidate(place, 'Tag a release')}/reject?bank={place.bank}"
    return place.change(path, {"why": "no"})


Case = tuple[Action, Callable[[LoggedServer], object]]
REST: dict[str, Case | str] = {
    "post /memories": (Action.REMEMBER, lambda place: place.remember("The lamp is lit at dusk.")),
    "post /memories/retain": (
        Action.REMEMBER,
        lambda place: place.change("/memories/retain", {"text": "It rained.", "bank": place.bank}),
    ),
    "post /records/{id}/correct": (
        Action.CORRECT,
        _record("correct", {"text": "The lamp is lit at dawn."}, "The lamp is never lit."),
    ),
    "post /records/{id}/forget": (Action.FORGET, _record("forget", {}, "The pier is long.")),
    "post /records/{id}/restore": (Action.RESTORE, _restore),
    "post /records/{id}/adopt": (Action.REMEMBER, _record("adopt", {}, "The pier is old.")),
    "post /records/{id}/confirm": (Action.CONFIRM, _record("confirm", {}, "The pier is wide.")),
    "post /verdicts": (Action.JUDGE, _judge),
    "post /records/{id}/merge": (Action.MERGE, _merge),
    "post /records/{id}/purge": (
        Action.PURGE,
        _record("purge", {"confirm": "purge"}, "The pier is secret."),
    ),
    "post /scrub": (Action.SCRUB, _scrub),
    "post /undo": (
        Action.UNDO,
        lambda place: (place.remember("Undo me."), place.change("/undo", {"bank": place.bank})),
    ),
    "post /rules": (Action.WRITE, _taught),
    "post /rules/candidates/{id}/approve": (Action.APPROVE, _approve),
    "post /rules/candidates/{id}/reject": (Action.REJECT, _reject),
    "post /reviews/{id}/decide": (
        Action.APPROVE,
        lambda place: place.change(f"/reviews/{_review(place)}/decide", {"keep": True}),
    ),
    "patch /banks/{name}": (
        Action.SET,
        lambda place: place.change(f"/banks/{place.bank}", {"skepticism": 5}, "PATCH"),
    ),
    "post /banks/{name}/merge": (Action.MERGE, _merged_banks),
    "post /banks/{name}/unmerge": (
        Action.UNDO,
        lambda place: place.change("/banks/quay/unmerge", {}),
    ),
    "post /entities/merge": (Action.MERGE, _merged),
    "post /entities/split": (Action.SPLIT, _split),
    "post /research/{id}/useful": (
        Action.VOUCH,
        lambda place: place.change(f"/research/{_answered(place)}/useful", {}),
    ),
    "post /shares": (Action.PULL, _shared),
    "post /pulls/{id}/undo": (Action.UNDO, _unpulled),
    "post /imports/{id}/undo": (Action.UNDO, _unimported),
    "post /backups": "copies the memory; GET /backups names the copies",
    "post /shares/recall": "asks",
    "post /ask": "asks; its session is told by GET /research",
    "post /reflect": "what it comes to believe follows from what is stored, and is made again",
    "post /rules/promote": "looks for candidates; what the settings let be written is an approval",
    "post /doctor/fix": "mends files and indexes, and tells which; no record says anything else",
    "post /ingest": "reads; every line is in the account of GET /status",
    "post /research": "asks; its session is told by GET /research",
    "post /research/{id}/cancel": "stops a question",
    "delete /research/{id}": "removes a question, no record",
    "post /graphql": "has mutations, each of which is tried on its own",
}


def test_every_change_by_rest_is_in_the_log(place: LoggedServer) -> None:
    paths = get(place.server, "/openapi.json")["paths"]
    offered = {
        f"{how} {path.removeprefix('/api/v1')}"
        for path, ways in paths.items()
        for how in ways
        if how != "get"
    }
    assert offered == set(REST), "tell what the log says of each way to change something"
    for name, case in REST.items():
        if isinstance(case, str):
            continue
        action, act = case
        before = len(place.log())
        act(place)
        new = [one for one in place.log()[before:] if one.action is action]
        assert new, f"{name} left no entry of {action}"
        assert new[-1].who.endswith("(http)") and new[-1].time and new[-1].bank, (name, new)
