"""What each route requires of a key: its level, and whether it must be for every bank.

Operations say it themselves; pages and the few other routes are listed here, and what is not listed
requires an admin key for every bank. Which banks a request can read or change within a route is
enforced by the store itself (`store/access_fence`), so single banks do not appear here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from fastapi import APIRouter, Depends, Request, params
from starlette.types import Scope

from holdfast.errors import ForbiddenError
from holdfast.interfaces.http.core.known_parameters import check_query_names
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.operations.operation import Operation
from holdfast.operations.registry import NOT_OFFERED, all_operations
from holdfast.principal import Level, Principal


class Permission(NamedTuple):
    """What a route requires; `all_banks` for one that concerns all banks or the machine."""

    level: Level = Level.ADMIN
    all_banks: bool = True


NOT_PERMITTED = "not_permitted"
UNLISTED = Permission()
_READ = Permission(Level.READ, all_banks=False)
_WRITE = Permission(Level.WRITE, all_banks=False)
_ADMIN = Permission(Level.ADMIN, all_banks=False)
_READ_ALL = Permission(Level.READ, all_banks=True)

API_PREFIX = "/api/v1"
# What is no operation: research that is followed while it goes on.
_REST: dict[Permission, str] = {
    _READ: """
        GET /research/{id}/events
        POST /research
    """,
}
_PAGES: dict[Permission, str] = {
    _READ: """
        POST /graphql /mcp /ask
        DELETE /mcp
        GET / /search /sessions /sessions/{name} /sessions/{name}/msg /sessions/{name}/msg/{n}
        GET /record/{word}/{id:path} /record/{word}/{id:path}/place
        GET /memory /open /entities /timeline /repos /review /banks /banks/{id} /brief
        GET /sessions/{name}/injected
        GET /research/{id}
        POST /research/{id}/cancel /research/{id}/remove /review/preview
    """,
    _WRITE: """
        POST /memory/remember /memory/correct /memory/forget /memory/restore /memory/merge
        POST /memory/holds /memory/undo
        POST /review/reject /review/keep /review/retire /review/reword /review/confirm
        POST /review/drop /review/several /research/{id}/useful /brief/judge
    """,
    _ADMIN: """
        GET /memory/purge
        POST /memory/purge /banks/{id}
    """,
    _READ_ALL: """
        GET /status /metrics
    """,
    UNLISTED: """
        POST /review/approve
    """,
}
# What HTTP does not offer. Some operations have routes that are written by hand.
_NOWHERE = NOT_OFFERED["rest"].keys() & NOT_OFFERED["graphql"].keys()
# These need no key.
_PUBLIC = """
    GET /enter /health /login
    POST /login /logout
"""


def _parse_routes(text: str, prefix: str = "") -> list[str]:
    lines = (line.split() for line in text.splitlines() if line.strip())
    return [f"{method} {prefix}{path}" for method, *paths in lines for path in paths]


def permission_of(operation: Operation) -> Permission:
    """What an operation requires."""
    return Permission(operation.level, operation.all_banks)


@cache
def permissions() -> dict[str, Permission]:
    """What each route requires."""
    offered = (one for one in all_operations() if not _NOWHERE & {one.name})
    return {
        route: permit
        for table, prefix in ((_REST, API_PREFIX), (_PAGES, ""))
        for permit, text in table.items()
        for route in _parse_routes(text, prefix)
    } | {one.rest.replace(" ", f" {API_PREFIX}", 1): permission_of(one) for one in offered}


PUBLIC_ROUTES = frozenset(_parse_routes(_PUBLIC))


def route_of(scope: Scope) -> str:
    """The route of a request: its method and the pattern of its path; "" if none matched."""
    path = getattr(scope.get("route"), "path", "")
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    return f"{method} {path}" if path else ""


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


class PermittedRouter(APIRouter):
    """A router whose routes check the principal. Its routes have all that they need, so that they
    can be put into an application as they are: the framework would build those of a router that is
    included a second time, which took a quarter of the time that a server takes to start."""

    def __init__(
        self, prefix: str = "", dependencies: Sequence[params.Depends] = (), **options: Any
    ) -> None:
        checks = [Depends(check_route), *dependencies]
        super().__init__(prefix=prefix, dependencies=checks, **options)


class CheckedRouter(PermittedRouter):
    """One that also checks the names of parameters in the address, for routes that declare them to
    the framework."""

    def __init__(
        self, prefix: str = "", dependencies: Sequence[params.Depends] = (), **options: Any
    ) -> None:
        super().__init__(prefix, [Depends(check_query_names), *dependencies], **options)
