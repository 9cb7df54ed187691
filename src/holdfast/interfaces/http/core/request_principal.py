"""In whose name a request is carried out.

The guard says it once, before anything else runs; the desk, which everything goes through, asks for
it. It belongs to the request and to what the request starts, not to a thread. Where nobody said it,
nothing is done.
"""

from __future__ import annotations

from contextvars import ContextVar

from holdfast.app.curation.curating import this_user
from holdfast.errors import ForbiddenError
from holdfast.principal import Principal

_ASKING: ContextVar[Principal | None] = ContextVar("holdfast_principal", default=None)


def owner() -> Principal:
    """Whoever runs this program: they may do everything."""
    return Principal(this_user())


def carry_out_as(principal: Principal) -> None:
    """From here on, whatever this request does is done in that name."""
    _ASKING.set(principal)


def principal() -> Principal:
    """In whose name the request is carried out that this is called for."""
    found = _ASKING.get()
    if found is None:
        raise ForbiddenError("Nobody asks for this.", "Show a key.")
    return found
