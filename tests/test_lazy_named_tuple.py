"""Named tuples that are completed late are the same as those of the standard library."""

from __future__ import annotations

import copy
import pickle
from typing import get_type_hints

import pytest

from holdfast.lazy_named_tuple import NamedTuple


class Boat(NamedTuple):
    """Has all that a named tuple may have."""

    name: str
    masts: int = 1
    ports: tuple[str, ...] = ()

    @property
    def tall(self) -> bool:
        return self.masts > 2


class Unmade(NamedTuple):
    """None of it is ever made."""

    name: str
    size: int = 3


class Ferry(Boat):
    """A named tuple with more methods."""

    __slots__ = ()

    def label(self) -> str:
        return f"{self.name} ({self.masts})"


def test_a_tuple_is_made_compared_shown_and_replaced_like_any_named_tuple() -> None:
    boat = Boat("Ada", masts=3)
    assert (boat.name, boat.masts, boat.ports, boat.tall) == ("Ada", 3, (), True)
    assert boat == ("Ada", 3, ()) == Boat("Ada", 3)
    assert hash(boat) == hash(("Ada", 3, ()))
    assert repr(boat) == "Boat(name='Ada', masts=3, ports=())"
    assert boat._replace(masts=2) == Boat("Ada", 2)
    assert boat._asdict() == {"name": "Ada", "masts": 3, "ports": ()}
    assert Boat._make(["Ada", 3, ()]) == boat
    assert isinstance(boat, Boat) and not hasattr(boat, "__dict__")


def test_its_fields_and_types_are_known_before_one_is_made() -> None:
    assert Unmade._fields == ("name", "size")
    assert Unmade._field_defaults == {"size": 3}
    assert get_type_hints(Unmade) == {"name": str, "size": int}


def test_the_first_tuple_is_made_like_the_hundredth() -> None:
    class Lamp(NamedTuple):
        name: str
        watts: int = 5
        colors: tuple[str, ...] = ()

    for _ in range(100):
        assert Lamp("a") == ("a", 5, ())
        assert Lamp("a", colors=("red",)) == ("a", 5, ("red",))
        assert Lamp(name="b", watts=3) == ("b", 3, ())
        assert Lamp("a", 1, ("x",))._asdict() == {"name": "a", "watts": 1, "colors": ("x",)}


@pytest.mark.parametrize("made", [0, 100])
def test_wrong_arguments_are_refused(made: int) -> None:
    for _ in range(made):
        Boat("Ada")
    for arguments in ((), ("Ada", 1, (), 4)):
        with pytest.raises(TypeError):
            Boat(*arguments)  # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(TypeError, match="mast"):
        Boat("Ada", mast=1)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="Expected 3"):
        Boat._make(["Ada"])
    with pytest.raises(ValueError, match="mast"):
        Boat("Ada")._replace(mast=1)


def test_a_field_without_a_default_after_one_with_a_default_is_refused() -> None:
    with pytest.raises(TypeError, match="without a default"):

        class Wrong(NamedTuple):  # pyright: ignore[reportUnusedClass]
            size: int = 1
            name: str  # pyright: ignore[reportGeneralTypeIssues]


def test_it_can_be_pickled_copied_and_matched() -> None:
    boat = Boat("Ada", 2, ("Kiel",))
    assert pickle.loads(pickle.dumps(boat)) == boat == copy.deepcopy(boat)
    match boat:
        case Boat(name, masts):
            assert (name, masts) == ("Ada", 2)
        case _:
            raise AssertionError(boat)


def test_a_subclass_is_of_its_own_class() -> None:
    ferry = Ferry("Ida", 2)
    assert type(ferry) is Ferry and ferry.label() == "Ida (2)"
    assert type(Boat("Ada")) is Boat
    assert type(ferry._replace(masts=1)) is Ferry
