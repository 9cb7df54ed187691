"""Who may change what through the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphql import GraphQLResolveInfo
from strawberry.extensions import SchemaExtension

from holdfast.errors import ForbiddenError, HoldfastError, StoreError
from holdfast.interfaces.http.auth import permissions
from holdfast.interfaces.http.core.request_principal import principal

_CHANGES = "Mutation"


class Permitted(SchemaExtension):
    """Holds every change against what it takes, whatever fragment or name it comes under."""

    def resolve(
        self,
        _next: Callable[..., Any],
        root: Any,
        info: GraphQLResolveInfo[Any],
        *args: str,
        **kwargs: Any,
    ) -> Any:
        """Go on, if that is allowed."""
        if info.parent_type.name == _CHANGES:
            permissions.check(
                permissions.MUTATIONS.get(info.field_name, permissions.UNLISTED), principal()
            )
        return _next(root, info, *args, **kwargs)


def code_of(error: HoldfastError) -> str:
    """What an error is called in `extensions`."""
    if isinstance(error, ForbiddenError):
        return permissions.NOT_PERMITTED
    return "unavailable" if isinstance(error, StoreError) else "bad_input"
