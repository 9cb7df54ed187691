"""The REST API under `/api/v1`: what the command line can do, for programs, one module for each
kind of thing.

To add a route: write a function of the memory in a module here (a new module goes into `PARTS`
below) and make it a route with `router.task`; its summary and its docstring are shown in the
OpenAPI description, and its name is part of the operation id. Enter it in
`interfaces/http/auth/permissions`.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends

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
from holdfast.interfaces.http.api.requests import ERRORS, check_write_request

PREFIX = "/api/v1"
PARTS = (search, records, knowledge, sessions, rules, banks, health, research, shares, admin)


def make_router() -> APIRouter:
    """The router of all modules."""
    router = APIRouter(prefix=PREFIX, dependencies=[Depends(check_write_request)], responses=ERRORS)
    for part in PARTS:
        router.include_router(part.router)
    return router
