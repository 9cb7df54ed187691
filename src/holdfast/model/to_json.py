"""Records as JSON values: the form in which every interface returns them to programs."""

from __future__ import annotations

from enum import Enum
from typing import Any, cast

from holdfast.lazy_dataclass import field_names


def to_jsonable(value: object) -> Any:
    """The value as dicts, lists and scalars; an enum becomes its value, a record a dict."""
    if isinstance(value, Enum):
        return value.value
    names = field_names(type(value))
    if names is not None:
        return {name: to_jsonable(getattr(value, name)) for name in names}
    if isinstance(value, tuple) and hasattr(cast(Any, value), "_asdict"):
        return to_jsonable(cast(Any, value)._asdict())
    if isinstance(value, dict):
        return {str(key): to_jsonable(item) for key, item in cast(dict[Any, Any], value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_jsonable(item) for item in cast(list[Any], value)]
    return value
