"""Every operation that reads, asked on every face of one memory: the answer is the same, and so is
the refusal of what does not fit.

What changes something is asked as every level and across banks in `tests/e2e/access`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest

from holdfast.errors import HoldfastError
from holdfast.interfaces.cli.main import COMMANDS
from holdfast.interfaces.http.graphql.schema import camel_name
from holdfast.interfaces.python import Holdfast
from holdfast.operations.operation import Operation
from holdfast.operations.registry import NOT_OFFERED, all_operations
from holdfast.operations.shapes import result_json
from holdfast.settings import load_settings
from tests.support.command_line import changed_environment, run_command
from tests.support.http.server import Server, make_home, serving

pytestmark = [pytest.mark.slow, pytest.mark.process]

READING = [one for one in all_operations() if not one.changes]
# These end what another call began, or speak of the caller, a server, the branch of a repository or
# this very moment.
_APART = {
    "research show",
    "research cancel",
    "research remove",
    "me",
    "doctor",
    "recall-shares",
    "shared",
}
ASKED = [one for one in READING if one.name not in _APART]
_VARYING = {
    "ms",
    "session_id",
    "strategies",
    "why",
    "score",
    "last_event",
    "since",
    "until",
    "worker",
}


class Place(NamedTuple):
    """A server over the sample sessions, and what its memory has."""

    server: Server
    known: Mapping[str, Any]

    def rest(self, operation: Operation, given: Mapping[str, Any]) -> tuple[int, Any]:
        method, path = operation.rest.split(" ")
        left = dict(given)
        for name in [name for name in left if f"{{{name}" in path]:
            place = f"{{{name}:path}}" if f"{{{name}:path}}" in path else f"{{{name}}}"
            path = path.replace(place, quote(str(left.pop(name)), safe=""))
        headers = {
            "Authorization": f"Bearer {self.server.token}",
            "Content-Type": "application/json",
        }
        body = json.dumps(left).encode() if method != "GET" else None
        query = f"?{urlencode(left, doseq=True)}" if method == "GET" and left else ""
        told = self.server.ask(f"/api/v1{path}{query}", headers, body, method)
        return told.status, json.loads(told.text)

    def cli(self, operation: Operation, given: Mapping[str, Any]) -> tuple[int, Any]:
        words: list[str] = []
        for parameter in operation.parameters:
            if parameter.name in given:
                option = f"--{(parameter.arg.option or parameter.name).replace('_', '-')}"
                value = str(given[parameter.name])
                words += [value] if parameter.arg.place else [option, value]
        done = run_command([*operation.name.split(), *words, "--json"], self.server.env)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    def python(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        with changed_environment(self.server.env), Holdfast(load_settings()) as memory:
            return result_json(getattr(memory, operation.id)(**given))

    def graph(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        arguments = ", ".join(f"{camel_name(k)}: {json.dumps(v)}" for k, v in given.items())
        field = camel_name(operation.id) + (f"({arguments})" if arguments else "")
        headers = {
            "Authorization": f"Bearer {self.server.token}",
            "Content-Type": "application/json",
        }
        kind = "query" if operation.only_reads else "mutation"
        body = json.dumps({"query": f"{kind} {{ {field} {{ __typename }} }}"}).encode()
        return json.loads(self.server.ask("/graphql", headers, body, "POST").text)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder: Path = tmp_path_factory.mktemp("faces")
    with serving(make_home(folder), folder) as server, changed_environment(server.env):
        with Holdfast(load_settings()) as memory:
            session = memory.sessions(bank="all").sessions[0]
            known = {
                "session": session.id,
                "record": memory.exchanges(bank="all", limit=1).exchanges[0].id,
                "concept": memory.concepts(bank="all").concepts[0].name,
                "entity": memory.entities(bank="all").entities[0].name,
                "bank": memory.banks().banks[0].name,
            }
        yield Place(server, known)


def given_for(place: Place, operation: Operation) -> dict[str, Any]:
    """Arguments with which an operation finds something."""
    own: dict[str, dict[str, Any]] = {
        "recall": {"budget": "low"},
        "find": {"since": "2026-01-01"},
        "concept": {"id": place.known["concept"]},
        "entity": {"name": place.known["entity"]},
        "bank": {"name": place.known["bank"]},
        "keyword": {"words": "backup"},
        "who": {"about": "backup"},
        "handoff": {"what": place.known["session"]},
        "brief session": {"session": place.known["session"]},
        "records": {"section": "memories"},
    }
    words = {"query": "nightly backups", "question": "Why not cron with cp?"}
    subject = operation.run.__module__.rpartition(".")[2]
    id = place.known["session" if subject == "sessions" else "record"]
    given = own.get(operation.name, {})
    for one in operation.parameters:
        if one.name == "bank":
            given.setdefault("bank", place.known["bank"] if one.arg.to_store_in else "all")
        elif one.required:
            given.setdefault(one.name, words.get(one.name, id))
    return given


def without_what_varies(told: Any) -> Any:
    if isinstance(told, dict):
        return {k: without_what_varies(v) for k, v in told.items() if k not in _VARYING}  # pyright: ignore[reportUnknownVariableType]
    return [without_what_varies(one) for one in told] if isinstance(told, list) else told  # pyright: ignore[reportUnknownVariableType]


def test_the_sweep_asks_nearly_all_that_reads() -> None:
    assert len(ASKED) > 35


@pytest.mark.parametrize("one", ASKED, ids=lambda one: one.name)
def test_every_face_gives_the_same_answer(place: Place, one: Operation) -> None:
    given = given_for(place, one)
    expected = without_what_varies(place.python(one, given))
    if one.name not in NOT_OFFERED["rest"]:
        status, told = place.rest(one, given)
        assert status == 200, told
        assert without_what_varies(told) == expected
    if one.name not in NOT_OFFERED["cli"]:
        assert one.name.partition(" ")[0] in COMMANDS
        status, told = place.cli(one, given)
        assert status == 0, told
        assert without_what_varies(told) == expected
    if one.name not in NOT_OFFERED["graphql"]:
        told = place.graph(one, given)
        assert "errors" not in told, told


@pytest.mark.parametrize("one", ASKED, ids=lambda one: one.name)
def test_every_face_refuses_what_does_not_fit_in_the_same_words(
    place: Place, one: Operation
) -> None:
    given = given_for(place, one)
    wrong = {"limit": 0} if any(p.name == "limit" for p in one.parameters) else {}
    if not wrong:
        return
    with pytest.raises(HoldfastError) as caught:
        place.python(one, {**given, **wrong})
    sentence = caught.value.message
    if one.name not in NOT_OFFERED["rest"]:
        status, told = place.rest(one, {**given, **wrong})
        assert status == 422 and told["error"]["message"] == sentence
    if one.name not in NOT_OFFERED["cli"]:
        status, told = place.cli(one, {**given, **wrong})
        assert status == 2 and sentence in told
    if one.name not in NOT_OFFERED["graphql"]:
        assert place.graph(one, {**given, **wrong})["errors"][0]["message"] == sentence


@pytest.mark.parametrize("one", ASKED, ids=lambda one: one.name)
def test_every_face_refuses_an_argument_that_there_is_not(place: Place, one: Operation) -> None:
    given = {**given_for(place, one), "nonsense": "1"}
    with pytest.raises(HoldfastError, match="nonsense"):
        place.python(one, given)
    if one.name not in NOT_OFFERED["rest"]:
        status, told = place.rest(one, given)
        assert status == 422 and "nonsense" in told["error"]["message"]
    if one.name not in NOT_OFFERED["graphql"]:
        assert "nonsense" in place.graph(one, given)["errors"][0]["message"]
