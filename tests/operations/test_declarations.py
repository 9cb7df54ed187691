"""What holds for the declaration of every operation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pytest
from fastapi.routing import APIRoute

from holdfast.interfaces.cli.main import COMMANDS, actions_of
from holdfast.interfaces.http.graphql.schema import camel_name, schema
from holdfast.interfaces.http.rest import rest_router
from holdfast.interfaces.python import Holdfast, Method
from holdfast.operations.agents.tools import SERVERS
from holdfast.operations.operation import Operation, Parameter, operation
from holdfast.operations.registry import NAMES, NOT_OFFERED, all_operations, find_operation
from holdfast.operations.shapes import result_schema
from holdfast.principal import Level

EVERY = tuple(all_operations())
_FACES = {"cli", "rest", "graphql", "mcp", "python"}


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_an_operation_says_what_it_is_for_what_it_takes_and_what_it_returns(one: Operation) -> None:
    assert re.fullmatch(r"[A-Z][^\n]{8,80}[^.\n]", one.summary), one.summary
    assert all(parameter.arg.help for parameter in one.parameters)
    known: dict[str, object] = {}
    assert result_schema(one.result, known)
    names = [parameter.name for parameter in one.parameters]
    asked = {name.partition(":")[0] for name in re.findall(r"\{([\w:]+)\}", one.rest)}
    assert asked <= set(names)
    required = [parameter.required for parameter in one.parameters]
    assert required == sorted(required, reverse=True), "what is required comes first"


def test_no_operation_runs_without_a_level() -> None:
    with pytest.raises(TypeError):
        operation("anything")  # pyright: ignore[reportCallIssue]
    assert {one.level for one in EVERY} == set(Level)


def test_a_parameter_without_help_is_refused() -> None:
    @operation("odd", Level.READ)
    def odd(memory: object, bank: str = "") -> str:
        """Do something odd"""
        return bank

    found = getattr(odd, "__operation__")  # noqa: B009
    with pytest.raises(TypeError, match="The parameter bank has no help"):
        assert found.parameters


def test_names_and_routes_are_unique() -> None:
    routes = Counter(one.rest for one in EVERY if one.rest)
    assert [route for route, count in routes.items() if count > 1] == []
    assert len(NAMES) == len(set(NAMES)) == len(EVERY)
    assert len({one.id for one in EVERY}) == len(EVERY)


def test_a_parameter_means_the_same_wherever_it_stands() -> None:
    """The bank, the day, the kinds and the paging of a list are declared once, and shared."""
    shared = ("as_of", "since", "until", "cursor", "agent", "layer", "local", "providers")
    seen: defaultdict[str, set[Parameter]] = defaultdict(set)
    for one in EVERY:
        for parameter in one.parameters:
            if parameter.name in shared:
                seen[parameter.name].add(parameter._replace(required=False, default=None))
    assert {name: len(found) for name, found in seen.items() if len(found) > 1} == {}
    assert "cursor" in seen


def test_a_face_offers_every_operation_or_says_why_not() -> None:
    assert NOT_OFFERED.keys() <= _FACES
    for face, reasons in NOT_OFFERED.items():
        assert set(reasons) <= set(NAMES), face
        assert all(len(reason) > 10 for reason in reasons.values())
    commands = {f"{name} {action}".strip() for name in COMMANDS for action in actions_of(name)}
    assert set(NAMES) - commands == set(NOT_OFFERED.get("cli", ()))
    asked = schema()
    assert asked.query_type is not None and asked.mutation_type is not None
    fields = {*asked.query_type.fields, *asked.mutation_type.fields}
    missing = {one.name for one in EVERY if camel_name(one.id) not in fields}
    assert missing == set(NOT_OFFERED.get("graphql", ()))
    routes = {route.name for route in rest_router().routes if isinstance(route, APIRoute)}
    assert {one.name for one in EVERY if one.id not in routes} == set(NOT_OFFERED.get("rest", ()))


def test_reading_fields_of_graphql_are_queries_and_changing_ones_mutations() -> None:
    asked = schema()
    assert asked.query_type is not None and asked.mutation_type is not None
    offered = [one for one in EVERY if one.name not in NOT_OFFERED["graphql"]]
    changing = {camel_name(one.id) for one in offered if not one.only_reads}
    assert changing == set(asked.mutation_type.fields) - {"searchMemory"}
    assert not changing & set(asked.query_type.fields)


def test_python_has_a_method_for_every_operation_that_an_editor_can_complete() -> None:
    methods = {name for name, value in vars(Holdfast).items() if isinstance(value, Method)}
    assert methods == {one.id for one in EVERY if one.name not in NOT_OFFERED["python"]}


def test_tools_of_agents_are_operations_with_their_parameters() -> None:
    for server in SERVERS.values():
        for tool in server.tools:
            one = find_operation(tool.operation)
            known = {parameter.name for parameter in one.parameters}
            assert {*map(tool.parameter_of, tool.takes), *tool.presets} <= known
            assert set(tool.needs) <= set(tool.takes)
            assert not (server.only_reads and one.changes)
