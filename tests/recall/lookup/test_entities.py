"""The entities around one of them, and how they are connected."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from holdfast.recall.lookup.entities import (
    Neighbourhood,
    entities_matching,
    most_mentioned,
    neighbourhood_of,
)
from tests.refine.entities.test_entities import open_at, read, script

HARBOUR = (
    "TideTable", "HarbourClock", "LampKeeper", "BuoyChart", "RopeStore", "FerryDesk", "MoleWatch",
    "QuayLedger",
)  # fmt: skip


def connections(found: Neighbourhood) -> dict[frozenset[str], int]:
    """How many records connect two entities, by their names."""
    names = [one.name for one in found.entities]
    return {frozenset((names[one], names[other])): n for one, other, n in found.ties}


def test_entities_that_records_mention_together_are_connected(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        read(
            memory,
            script(1, "We moved TideTable because HarbourClock failed."),
            script(2, "TideTable broke, so HarbourClock was changed."),
            script(3, "Look at TideTable and LampKeeper."),
        )
        (focus,) = entities_matching(memory.reader, None, "TideTable")
        around = neighbourhood_of(memory.reader, focus, 1, [])
        anywhere = most_mentioned(memory.reader, None, [])
    hops = {one.name: one.hops for one in around.entities}
    assert hops == {"TideTable": 0, "HarbourClock": 1, "LampKeeper": 1}
    assert connections(around) == connections(anywhere)
    # Of a message, its turn and its exchange are records.
    assert connections(around) == {
        frozenset(("TideTable", "HarbourClock")): 4,
        frozenset(("TideTable", "LampKeeper")): 2,
    }


def test_each_entity_keeps_its_strongest_connections(tmp_path: Path) -> None:
    strongest = "TideTable broke, so HarbourClock was changed."
    with open_at(tmp_path) as memory:
        read(memory, script(1, f"Look at {', '.join(HARBOUR)}."), script(2, strongest))
        found = most_mentioned(memory.reader, None, [])
    drawn = connections(found)
    assert drawn[frozenset(("TideTable", "HarbourClock"))] == max(drawn.values()) == 4
    count = Counter(name for pair in drawn for name in pair)
    assert set(count) == set(HARBOUR) and min(count.values()) >= 3
    assert len(drawn) <= 3 * len(HARBOUR) < len(HARBOUR) * (len(HARBOUR) - 1) / 2
