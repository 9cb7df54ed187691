"""The principal of the current request: in whose name it runs.

The guard sets it before anything else runs, and the memory pool, which every task goes through,
reads it. It belongs to the request and the tasks that the request starts, not to a thread. Without
a principal nothing runs.
"""

from __future__ import annotations

from contextvars import ContextVar

from holdfast.app.core.context import current_user
from holdfast.errors import ForbiddenError
from holdfast.model.curation import person_name
from holdfast.principal import Principal

_PRINCIPAL: ContextVar[Principal | None] = ContextVar("holdfast_principal", default=None)


def owner() -> Principal:
    """The user who runs this program and may do everything."""
    return Principal(current_user())


def author(channel: str) -> str:
    """The author of a change, as the log of decisions names it: who, and by which interface."""
    return f"{person_name(principal().label)} ({channel})"


def set_principal(principal: Principal) -> None:
    """Run the rest of this request in the name of `principal`."""
    _PRINCIPAL.set(principal)


def principal() -> Principal:
    """The principal of the current request; raises `ForbiddenError` if there is none."""
    found = _PRINCIPAL.get()
    if found is None:
        raise ForbiddenError("The request has no key.", "Send one.")
    return found


def is_key_holder() -> bool:
    """Whether this request came with a key of a team server, not from the owner of the memory."""
    found = _PRINCIPAL.get()
    return found is not None and bool(found.key)
