"""Records as people decided about them: in their corrected words, without those that are hidden,
and without the verdicts of agents that a person overruled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from holdfast.model.corrections import corrected_memory
from holdfast.model.curation import (
    Action,
    Curation,
    CurationState,
    Judgement,
    Verdict,
    affirms_record,
)
from holdfast.model.knowledge import Memory, Network
from holdfast.refine.core.statement_similarity import says_the_same, statement_features
from holdfast.store.protocol import Writer

_Record = TypeVar("_Record")


def apply_decision(
    known: CurationState | None,
    record: _Record,
    correct: Callable[[_Record, CurationState], _Record],
) -> _Record | None:
    """A record in its corrected words, which `correct` puts in; None if it is hidden."""
    if known is None:
        return record
    if known.is_hidden:
        return None
    return correct(record, known) if known.text else record


def remembered_by_people(writer: Writer, bank: str) -> Iterator[Memory]:
    """The visible texts by which people laid something down, in their corrected words. An agent's
    text is among them once a person has corrected it; what happened or was observed is not."""
    for memory in writer.memories.remembered_uncurated(bank):
        known = writer.curation.state(bank, "memory", memory.id)
        current = apply_decision(known, memory, corrected_memory)
        if current is None or current.network is not Network.WORLD:
            continue
        if not current.by_agent or (known is not None and known.by_person):
            yield current


def without_overruled(
    judged: Mapping[str, Judgement],
    log: Iterable[Curation],
    text_of: Callable[[str], str],
    ended: Callable[[], Collection[str]],
) -> dict[str, Judgement]:
    """Verdicts without those by which an agent drops what a person affirmed before, from the
    decisions in effect. `text_of` says what a record states; what is in `ended` no longer
    counts."""
    by_agent = {
        name: text
        for name, one in judged.items()
        if one.by_agent and one.verdict is not Verdict.USEFUL and (text := text_of(name))
    }
    affirmed: dict[str, str] = {}
    for entry in log if by_agent else ():
        if affirms_record(entry):
            affirmed[entry.target] = entry.time
        elif entry.action is Action.CORRECT:
            affirmed.pop(entry.target, None)  # its words are an agent's now
    texts = ((time, text_of(name)) for name, time in affirmed.items() if name not in judged)
    words = [
        (time, statement_features(text)) for time, text in texts if text and text not in ended()
    ]
    overruled = {
        name
        for name, text in by_agent.items()
        if any(
            time <= judged[name].time and says_the_same(statement_features(text), own)
            for time, own in words
        )
    }
    return {name: one for name, one in judged.items() if name not in overruled}
