"""The names that a route accepts in its address. Any other name is refused: a parameter that is
ignored looks like one that was obeyed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import Request
from fastapi.dependencies.models import Dependant

from holdfast.errors import unknown_name


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
