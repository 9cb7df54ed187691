"""Records as JSON values."""

from __future__ import annotations

import json
from enum import Enum, StrEnum
from typing import NamedTuple

from holdfast.lazy_dataclass import dataclass
from holdfast.model.to_json import to_jsonable


class Level(StrEnum):
    """An enum whose members are strings too."""

    HIGH = "high"


class Number(Enum):
    """An enum of numbers."""

    ONE = 1


class Pair(NamedTuple):
    """A named tuple."""

    left: object
    right: object


@dataclass(frozen=True, slots=True)
class Record:
    """A record of ours."""

    name: str
    level: Level
    parts: tuple[object, ...] = ()


def test_a_record_becomes_a_dict_and_what_is_in_it_as_well() -> None:
    inner = Record("inner", Level.HIGH, (Pair(Number.ONE, None), [True, 0.5], {Level.HIGH: (1,)}))
    found = to_jsonable({"records": [Record("outer", Level.HIGH, (inner,))], 7: frozenset({"a"})})
    assert found == {
        "records": [
            {
                "name": "outer",
                "level": "high",
                "parts": [
                    {
                        "name": "inner",
                        "level": "high",
                        "parts": [{"left": 1, "right": None}, [True, 0.5], {"high": [1]}],
                    }
                ],
            }
        ],
        "7": ["a"],
    }
    assert json.loads(json.dumps(found)) == found


def test_an_enum_of_strings_becomes_a_plain_string() -> None:
    assert type(to_jsonable(Level.HIGH)) is str
    assert type(to_jsonable(Record("a", Level.HIGH))["level"]) is str


def test_what_is_json_already_stays_as_it_is_and_is_a_copy() -> None:
    value = {"a": [1, "b", None, {"c": 2.5}]}
    found = to_jsonable(value)
    assert found == value
    assert found["a"] is not value["a"]
