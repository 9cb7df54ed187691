"""Arguments are checked and read in one way, as JSON and as text."""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from holdfast.model.query import Layer
from holdfast.operations.binding import ArgumentError, read_arguments
from holdfast.operations.operation import Arg, Operation, operation, operation_of
from holdfast.principal import Level


@operation("try", Level.READ)
def tried(
    memory: object,
    words: Annotated[str, Arg("what to look for", most=20)],
    limit: Annotated[int, Arg("how many", least=1, most=9)] = 3,
    share: Annotated[float | None, Arg("how much", least=0, most=1)] = None,
    layer: Annotated[tuple[Layer, ...], Arg("which layers", most=2)] = (),
    all: Annotated[bool, Arg("also old ones")] = False,
    day: Annotated[str, Arg("which day", read=str.upper)] = "",
    wide: Annotated[bool, Arg("how to print it", on_screen=True)] = False,
    call: object = None,
) -> str:
    """Try something out"""
    return words


def declared() -> Operation:
    found = operation_of(tried)
    assert found is not None
    return found


def read(texts: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    return read_arguments(declared(), given, texts)


def test_values_are_read_as_the_function_takes_them() -> None:
    found = read(words="a", limit=2, share=1, layer=["rules", "team"], all=True, day="x")
    assert found == {
        "words": "a",
        "limit": 2,
        "share": 1,
        "layer": (Layer.RULES, Layer.TEAM),
        "all": True,
        "day": "X",
    }
    assert read(words="a", layer="rules")["layer"] == (Layer.RULES,)
    assert read(words="a", limit=None) == {"words": "a"}


def test_text_is_read_as_numbers_and_truth_values() -> None:
    found = read({"words": "12", "limit": "2", "share": "0.5", "all": "true", "layer": ["rules"]})
    assert found == {"words": "12", "limit": 2, "share": 0.5, "all": True, "layer": (Layer.RULES,)}


@pytest.mark.parametrize(
    ("given", "texts", "said"),
    [
        ({}, {}, "words is missing"),
        ({"words": " "}, {}, "The words is empty"),
        ({"words": "a" * 21}, {}, "words has 21 characters; at most 20 fit"),
        ({"words": 7}, {}, "words must be a text"),
        ({"words": "a", "limit": 0}, {}, "limit must be from 1 to 9"),
        ({"words": "a", "limit": 1.5}, {}, "limit must be a whole number"),
        ({"words": "a", "limit": True}, {}, "limit must be a whole number"),
        ({"words": "a", "limit": "2"}, {}, "limit must be a whole number"),
        ({"words": "a"}, {"limit": "two"}, "limit must be a whole number"),
        ({"words": "a"}, {"share": "nan"}, "share must be a number"),
        ({"words": "a"}, {"all": "perhaps"}, "all must be true or false"),
        ({"words": "a", "all": "true"}, {}, "all must be true or false"),
        ({"words": "a", "layer": ["rule"]}, {}, "There is no layer 'rule'"),
        ({"words": "a", "layer": ["rules"] * 3}, {}, "layer has 3 items; at most 2 fit"),
        ({"words": "a", "limt": 2}, {}, "`try` takes no 'limt'"),
        ({"words": "a", "call": "me"}, {}, "`try` takes no 'call'"),
        ({"words": "a", "wide": True}, {}, "`try` takes no 'wide'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    given: dict[str, Any], texts: dict[str, Any], said: str
) -> None:
    with pytest.raises(ArgumentError, match=said):
        read(texts, **given)


def test_a_wrong_name_gets_the_nearest_known_one() -> None:
    with pytest.raises(ArgumentError) as caught:
        read(words="a", limt=2)
    assert "Did you mean 'limit'?" in caught.value.remedy
