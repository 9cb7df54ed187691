"""`/api/v1`: what the command line can do, for programs. One module a noun."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from holdfast.interfaces.http.api import (
    admin,
    banks,
    health,
    knowledge,
    me,
    records,
    research,
    rules,
    search,
    sessions,
    shares,
)
from holdfast.interfaces.http.api.requests import ERRORS, check_write_request

PREFIX = "/api/v1"
PARTS = (search, records, knowledge, sessions, rules, banks, health, me, research, shares, admin)


def make_router() -> APIRouter:
    """All of it."""
    router = APIRouter(prefix=PREFIX, dependencies=[Depends(check_write_request)], responses=ERRORS)
    for part in PARTS:
        router.include_router(part.router)
    return router
