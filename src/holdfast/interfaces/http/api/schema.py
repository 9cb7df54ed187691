"""Pydantic models of our records, for the OpenAPI description.

A record is sent with a field for each of its own. Pydantic would describe a named tuple as a list,
so a model with the same fields is made from each type.
"""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model


@cache
def model_of(kind: type, name: str = "") -> type[BaseModel]:
    """The model of a frozen dataclass or a named tuple."""
    hints = get_type_hints(kind)
    bare = cast(Any, kind)
    names = [f.name for f in fields(bare)] if is_dataclass(bare) else list(bare._fields)
    shape = _required({field: hints[field] for field in names})
    return create_model(name or kind.__name__, __doc__=kind.__doc__, **shape)


@cache
def model_with_uri(kind: type, *without: str) -> type[BaseModel]:
    """The model of a record with its URI, and without some of its fields."""
    bare = model_of(kind)
    shape: dict[str, Any] = {
        name: (field.annotation, ...)
        for name, field in bare.model_fields.items()
        if name not in without
    }
    return create_model(f"{kind.__name__}Record", __doc__=kind.__doc__, uri=(str, ...), **shape)


@cache
def page_model(items: str, model: Any, /, **beside: Any) -> type[BaseModel]:
    """The model of one page of a list: its items and the next cursor."""
    shape: dict[str, Any] = {items: (list[model], ...), "cursor": (str | None, ...)}
    shape.update({name: (kind, ...) for name, kind in beside.items()})
    item_name = getattr(model, "__name__", "").removesuffix("Record") or items.title()
    return create_model(f"{item_name}Page", __doc__="Some of a list.", **shape)


@cache
def open_model(name: str, doc: str = "", /, **shape: Any) -> type[BaseModel]:
    """A model with these fields, which allows further ones."""
    config = ConfigDict(extra="allow")
    return create_model(name, __config__=config, __doc__=doc or None, **_required(shape))


def extend_model(
    base: type[BaseModel], name: str, doc: str = "", /, **shape: Any
) -> type[BaseModel]:
    """A model with the fields of another and more."""
    return create_model(name, __base__=base, __doc__=doc or base.__doc__, **_required(shape))


def _required(shape: dict[str, Any]) -> dict[str, Any]:
    return {field: (_schema_type(kind), ...) for field, kind in shape.items()}


def _schema_type(hint: Any) -> Any:
    """A type in which our records are replaced by their models."""
    if isinstance(hint, type):
        kind: Any = cast(Any, hint)
        return model_of(kind) if is_dataclass(kind) or hasattr(kind, "_fields") else kind
    origin, within = get_origin(hint), tuple(map(_schema_type, get_args(hint)))
    if origin in (Union, types.UnionType):
        return Union[within]  # noqa: UP007 - made of what is known only now
    if origin in (tuple, list, frozenset, set):
        return list[within[0]]
    if origin is dict:
        return dict[str, within[1]]
    return hint
