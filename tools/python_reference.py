"""The reference of the Python API, as Markdown made from signatures and docstrings.

`make docs` puts it into docs/python.md.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import Any

from holdfast.app import memory as facade
from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.search.recall import Search


def _signature(name: str, function: Any) -> str:
    """`name(parameters) -> result`, without `self`, as it is called."""
    signature = inspect.signature(function)
    shown = [_parameter(p) for p in signature.parameters.values() if p.name != "self"]
    return f"{name}({', '.join(shown)}) -> {signature.return_annotation}"


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return f"{parameter.name}: {parameter.annotation}"
    default: Any = parameter.default
    if isinstance(default, Enum):
        shown = f"{type(default).__name__}.{default.name}"
    elif hasattr(default, "_fields"):
        shown = f"{type(default).__name__}()"
    else:
        shown = "…" if callable(default) else repr(default).replace("'", '"')
    return f"{parameter.name}: {parameter.annotation} = {shown}"


def _entry(name: str, function: Any) -> Iterator[str]:
    yield f"#### `{_signature(name, function)}`"
    yield ""
    yield inspect.cleandoc(function.__doc__ or "")
    yield ""


def _methods(owner: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(owner).items():
        if not name.startswith("_") and inspect.isfunction(value):
            yield name, value


def _parts() -> Iterator[tuple[str, type, str]]:
    """The parts of a memory: attribute, class, and what it is for."""
    scope = {**vars(facade), **_imported_for_types()}
    for name, value in vars(Holdfast).items():
        if isinstance(value, cached_property) and not name.startswith("_"):
            made: Any = value.func  # pyright: ignore[reportUnknownMemberType]
            yield name, scope[typing.cast("str", made.__annotations__["return"])], made.__doc__


def _imported_for_types() -> dict[str, Any]:
    """What the facade imports for its annotations only."""
    found: dict[str, Any] = {}
    for name, value in vars(Holdfast).items():
        if isinstance(value, cached_property) and not name.startswith("_"):
            made: Any = value.func  # pyright: ignore[reportUnknownMemberType]
            wanted: str = made.__annotations__["return"]
            for line in inspect.getsource(facade).splitlines():
                if line.strip().startswith("from ") and line.strip().endswith(f" import {wanted}"):
                    module = line.split()[1]
                    found[wanted] = getattr(__import__(module, fromlist=[wanted]), wanted)
    return found


def reference() -> str:
    """The whole reference."""
    lines = ["### Opening", "", *_entry("open_memory", open_memory)]
    lines += ["### Holdfast", "", inspect.cleandoc(Holdfast.__doc__ or ""), ""]
    for name, method in _methods(Holdfast):
        lines += _entry(f"memory.{name}", method)
    for name, owner, purpose in [("search", Search, "Recall with every option."), *_parts()]:
        lines += [f"### memory.{name}", "", inspect.cleandoc(purpose), ""]
        for method_name, method in _methods(owner):
            lines += _entry(f"memory.{name}.{method_name}", method)
    return "\n".join(lines).rstrip()
