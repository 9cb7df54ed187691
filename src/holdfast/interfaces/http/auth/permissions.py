"""What each route requires of a key: its level, and whether it must be for every bank.

A route that is not listed here requires an admin key for every bank, so a new route must be
entered. Which banks a request can read or change within a route is enforced by the store itself
(`store/access_fence`), so single banks do not appear here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from fastapi import APIRouter, Depends, Request, params
from starlette.types import Scope

from holdfast.errors import ForbiddenError
from holdfast.interfaces.http.core.known_parameters import check_query_names
from holdfast.interfaces.http.core.request_principal import principal
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
_REST: dict[Permission, str] = {
    _READ: """
        GET /me
        POST /ask /shares/recall
        GET /recall /find /timeline /who /team /brief /handoff
        GET /records/{id:path} /records/{id:path}/path /decisions
        GET /facts /concepts /concepts/{id:path} /keywords /keywords/leads
        GET /entities /entities/about
        GET /opinions /memories /exchanges /commits /audit
        GET /sessions /sessions/{id} /sessions/{id}/messages /sessions/{id}/exchanges
        GET /rules/learning /rules/candidates /reviews
        GET /banks /banks/{name:path} /injections
        GET /research /research/{id} /research/{id}/events
        POST /research /research/{id}/cancel
        DELETE /research/{id}
    """,
    _WRITE: """
        POST /reflect /undo /shares
        POST /records/{id:path}/correct /records/{id:path}/forget
        POST /records/{id:path}/restore /records/{id:path}/merge /records/{id:path}/confirm
        POST /research/{id}/useful /verdicts
        POST /memories /memories/retain /entities/merge /entities/split
        POST /rules/candidates/{id}/reject /reviews/{id}/decide
    """,
    _ADMIN: """
        GET /records/{id:path}/purge
        POST /records/{id:path}/purge
        PATCH /banks/{name:path}
    """,
    _READ_ALL: """
        GET /status /cost /worth
    """,
    UNLISTED: """
        GET /doctor /imports /pulls /backups /providers
        POST /imports/{id}/undo /pulls/{id}/undo /backups
        POST /doctor/fix /ingest /scrub
        POST /rules /rules/promote /rules/candidates/{id}/approve
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
# These need no key.
_PUBLIC = """
    GET /enter /health /login
    POST /login /logout
"""


def _parse_routes(text: str, prefix: str = "") -> list[str]:
    lines = (line.split() for line in text.splitlines() if line.strip())
    return [f"{method} {prefix}{path}" for method, *paths in lines for path in paths]


PERMISSIONS: dict[str, Permission] = {
    route: permit
    for table, prefix in ((_REST, API_PREFIX), (_PAGES, ""))
    for permit, text in table.items()
    for route in _parse_routes(text, prefix)
}
PUBLIC_ROUTES = frozenset(_parse_routes(_PUBLIC))
# The mutations of GraphQL by field; queries require what `POST /graphql` does.
MUTATIONS: dict[str, Permission] = {
    "searchMemory": _READ,
    **dict.fromkeys(
        "remember retain correct forget restore judge merge mergeEntities splitEntity undo".split(),
        _WRITE,
    ),
}


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
        check(PERMISSIONS.get(route, UNLISTED), principal())


class CheckedRouter(APIRouter):
    """A router whose routes check the principal and the names of their parameters. Its routes have
    all that they need, so that they can be put into an application as they are: the framework would
    build those of a router that is included a second time, which took a quarter of the time that a
    server takes to start."""

    def __init__(
        self, prefix: str = "", dependencies: Sequence[params.Depends] = (), **options: Any
    ) -> None:
        checks = [Depends(check_route), Depends(check_query_names)]
        super().__init__(prefix=prefix, dependencies=[*checks, *dependencies], **options)
