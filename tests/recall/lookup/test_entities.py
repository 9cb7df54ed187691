"""An entity with the entities that are mentioned together with it."""

from __future__ import annotations

from pathlib import Path

from holdfast.recall.lookup.entities import describe_entity, entities_matching
from tests.refine.entities.test_entities import open_at, read, script


def test_entities_that_records_mention_together_are_connected(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        read(
            memory,
            script(1, "We moved TideTable because HarbourClock failed."),
            script(2, "TideTable broke, so HarbourClock was changed."),
            script(3, "Look at TideTable and LampKeeper."),
        )
        (focus,) = entities_matching(memory.reader, None, "TideTable")
        together = describe_entity(memory.reader, focus, 10).together
    # Of a message, its turn and its exchange are records.
    assert {one.name: one.records for one in together} == {"HarbourClock": 4, "LampKeeper": 2}
