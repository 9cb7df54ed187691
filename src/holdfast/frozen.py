"""Frozen dataclasses whose methods are made on first use.

Defining one frozen dataclass takes about a millisecond, nearly all of it to generate and compile
methods. A question defines some forty of them and uses a few. So a class becomes a dataclass when
its first record is made, or when its fields are read. To type checkers and to users they are
dataclasses of the standard library.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    _METHODS = ("__init__", "__repr__", "__eq__", "__hash__")
    _FIELDS = "__dataclass_fields__"
    # Most records are only made, never compared or printed.
    _FOR_INIT: dict[str, bool] = {"repr": False, "eq": False, "frozen": True}
    _FOR_COMPARING: dict[str, bool] = {"init": False, "frozen": True}
    _FIELDS_ONLY: dict[str, bool] = {"init": False, "repr": False, "eq": False}
    _NOT_COPIED = ("__dict__", "__weakref__")

    def dataclass(*, frozen: bool, slots: bool) -> Callable[[type], type]:
        """`dataclasses.dataclass` for a class without bases, frozen and with slots."""
        if not (frozen and slots):
            raise TypeError("Only frozen classes with slots can have lazy methods.")
        return _define

    def _define(cls: type) -> type:
        """The class with slots, and with lazy methods in place of those of a dataclass."""
        bare = {name: value for name, value in vars(cls).items() if name not in _NOT_COPIED}
        names = tuple(bare["__annotations__"])
        space = {name: value for name, value in bare.items() if name not in names}
        space.update(
            _SHARED_METHODS, __slots__=names, __match_args__=names, __qualname__=cls.__qualname__
        )
        space.update((name, _lazy_method(bare, name)) for name in _METHODS)
        space[_FIELDS] = _LazyFields(bare)
        return type(cls.__name__, (), space)

    def _complete(cls: type, bare: dict[str, Any], options: dict[str, bool]) -> None:
        """Replace lazy methods and fields by those of a real dataclass."""
        real = dataclasses.dataclass(**options)(type(cls.__name__, (), dict(bare)))
        made = () if options is _FIELDS_ONLY else _METHODS[1:]
        made = _METHODS[:1] if options is _FOR_INIT else made
        for name in (*made, _FIELDS):
            setattr(cls, name, vars(real)[name])

    def _lazy_method(bare: dict[str, Any], name: str) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            _complete(type(self), bare, _FOR_INIT if name == "__init__" else _FOR_COMPARING)
            return getattr(type(self), name)(self, *args, **kwargs)

        return method

    class _LazyFields:
        """The fields of a class, made when they are first read."""

        def __init__(self, bare: dict[str, Any]) -> None:
            self._bare = bare

        def __get__(self, record: object, cls: type) -> Any:
            _complete(cls, self._bare, _FIELDS_ONLY)
            return vars(cls)[_FIELDS]

    def _refuse_to_set(self: object, name: str, value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self: object, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _get_state(self: Any) -> list[Any]:
        return [getattr(self, name) for name in self.__slots__]

    def _set_state(self: Any, state: list[Any]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            object.__setattr__(self, name, value)

    _SHARED_METHODS = {
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _get_state,
        "__setstate__": _set_state,
    }
