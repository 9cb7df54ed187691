"""The arguments of a call: checked and read in one way, whatever face they came by.

A value is text where a face has nothing else (a command line, an address), or JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, cast

from holdfast.errors import InputError, suggest, unknown_name
from holdfast.operations.operation import Operation, Parameter

# Of a value that cannot be used: enough to recognise it.
_MAX_QUOTED = 100
# A text and a list without a limit of their own are cut off here.
MAX_TEXT = 20_000
MAX_ITEMS = 100
# What nobody sees is no text.
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
NO_TEXTS: Mapping[str, Any] = {}
_TYPE_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
}


class ArgumentError(InputError):
    """An argument is missing, unknown, or has a value that cannot be used."""


def read_arguments(
    operation: Operation,
    given: Mapping[str, Any],
    as_text: Mapping[str, Any] | None = None,
    on_screen: bool = False,
) -> dict[str, Any]:
    """The arguments of an operation as its function takes them: values as JSON has them, and those
    `as_text`, where a number is written out. Those for a screen are only known `on_screen`. Raises
    `ArgumentError`, naming what is wrong."""
    asked = [one for one in operation.parameters if on_screen or not one.arg.on_screen]
    return read_given(operation.name, asked, given, as_text or {})


def read_given(
    caller: str,
    asked: Sequence[Parameter],
    given: Mapping[str, Any],
    texts: Mapping[str, Any] = NO_TEXTS,
) -> dict[str, Any]:
    """The values of these parameters, as `read_arguments` reads them, for whatever has them."""
    known = {one.name: one for one in asked}
    for name in (*given, *texts):
        if name not in known:
            error = unknown_name(f"`{caller}` takes no", str(name)[:_MAX_QUOTED], known)
            raise ArgumentError(error.message, error.remedy)
    read: dict[str, Any] = {}
    for parameter in asked:
        from_text = parameter.name in texts
        value = (texts if from_text else given).get(parameter.name)
        if value is None:
            if parameter.required:
                raise ArgumentError(f"{parameter.name} is missing.", f"It is {_said(parameter)}.")
            continue
        read[parameter.name] = read_value(parameter, value, from_text)
    return read


def _said(parameter: Parameter) -> str:
    return parameter.arg.help.rstrip(".") or _TYPE_NAMES.get(parameter.kind, "a value")


def read_value(parameter: Parameter, value: Any, from_text: bool = False) -> Any:
    """The value of a parameter; of a list, its items."""
    if not parameter.many:
        return _read_one(parameter, value, from_text)
    # One value stands for a list of one.
    is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    items = cast("Sequence[Any]", value if is_list else [value])
    most = int(parameter.arg.most or MAX_ITEMS)
    if len(items) > most:
        raise ArgumentError(f"{parameter.name} has {len(items):,} items; at most {most:,} fit.")
    return tuple(_read_one(parameter, one, from_text) for one in items)


def _read_one(parameter: Parameter, value: Any, from_text: bool) -> Any:
    name, arg, kind = parameter.name, parameter.arg, parameter.kind
    if issubclass(kind, Enum):
        return _read_choice(parameter, value)
    if kind is bool and from_text and isinstance(value, str):
        if value.lower() in (*_TRUE, *_FALSE):
            return value.lower() in _TRUE
        raise ArgumentError(f"{name} must be true or false.")
    if kind in (int, float):
        return _read_number(parameter, value, from_text)
    if not isinstance(value, kind):
        raise ArgumentError(f"{name} must be {_TYPE_NAMES.get(kind, kind.__name__)}.")
    if not isinstance(value, str):
        return value
    most = MAX_TEXT if parameter.many else int(arg.most or MAX_TEXT)
    if len(value) > most:
        raise ArgumentError(f"{name} has {len(value):,} characters; at most {most:,} fit.")
    has_words = value.translate(_INVISIBLE).strip()
    if not has_words and (parameter.required or not arg.blank):
        raise ArgumentError(f"The {name} is empty.", f"Give {_said(parameter)}.")
    return arg.read(value) if arg.read and value else value


def _read_choice(parameter: Parameter, value: Any) -> Any:
    for one in parameter.kind:
        if value in (one, one.value):
            return one
    if parameter.arg.read is not None and isinstance(value, str):
        return parameter.arg.read(value)
    shown = str(value)[:_MAX_QUOTED]
    choices = parameter.choices
    raise ArgumentError(
        f"There is no {parameter.name} {shown!r}.",
        f"{suggest(shown, choices)}One of: {', '.join(choices)}.",
    )


def _read_number(parameter: Parameter, value: Any, from_text: bool) -> Any:
    name, arg, kind = parameter.name, parameter.arg, parameter.kind
    if from_text and isinstance(value, str):
        try:
            value = kind(arg.read(value) if arg.read else value)
        except ValueError as error:
            raise ArgumentError(f"{name} must be {_TYPE_NAMES[kind]}.") from error
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(f"{name} must be {_TYPE_NAMES[kind]}.")
    if kind is int:
        if isinstance(value, float) and not value.is_integer():
            raise ArgumentError(f"{name} must be a whole number.")
        value = int(value)
    elif value != value:
        raise ArgumentError(f"{name} must be a number.")
    low, high = arg.least, arg.most
    if (low is not None and value < low) or (high is not None and value > high):
        if high is None:
            raise ArgumentError(f"{name} must be at least {low:,}.")
        raise ArgumentError(f"{name} must be from {low or 0:,} to {high:,}.")
    return value
