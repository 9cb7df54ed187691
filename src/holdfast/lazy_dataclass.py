"""Frozen dataclasses whose methods are made on first use.

Defining one frozen dataclass takes about a millisecond, nearly all of it to generate and compile
methods. A question defines some forty of them and uses a few. So a class becomes a dataclass when
its first record is made, or when its fields are read. To type checkers and to users they are
dataclasses of the standard library, whose module is imported only where a record is compared,
printed or asked for its fields: it takes as long to import as ten modules of ours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

_FIELDS = "__dataclass_fields__"

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
    from typing import Any
else:
    _METHODS = ("__init__", "__repr__", "__eq__", "__hash__")
    # Compiling `__init__` takes as long as this many calls that read the fields one by one.
    _UNCOMPILED_CALLS = 50
    _FOR_COMPARING: dict[str, bool] = {"init": False, "frozen": True}
    _FIELDS_ONLY: dict[str, bool] = {"init": False, "repr": False, "eq": False}
    _NOT_COPIED = ("__dict__", "__weakref__")
    _MISSING = object()
    # The default and the factory of a field that has neither.
    _REQUIRED = (_MISSING, _MISSING)

    class _LazyField:
        """The arguments of `dataclasses.field`."""

        def __init__(self, options: dict[str, Any]) -> None:
            self.options = options
            self.default = options.get("default", _MISSING)
            self.factory = options.get("default_factory", _MISSING)

    def field(**options: Any) -> Any:
        """`dataclasses.field`, for the classes of this module."""
        return _LazyField(options)

    def replace(record: Any, /, **changes: Any) -> Any:
        """`dataclasses.replace`, for records of any dataclass."""
        cls = type(record)
        if "__lazy_dataclass__" not in vars(cls):
            import dataclasses

            return dataclasses.replace(record, **changes)
        return cls(**{name: getattr(record, name) for name in cls.__slots__} | changes)

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
        space.update((name, _lazy_method(bare, name)) for name in _METHODS[1:])
        space["__init__"] = _lazy_init(bare)
        space[_FIELDS] = _LazyFields(bare)
        space["__lazy_dataclass__"] = True
        return type(cls.__name__, (), space)

    def _complete(cls: type, bare: dict[str, Any], options: dict[str, bool]) -> None:
        """Replace lazy methods and fields by those of a real dataclass."""
        import dataclasses

        space = {
            name: dataclasses.field(**value.options) if isinstance(value, _LazyField) else value
            for name, value in bare.items()
        }
        real = dataclasses.dataclass(**options)(type(cls.__name__, (), space))
        for name in (*(() if options is _FIELDS_ONLY else _METHODS[1:]), _FIELDS):
            setattr(cls, name, vars(real)[name])

    def _lazy_method(bare: dict[str, Any], name: str) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            cls = type(self)
            _complete(cls, bare, _FOR_COMPARING)
            return getattr(cls, name)(self, *args, **kwargs)

        return method

    def _lazy_init(bare: dict[str, Any]) -> Callable[..., None]:
        """`__init__` that is replaced by a compiled one after some calls: of most classes a
        question makes a few records."""
        calls = 0
        names: tuple[str, ...] = ()
        defaults: dict[str, Any] = {}

        def first(self: Any, /, *values: Any, **named: Any) -> None:
            nonlocal calls, names
            if not calls:
                names = tuple(bare["__annotations__"])
                for name in names:
                    defaults[name] = _default_of(bare.get(name, _MISSING))
            calls += 1
            rest = names[len(values) :]
            fits = len(values) <= len(names) and named.keys() <= set(rest)
            if calls > _UNCOMPILED_CALLS or not (
                fits and all(name in named or defaults[name] != _REQUIRED for name in rest)
            ):
                # Arguments that do not fit are refused as by any function.
                cls = type(self)
                cls.__init__ = _make_init(cls, bare)
                cls.__init__(self, *values, **named)
                return
            for name, value in zip(names, values, strict=False):
                object.__setattr__(self, name, value)
            for name in rest:
                if name in named:
                    value = named[name]
                else:
                    value, factory = defaults[name]
                    value = value if factory is _MISSING else factory()
                object.__setattr__(self, name, value)

        return first

    def _make_init(cls: type, bare: dict[str, Any]) -> Callable[..., None]:
        """`__init__` as of a frozen dataclass. Most records are only made, and this takes 0.1 ms;
        dataclasses takes 0.8, because it makes `__setattr__` and `__delattr__` with it."""
        defaults: dict[str, Any] = {}
        parameters, statements = ["self"], ["pass"]
        for name in bare["__annotations__"]:
            default, factory = _default_of(bare.get(name, _MISSING))
            value = name
            if factory is not _MISSING:
                # As a default, the factory marks that no value was given.
                default = factory
                value = f"_defaults[{name!r}]() if {name} is _defaults[{name!r}] else {name}"
            defaults[name] = default
            has_default = default is not _MISSING
            parameters.append(f"{name}=_defaults[{name!r}]" if has_default else name)
            statements.append(f"_set(self, {name!r}, {value})")
        space: dict[str, Any] = {"_set": object.__setattr__, "_defaults": defaults}
        code = "\n    ".join((f"def __init__({', '.join(parameters)}):", *statements))
        exec(code, space)
        space["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return space["__init__"]

    def _default_of(value: Any) -> tuple[Any, Any]:
        """The default and the factory of a field, by what its class says; `_MISSING` for none."""
        if isinstance(value, _LazyField):
            return value.default, value.factory
        # Where nobody has imported `dataclasses`, nothing can be a field of it.
        standard = sys.modules.get("dataclasses")
        if standard is None or not isinstance(value, standard.Field):
            return value, _MISSING
        none = standard.MISSING
        default, factory = value.default, value.default_factory
        return _MISSING if default is none else default, _MISSING if factory is none else factory

    class _LazyFields:
        """The fields of a class, made when they are first read."""

        def __init__(self, bare: dict[str, Any]) -> None:
            self._bare = bare

        def __get__(self, record: object, cls: type) -> Any:
            _complete(cls, self._bare, _FIELDS_ONLY)
            return vars(cls)[_FIELDS]

    def _refuse_to_set(self: object, name: str, value: object) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self: object, name: str) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

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


def field_names(cls: type) -> tuple[str, ...] | None:
    """The names of the fields of a dataclass, of this module or of the standard library; None for
    any other class."""
    if "__lazy_dataclass__" in vars(cls):
        return getattr(cls, "__slots__", ())
    if not hasattr(cls, _FIELDS):
        return None
    from dataclasses import fields

    return tuple(one.name for one in fields(cls))


def field_values(record: object) -> tuple[Any, ...]:
    """The values of all fields of a dataclass' record, in their order."""
    return tuple(getattr(record, name) for name in field_names(type(record)) or ())
