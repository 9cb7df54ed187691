"""Named tuples whose constructors are made when they are needed.

`typing.NamedTuple` takes a third of a millisecond to define a class: it reads every annotation and
compiles a constructor. A question defines some two hundred of them and makes few. So a class gets
its constructor when it is needed, and annotations stay text until somebody asks for them. To
type checkers these are named tuples of the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

# `typing` takes 3 ms to import, and the hook of a first prompt would wait for it. So the modules
# that it loads import from there for type checkers alone, which take this name for true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter

    def _make(cls: type, values: Iterable[Any]) -> Any:
        """A tuple of this class, of one value for each field."""
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self: Any, /, **changes: Any) -> Any:
        """The tuple with other values in some of its fields."""
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _as_dict(self: Any) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _show(self: Any) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in _as_dict(self).items())
        return f"{type(self).__name__}({values})"

    def _as_arguments(self: Any) -> tuple[Any, ...]:
        return tuple(self)

    _UNCOMPILED_CALLS = 20

    _SHARED = {
        "__slots__": (),
        "_make": classmethod(_make),
        "_replace": _replace,
        "_asdict": _as_dict,
        "__repr__": _show,
        "__getnewargs__": _as_arguments,
    }

    def _make_constructor(cls: type) -> Callable[..., Any]:
        """`__new__` with the fields as parameters."""
        space: dict[str, Any] = {"_new": tuple.__new__, "_defaults": cls._field_defaults}
        given = [
            f"{name}=_defaults[{name!r}]" if name in cls._field_defaults else name
            for name in cls._fields
        ]
        values = "".join(f"{name}, " for name in cls._fields)
        code = f"def __new__({', '.join(('_cls', *given))}): return _new(_cls, ({values}))"
        exec(code, space)
        space["__new__"].__qualname__ = f"{cls.__qualname__}.__new__"
        return space["__new__"]

    def _lazy_constructor(defined: type) -> Callable[..., Any]:
        """`__new__` that is replaced by a compiled one after some calls. Of most classes a question
        makes a few tuples, and compiling takes as long as twenty calls of this."""
        fields, defaults = defined._fields, defined._field_defaults
        calls = 0

        def first(cls: type, *values: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            rest = fields[len(values) :]
            if calls <= _UNCOMPILED_CALLS and named.keys() <= set(rest):
                whole = {**defaults, **named}
                if all(name in whole for name in rest) and len(values) <= len(fields):
                    return tuple.__new__(cls, (*values, *(whole[name] for name in rest)))
            # Arguments that do not fit are refused as by any function.
            made = _make_constructor(defined)
            defined.__new__ = made
            return made(cls, *values, **named)

        return first

    class _Definition(type):
        """Makes a named tuple of a class that has `NamedTuple` as its only base."""

        def __new__(mcs: type, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
            if not bases:
                return type.__new__(mcs, name, bases, body)
            names = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in names if field in body}
            if tuple(defaults) != names[len(names) - len(defaults) :]:
                raise TypeError(f"A field of {name} without a default follows one with a default.")
            space = {
                **_SHARED,
                **{field: _tuplegetter(place, "") for place, field in enumerate(names)},
                "_fields": names,
                "_field_defaults": defaults,
                "__match_args__": names,
                **{key: value for key, value in body.items() if key not in names},
            }
            made = type.__new__(type, name, (tuple,), space)
            made.__new__ = _lazy_constructor(made)
            return made

    class NamedTuple(metaclass=_Definition):
        """`typing.NamedTuple`, for classes without other bases."""
