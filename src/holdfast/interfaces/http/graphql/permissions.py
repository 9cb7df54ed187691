"""What GraphQL mutations require of a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphql import GraphQLResolveInfo
from strawberry.extensions import SchemaExtension

from holdfast.errors import ForbiddenError, HoldfastError, StoreError
from holdfast.interfaces.http.auth import permissions
from holdfast.interfaces.http.core.request_principal import principal

_MUTATION_TYPE = "Mutation"


class PermissionCheck(SchemaExtension):
    """Checks every mutation, under whatever alias or fragment it is called."""

    def resolve(
        self,
        _next: Callable[..., Any],
        root: Any,
        info: GraphQLResolveInfo[Any],
        *args: str,
        **kwargs: Any,
    ) -> Any:
        """Resolve a field if that is allowed."""
        if info.parent_type.name == _MUTATION_TYPE:
            permissions.check(
                permissions.MUTATIONS.get(info.field_name, permissions.UNLISTED), principal()
            )
        return _next(root, info, *args, **kwargs)


def error_code(error: HoldfastError) -> str:
    """The code of an error in `extensions`."""
    if isinstance(error, ForbiddenError):
        return permissions.NOT_PERMITTED
    return "unavailable" if isinstance(error, StoreError) else "bad_input"
