"""Typed access to a table of a TOML settings file; errors name the file and the key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from holdfast.errors import SettingsError


class TomlTable:
    """A table of the settings file. Each method reads one key and checks its type."""

    def __init__(
        self,
        path: Path,
        known: Mapping[str, Sequence[str]],
        values: dict[str, Any] | None = None,
        name: str = "",
    ) -> None:
        self.path = path
        self._known = known
        self._name = name
        self._values = self._read() if values is None else values
        allowed = known.get(name)
        for key in self._values:
            if allowed is not None and key not in allowed:
                raise SettingsError(
                    f"{path}: unknown setting {self._full_name(key)!r}.",
                    f"Known here: {', '.join(self._full_name(k) for k in allowed)}.",
                )

    def _read(self) -> dict[str, Any]:
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return {}
        except NotADirectoryError as error:
            raise SettingsError(
                f"{self.path.parent} is a file, not a folder.",
                "Set HOLDFAST_HOME to a folder; it is made if it is not there.",
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            raise self._unreadable(error) from error
        import tomllib

        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> SettingsError:
        return SettingsError(
            f"{self.path} cannot be read: {error}.", "Correct it, or move it away."
        )

    def _full_name(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def _wrong_type(self, key: str, expected: str) -> SettingsError:
        return SettingsError(
            f"{self.path}: {self._full_name(key)} must be {expected}.", "Correct it and run again."
        )

    def table(self, key: str) -> TomlTable:
        value: object = self._values.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong_type(key, "a table")
        return TomlTable(self.path, self._known, cast(dict[str, Any], value), self._full_name(key))

    def text(self, key: str) -> str:
        value: object = self._values.get(key, "")
        if not isinstance(value, str):
            raise self._wrong_type(key, "a string")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value: object = self._values.get(key, default)
        if not isinstance(value, bool):
            raise self._wrong_type(key, "true or false")
        return value

    def number(self, key: str, default: int) -> int:
        value: object = self._values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._wrong_type(key, "a whole number, zero or more")
        return value

    def values(self, defaults: object, names: Iterable[str]) -> dict[str, Any]:
        """The values of several keys, each of the type of its default; that of a text is ""."""
        found: dict[str, Any] = {}
        for name in names:
            match getattr(defaults, name):
                case bool() as default:
                    found[name] = self.flag(name, default)
                case int() as default:
                    found[name] = self.number(name, default)
                case float() as default:
                    found[name] = self.amount(name, default)
                case _:
                    found[name] = self.text(name)
        return found

    def amount(self, key: str, default: float) -> float:
        value: object = self._values.get(key, default)
        if not _is_amount(value):
            raise self._wrong_type(key, "a number, zero or more")
        return float(cast(float, value))

    def prices(self, key: str) -> tuple[tuple[str, tuple[float, float]], ...]:
        value: object = self._values.get(key, {})
        items = cast(dict[str, object], value) if isinstance(value, dict) else {"": None}
        found: list[tuple[str, tuple[float, float]]] = []
        for name, item in items.items():
            pair = cast(list[object], item) if isinstance(item, list) else []
            if len(pair) != 2 or not all(map(_is_amount, pair)):
                raise self._wrong_type(key, "a table of models, each with two prices: [in, out]")
            found.append((name, (float(cast(float, pair[0])), float(cast(float, pair[1])))))
        return tuple(found)

    def texts(self, key: str) -> tuple[str, ...]:
        value: object = self._values.get(key, [])
        items = cast(list[object], value) if isinstance(value, list) else [None]
        if not all(isinstance(item, str) for item in items):
            raise self._wrong_type(key, "a list of strings")
        return tuple(str(item) for item in items)

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        value: object = self._values.get(key, {})
        items = cast(dict[str, object], value) if isinstance(value, dict) else {"": None}
        if not all(isinstance(item, str) for item in items.values()):
            raise self._wrong_type(key, "a table of strings")
        return tuple((name, str(item)) for name, item in items.items())


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
