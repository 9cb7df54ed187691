"""What each route requires of a key: its level, and whether it must be for every bank.

Operations say it themselves; pages and the few other routes are listed here, and what is not listed
requires an admin key for every bank. Which banks a request can read or change within a route is
enforced by the store itself (`store/sqlite/fence`), so single banks do not appear here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant
from starlette.types import Scope

from holdfast.errors import ForbiddenError, unknown_name
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.operations.operation import Operation
from holdfast.operations.registry import NOT_OFFERED, all_operations, find_operation
from holdfast.principal import Level, Principal


class Permission(NamedTuple):
    """What a route requires; `all_banks` for one that concerns all banks or the machine."""

    level: Level = Level.ADMIN
    all_banks: bool = True


UNLISTED = Permission()
_READ = Permission(Level.READ, all_banks=False)
_READ_ALL = Permission(Level.READ, all_banks=True)

API_PREFIX = "/api/v1"
_PAGES: dict[Permission, str] = {
    _READ: """
        POST /graphql /mcp /ask
        DELETE /mcp
        GET / /search /sessions /sessions/{name} /sessions/{name}/msg /sessions/{name}/msg/{n}
        GET /record/{word}/{id:path} /record/{word}/{id:path}/place
        GET /memory /open /entities /timeline /repos /review /banks /banks/{id} /brief
        GET /sessions/{name}/injected
        GET /api/v1/research/{id}/events
        POST /api/v1/research
        GET /research/{id}
        POST /research/{id}/cancel /research/{id}/remove /do/several
    """,
    _READ_ALL: """
        GET /status
    """,
}
# The operations that pages have forms for; a form requires what its operation does.
FORMS = (
    "retain", "correct", "forget", "restore", "merge", "confirm", "undo", "purge", "judge",
    "review decide", "review adopt", "promote approve", "promote reject", "bank set",
    "research useful",
)  # fmt: skip
# These need no key.
PUBLIC_ROUTES = ("GET /enter", "GET /login", "POST /login", "POST /logout")


def permission_of(operation: Operation) -> Permission:
    """What an operation requires."""
    return Permission(operation.level, operation.all_banks)


@cache
def permissions() -> dict[str, Permission]:
    """What each route requires."""
    listed: dict[str, Permission] = {}
    for permit, text in _PAGES.items():
        for line in filter(None, map(str.split, text.splitlines())):
            listed |= {f"{line[0]} {path}": permit for path in line[1:]}
    for one in all_operations():
        if one.name not in NOT_OFFERED["rest"]:
            listed[one.rest.replace(" ", f" {API_PREFIX}", 1)] = permission_of(one)
    return listed | {f"POST /do/{one.id}": permission_of(one) for one in map(find_operation, FORMS)}


def route_of(scope: Scope) -> str:
    """The route of a request: its method and the pattern of its path; "" if none matched."""
    path = getattr(scope.get("route"), "path", "")
    return f"{scope['method']} {path}" if path else ""


def check(permit: Permission, who: Principal) -> None:
    """Raise `ForbiddenError` if `who` lacks a permission."""
    if not who.level.includes(permit.level):
        raise ForbiddenError(
            "This key does not permit that.", f"A key of level {permit.level.value!r} is needed."
        )
    if permit.all_banks and who.banks is not None:
        raise ForbiddenError("This key is for some banks.", "A key for all banks is needed.")


async def check_route(request: Request) -> None:
    """Check that the principal of a request may use its route."""
    route = route_of(request.scope)
    if route not in PUBLIC_ROUTES:
        check(permissions().get(route, UNLISTED), principal())


async def check_query_names(request: Request) -> None:
    """Raise `InputError` for a parameter in the address that the route does not have: one that is
    ignored would look like one that was obeyed."""
    if request.query_params:
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


class PermittedRouter(APIRouter):
    """A router whose routes check the principal, and then so much more. They have all that they
    need, so that they can be put into an application as they are: the framework would build those
    of a router that is included a second time, which takes long."""

    def __init__(self, prefix: str = "", *checks: Callable[..., Any], **options: Any) -> None:
        every = [Depends(one) for one in (check_route, *checks)]
        super().__init__(prefix=prefix, dependencies=every, **options)


class CheckedRouter(PermittedRouter):
    """One that also checks the names of parameters in the address, for routes that declare them to
    the framework."""

    def __init__(self, prefix: str = "") -> None:
        super().__init__(prefix, check_query_names)
