"""The REST API under `/api/v1`: what the command line can do, for programs, one module for each
kind of thing.

To add a route: write a function of the memory in a module here (a new module goes into `PARTS`
below) and make it a route with `router.task`; its summary and its docstring are shown in the
OpenAPI description, and its name is part of the operation id. Enter it in
`interfaces/http/auth/permissions`.
"""

from __future__ import annotations

from holdfast.interfaces.http.api import (
    admin,
    banks,
    health,
    knowledge,
    records,
    research,
    rules,
    search,
    sessions,
    shares,
)

PARTS = (search, records, knowledge, sessions, rules, banks, health, research, shares, admin)
ROUTERS = tuple(part.router for part in PARTS)
