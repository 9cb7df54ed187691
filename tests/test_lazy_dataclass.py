"""Records that become dataclasses late are the same as those that are so from the start."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, is_dataclass, replace

import pytest

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Boat:
    """Has all that a record may have."""

    name: str
    masts: int = 1
    crew: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def tall(self) -> bool:
        """Whether it is."""
        return self.masts > 2


@dataclass(frozen=True, slots=True)
class Unmade:
    """None of it is ever made."""

    name: str
    size: int = 3


def test_a_record_is_created_compared_shown_and_replaced_like_any_dataclass() -> None:
    boat = Boat("Ada", masts=3)
    assert (boat.name, boat.masts, boat.crew, boat.tall) == ("Ada", 3, {}, True)
    assert boat == Boat("Ada", 3, {})
    assert boat != Boat("Ada")
    assert boat.crew is not Boat("Ada").crew
    assert repr(boat) == "Boat(name='Ada', masts=3, crew={})"
    assert replace(boat, masts=2) == Boat("Ada", 2)
    assert asdict(boat) == {"name": "Ada", "masts": 3, "crew": {}}
    assert astuple(boat) == ("Ada", 3, {})
    with pytest.raises(TypeError, match="name"):
        Boat()  # pyright: ignore[reportCallIssue]


@dataclass(frozen=True, slots=True)
class Raft:
    """Many are made."""

    name: str
    logs: int = 4
    load: list[str] = field(default_factory=list[str])


def test_many_records_are_created_alike_before_and_after_the_class_is_compiled() -> None:
    for number in range(120):
        raft = Raft("Kon", number) if number % 2 else Raft(load=["tea"], name="Kon")
        load: list[str] = [] if number % 2 else ["tea"]
        wanted = ("Kon", number if number % 2 else 4, load)
        assert (raft.name, raft.logs, raft.load) == wanted
        assert Raft("Tiki").load is not Raft("Tiki").load


_UNFIT: list[tuple[tuple[object, ...], dict[str, object]]] = [
    ((), {}),
    (("a", 1, (), 2), {}),
    (("a",), {"name": "b"}),
    (("a",), {"sails": 2}),
]


@pytest.mark.parametrize("made_before", [0, 120])
@pytest.mark.parametrize(("values", "named"), _UNFIT)
def test_arguments_that_do_not_fit_are_refused_whenever_they_come(
    made_before: int, values: tuple[object, ...], named: dict[str, object]
) -> None:
    @dataclass(frozen=True, slots=True)
    class Punt:
        name: str
        poles: int = 1
        load: tuple[str, ...] = ()

    for _ in range(made_before):
        Punt("p")
    with pytest.raises(TypeError, match=r"__init__\(\)"):
        Punt(*values, **named)  # pyright: ignore[reportArgumentType]
    assert Punt("p", poles=2).poles == 2


def test_its_fields_are_known_before_an_instance_is_created() -> None:
    assert is_dataclass(Unmade)
    assert [(f.name, f.default) for f in fields(Unmade)][1] == ("size", 3)
    assert {Unmade("a"), Unmade("a"), Unmade("b", 4)} == {Unmade("a"), Unmade("b", 4)}


def test_its_fields_cannot_be_changed_or_added() -> None:
    boat = Boat("Ada")
    for name in ("masts", "other"):
        with pytest.raises(FrozenInstanceError):
            setattr(boat, name, 2)
    with pytest.raises(FrozenInstanceError):
        del boat.masts  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(boat, "__dict__")


def test_it_can_be_pickled() -> None:
    boat = Boat("Ada", 2, {"mate": 1})
    assert pickle.loads(pickle.dumps(boat)) == boat
    assert copy.deepcopy(boat) == boat


def test_it_can_be_matched_by_position() -> None:
    match Boat("Ada", 4):
        case Boat(name, masts):
            assert (name, masts) == ("Ada", 4)


def test_a_class_that_is_not_frozen_or_has_no_slots_is_refused() -> None:
    with pytest.raises(TypeError, match="frozen"):
        dataclass(frozen=False, slots=True)
