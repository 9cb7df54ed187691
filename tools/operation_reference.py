"""The reference of all operations, as Markdown made of their declarations.

`make docs` puts it into docs/reference.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from holdfast.interfaces.http.auth.permissions import API_PREFIX
from holdfast.interfaces.http.graphql.schema import camel_name
from holdfast.operations.agents.tools import SERVERS
from holdfast.operations.operation import Operation, Parameter
from holdfast.operations.registry import NOT_OFFERED, SUBJECTS, find_operation

_TYPES = {str: "text", int: "number", float: "number", bool: "true or false", dict: "object"}


def reference() -> str:
    """All operations, by subject."""
    lines: list[str] = []
    for subject, names in SUBJECTS.items():
        lines += [f"## {subject.capitalize()}", ""]
        for name in names:
            lines += _entry(find_operation(name))
    return "\n".join(lines).rstrip()


def exceptions() -> str:
    """What some face does not offer, and why."""
    lines = ["| face | operation | why not |", "|---|---|---|"]
    for face, reasons in NOT_OFFERED.items():
        lines += [f"| {face} | `{name}` | {why} |" for name, why in reasons.items()]
    return "\n".join(lines)


def _entry(operation: Operation) -> Iterator[str]:
    level = operation.level.value + (", for all banks" if operation.all_banks else "")
    yield f"### {operation.name}"
    yield ""
    yield f"{operation.summary}. ({level})"
    yield ""
    if operation.details:
        yield operation.details
        yield ""
    shown = [one for one in operation.parameters if not one.arg.on_screen]
    if shown:
        yield "| parameter | type | default | |"
        yield "|---|---|---|---|"
        for one in shown:
            yield f"| `{one.name}` | {_type(one)} | {_default(one)} | {_cell(one.arg.help)} |"
        yield ""
    yield f"{' · '.join(_ways(operation))} → {_result(operation.result)}"
    yield ""


def _ways(operation: Operation) -> Iterator[str]:
    missing = {face for face, names in NOT_OFFERED.items() if operation.name in names}
    if "cli" not in missing:
        yield f"`holdfast {operation.name}`"
    # The routes of research are written by hand, and are the same.
    if "rest" not in missing or operation.name.startswith("research "):
        yield f"`{operation.rest.replace(' ', f' {API_PREFIX}', 1)}`"
    if "graphql" not in missing:
        yield f"GraphQL `{camel_name(operation.id)}`"
    if "python" not in missing:
        yield f"`memory.{operation.id}()`"
    tools = [tool for server in SERVERS.values() for tool in server.tools]
    named = dict.fromkeys(tool.name for tool in tools if tool.operation == operation.name)
    yield from (f"MCP `{name}`" for name in named)


def _type(parameter: Parameter) -> str:
    name = (
        ", ".join(f"`{one}`" for one in parameter.choices)
        if parameter.choices
        else _TYPES.get(get_origin(parameter.kind) or parameter.kind, "text")
    )
    return f"list of {name}" if parameter.many else name


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    return "" if parameter.default in (None, "", (), False) else f"`{parameter.default}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _result(kind: Any) -> str:
    if get_origin(kind) is not None:
        return " or ".join(_result(one) for one in get_args(kind))
    return "nothing" if kind is type(None) else f"`{getattr(kind, '__name__', kind)}`"
