"""The names that a route accepts, in its address and in its body. Any other name is refused: a
parameter that is ignored looks like one that was obeyed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, get_args

from fastapi import Request
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel

from holdfast.errors import InputError, unknown_name


async def check_query_names(request: Request) -> None:
    """Raise `InputError` for a parameter in the address that the route does not have."""
    if not request.query_params:
        return
    route: Any = request.scope["route"]
    known = list(dict.fromkeys(query_names(route.dependant)))
    for given in request.query_params:
        if given not in known:
            raise unknown_name("There is no parameter", given, known)


def query_names(dependant: Dependant) -> Iterator[str]:
    """The parameters in the address that a route and what it depends on read."""
    yield from (field.alias for field in dependant.query_params)
    for within in dependant.dependencies:
        yield from query_names(within)


def unknown_field(route: Any, errors: Sequence[Any]) -> InputError | None:
    """The error for the first field of a body that the route does not have, if there is one among
    the errors of its validation."""
    for one in errors:
        if one["type"] == "extra_forbidden" and one["loc"][0] == "body":
            *within, given = (part for part in one["loc"][1:] if isinstance(part, str))
            return unknown_name("There is no field", given, _field_names(route.body_field, within))
    return None


def _field_names(body: Any, within: Sequence[str]) -> list[str]:
    """The fields of the body, or of the model at a path within it."""
    models = _models(body.field_info.annotation)
    for name in within:
        models = [
            model
            for outer in models
            if name in _fields(outer)
            for model in _models(_fields(outer)[name])
        ]
    return [name for model in models for name in _fields(model)]


@cache
def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _models(kind: Any) -> list[type[BaseModel]]:
    """The models that a type consists of: itself, or those in its list or its union."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    return [model for one in get_args(kind) for model in _models(one)]
