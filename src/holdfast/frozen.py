"""Frozen records that cost next to nothing to define.

To define one frozen dataclass takes about a millisecond, nearly all of it to write and compile
methods; a question defines some forty of them and makes records of a few. So one becomes a
dataclass when the first of its records is made, or somebody asks for its fields. To whoever uses
or checks them these are the dataclasses of the standard library.
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
    # Most records are made and never compared or shown.
    _MAKING: dict[str, bool] = {"repr": False, "eq": False, "frozen": True}
    _TELLING: dict[str, bool] = {"init": False, "frozen": True}
    _NEITHER: dict[str, bool] = {"init": False, "repr": False, "eq": False}
    _OWN = ("__dict__", "__weakref__")

    def dataclass(*, frozen: bool, slots: bool) -> Callable[[type], type]:
        """`dataclasses.dataclass` for a class that stands alone, frozen and with slots."""
        if not (frozen and slots):
            raise TypeError("Only frozen classes with slots can wait for their methods.")
        return _define

    def _define(cls: type) -> type:
        """The class with slots, and with stand-ins for what a dataclass has."""
        bare = {name: value for name, value in vars(cls).items() if name not in _OWN}
        names = tuple(bare["__annotations__"])
        space = {name: value for name, value in bare.items() if name not in names}
        space.update(_SAME, __slots__=names, __match_args__=names, __qualname__=cls.__qualname__)
        space.update((name, _stand_in(bare, name)) for name in _METHODS)
        space[_FIELDS] = _Fields(bare)
        return type(cls.__name__, (), space)

    def _complete(cls: type, bare: dict[str, Any], how: dict[str, bool]) -> None:
        """Put real things in the place of stand-ins."""
        real = dataclasses.dataclass(**how)(type(cls.__name__, (), dict(bare)))
        wanted = _METHODS[:1] if how is _MAKING else _METHODS[1:] if how is _TELLING else ()
        for name in (*wanted, _FIELDS):
            setattr(cls, name, vars(real)[name])

    def _stand_in(bare: dict[str, Any], name: str) -> Callable[..., Any]:
        def method(self: Any, *given: Any, **named: Any) -> Any:
            _complete(type(self), bare, _MAKING if name == "__init__" else _TELLING)
            return getattr(type(self), name)(self, *given, **named)

        return method

    class _Fields:
        """Stands for the fields of a class until somebody asks."""

        def __init__(self, bare: dict[str, Any]) -> None:
            self._bare = bare

        def __get__(self, record: object, cls: type) -> Any:
            _complete(cls, self._bare, _NEITHER)
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

    _SAME = {
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _get_state,
        "__setstate__": _set_state,
    }
