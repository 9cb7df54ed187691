"""Records as people decided about them: in their corrected words, without those that are hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from holdfast.model.corrections import corrected_memory
from holdfast.model.curation import CurationState
from holdfast.model.knowledge import Memory, Network
from holdfast.store.protocol import Writer

_Record = TypeVar("_Record")


def apply_decision(
    known: CurationState | None, record: _Record, correct: Callable[[_Record, str], _Record]
) -> _Record | None:
    """A record in its corrected words, which `correct` puts in; None if it is hidden."""
    if known is None:
        return record
    if known.is_hidden:
        return None
    return correct(record, known.text) if known.text else record


def remembered_by_people(writer: Writer, bank: str) -> Iterator[Memory]:
    """The visible texts by which people laid something down, in their corrected words. An agent's
    text is among them once a person has corrected it; what happened or was observed is not."""
    for memory in writer.memories.remembered_uncurated(bank):
        known = writer.curation.state(bank, "memory", memory.id)
        current = apply_decision(known, memory, corrected_memory)
        is_agents = memory.by_agent and not (known and known.text)
        if current is not None and current.network is Network.WORLD and not is_agents:
            yield current
