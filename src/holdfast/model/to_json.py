"""Records as JSON values: the form in which every interface returns them to programs."""

from __future__ import annotations

from enum import Enum
from typing import Any, cast

from holdfast.lazy_dataclass import field_names

# Most values of a record are these, and what is JSON already is of these and of dicts and lists.
# Telling them by their class first makes the answer to a recall in a third of the time.
_SCALARS = frozenset((str, int, float, bool, type(None)))


def to_jsonable(value: object) -> Any:
    """The value as dicts, lists and scalars; an enum becomes its value, a record a dict."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, dict):
        return {str(key): to_jsonable(item) for key, item in cast(dict[Any, Any], value).items()}
    if type(value) is list:
        return [to_jsonable(item) for item in cast(list[Any], value)]
    if isinstance(value, Enum):
        return value.value
    names = field_names(type(value))
    if names is not None:
        return {name: to_jsonable(getattr(value, name)) for name in names}
    if isinstance(value, tuple) and hasattr(cast(Any, value), "_asdict"):
        return to_jsonable(cast(Any, value)._asdict())
    if isinstance(value, list | tuple | set | frozenset):
        return [to_jsonable(item) for item in cast(list[Any], value)]
    return value
