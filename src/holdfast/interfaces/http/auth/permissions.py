"""What each way into the server takes: how much a key must allow, and whether for every bank.

This list and the fence around the store (`store.fenced`) are two walls. A way that is not listed
is for those alone who may do everything: whoever adds one says here what it takes. What a way finds
or changes within the banks of a key is held in by the fence, so single banks are not told of here.
"""

from __future__ import annotations

from typing import NamedTuple

from fastapi import Request
from starlette.types import Scope

from holdfast.errors import ForbiddenError
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.principal import Level, Principal


class Permit(NamedTuple):
    """What a way takes; `whole` tells that it is about all banks at once, or about the machine."""

    level: Level = Level.ADMIN
    whole: bool = True


NOT_PERMITTED = "not_permitted"
UNLISTED = Permit()
_READ = Permit(Level.READ, whole=False)
_WRITE = Permit(Level.WRITE, whole=False)
_ADMIN = Permit(Level.ADMIN, whole=False)
_LOOK = Permit(Level.READ, whole=True)

_API = "/api/v1"
_REST: dict[Permit, str] = {
    _READ: """
        GET /me
        POST /ask /shares/recall
        GET /recall /find /timeline /who /team /brief /handoff
        GET /records/{id:path} /records/{id:path}/path /decisions
        GET /facts /concepts /concepts/{id:path} /keywords /keywords/leads
        GET /entities /entities/about /entities/communities
        GET /opinions /memories /exchanges /commits /audit
        GET /sessions /sessions/{id} /sessions/{id}/messages /sessions/{id}/exchanges
        GET /rules/learning /rules/candidates /reviews
        GET /banks /banks/{name:path} /injections
        GET /research /research/{id} /research/{id}/events /live
        POST /research /research/{id}/cancel
        DELETE /research/{id}
    """,
    _WRITE: """
        POST /reflect /undo /shares
        POST /records/{id:path}/correct /records/{id:path}/forget
        POST /records/{id:path}/restore /records/{id:path}/merge /records/{id:path}/confirm
        POST /research/{id}/useful
        POST /memories /memories/retain /entities/merge /entities/split
        POST /rules/candidates/{id}/reject /reviews/{id}/decide
    """,
    _ADMIN: """
        GET /records/{id:path}/purge
        POST /records/{id:path}/purge
        PATCH /banks/{name:path}
    """,
    _LOOK: """
        GET /status /cost /worth /digest
    """,
    UNLISTED: """
        GET /doctor /imports /pulls /backups /providers
        POST /imports/{id}/undo /pulls/{id}/undo /backups
        POST /doctor/fix /ingest /scrub
        POST /rules /rules/promote /rules/candidates/{id}/approve
    """,
}
_PAGES: dict[Permit, str] = {
    _READ: """
        POST /graphql /mcp /ask
        DELETE /mcp
        GET / /search /sessions /sessions/{name} /sessions/{name}/msg /sessions/{name}/msg/{n}
        GET /record/{word}/{id:path} /record/{word}/{id:path}/place
        GET /memory /open /graph /timeline /repos /review /banks /banks/{id}
        GET /research/{id}
        POST /research/{id}/cancel /research/{id}/remove /review/preview
    """,
    _WRITE: """
        POST /memory/remember /memory/correct /memory/forget /memory/restore /memory/merge
        POST /memory/holds /memory/undo
        POST /review/reject /review/keep /review/retire /review/reword /review/confirm
        POST /review/drop /research/{id}/useful
    """,
    _ADMIN: """
        GET /memory/purge
        POST /memory/purge /banks/{id}
    """,
    _LOOK: """
        GET /status /worth /metrics
    """,
    UNLISTED: """
        POST /review/approve
    """,
}
# Whoever is not in yet may go there.
_DOORS = """
    GET /enter /health /login
    POST /login /logout
"""


def _ways(text: str, prefix: str = "") -> list[str]:
    lines = (line.split() for line in text.splitlines() if line.strip())
    return [f"{method} {prefix}{path}" for method, *paths in lines for path in paths]


PERMITS: dict[str, Permit] = {
    way: permit
    for table, prefix in ((_REST, _API), (_PAGES, ""))
    for permit, text in table.items()
    for way in _ways(text, prefix)
}
DOORS = frozenset(_ways(_DOORS))
# Of the graph, by field; what only looks is as `POST /graphql` itself.
MUTATIONS: dict[str, Permit] = {
    "searchMemory": _READ,
    **dict.fromkeys(
        "remember retain correct forget restore merge mergeEntities splitEntity undo".split(),
        _WRITE,
    ),
}


def way_of(scope: Scope) -> str:
    """The way that a request took: its method, and the pattern of its path. "" for none."""
    inside = scope.get("fastapi", {}).get("effective_route_context")
    path = getattr(inside or scope.get("route"), "path", "")
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    return f"{method} {path}" if path else ""


def check(permit: Permit, who: Principal) -> None:
    """Refuse what somebody may not."""
    if not who.level.includes(permit.level):
        raise ForbiddenError(
            "This key may not do that.", f"It takes one of the level {permit.level.value!r}."
        )
    if permit.whole and who.banks is not None:
        raise ForbiddenError("This key is for some banks.", "This takes one for every bank.")


async def check_way(request: Request) -> None:
    """Hold a request against what its way takes."""
    way = way_of(request.scope)
    if way not in DOORS:
        check(PERMITS.get(way, UNLISTED), principal())
