"""The stage that makes the concepts of a bank, whenever something under them has changed.

All of a bank is told anew, about a millisecond and a half for each record of a large bank, and only
what came out otherwise is written. So the concepts are a function of what is shown, of people's
decisions and of the vectors there are, whatever came first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from holdfast.model.curation import CurationState
from holdfast.model.uris import parse_uri
from holdfast.refine.concepts.concept_builder import ConceptBuilder
from holdfast.refine.concepts.concept_vectors import ConceptVectors, Vector
from holdfast.refine.concepts.descriptions import choose_names, describe
from holdfast.refine.concepts.grouping import Group, GroupEvent
from holdfast.refine.concepts.items import Item, exchange_item, memory_item
from holdfast.refine.core.passages import concept_passage
from holdfast.store.protocol import Writer
from holdfast.store.protocol.concepts import DerivedConcept

NAME = "concepts"
VERSION = 1
_ALL = 1 << 40
_TRIES = 2


def update_concepts(writer: Writer, tick: Callable[[], None] = lambda: None) -> int:
    """Bring the concepts of every bank up to date; returns how many were written or removed."""
    changed = 0
    for bank in writer.banks_behind(NAME, VERSION):
        changed += update_bank_concepts(writer, bank)
        tick()
    return changed


def update_bank_concepts(writer: Writer, bank: str) -> int:
    """Make the concepts of a bank. What changes meanwhile is noticed, and all is told again."""
    for _ in range(_TRIES):
        number = _newest(writer, bank)
        made = build_concepts(writer, bank)
        with writer.transaction():
            if _newest(writer, bank) == number:
                return _write(writer, bank, made)
    with writer.transaction():
        return _write(writer, bank, build_concepts(writer, bank))


def _write(writer: Writer, bank: str, made: Sequence[DerivedConcept]) -> int:
    changed = writer.put_concepts(bank, made)
    for one in made:
        known = writer.curation_state(bank, "concept", one.concept.id)
        was = _rule_name(one) if known is not None and known.text else ""
        if known is not None and known.was != was:
            writer.put_curation_state(known._replace(was=was))
    if number := _newest(writer, bank):
        writer.mark_seen(bank, NAME, VERSION, number)
    return changed


def _rule_name(made: DerivedConcept) -> str:
    """What rules alone would call it."""
    named = [told for told in made.concept.history if told.what.startswith(("named", "renamed"))]
    return named[-1].what.partition('"')[2].rstrip('"') if named else ""


def _newest(writer: Writer, bank: str) -> int:
    """The number of the latest change in a bank that this stage has not seen; 0 if there is
    none."""
    unseen = writer.unseen_changes(bank, NAME, VERSION, _ALL)
    return unseen[-1].number if unseen else 0


def build_concepts(writer: Writer, bank: str) -> list[DerivedConcept]:
    """The concepts that a bank comes to."""
    items = [exchange_item(exchange) for exchange in writer.bank_exchanges(bank)]
    items += [memory_item(memory) for memory in writer.shown_remembered(bank)]
    items.sort(key=lambda item: item.order)
    decided = {c.id: c for c in writer.curation_states_of_kind(bank, "concept") if c.text or c.is_hidden}
    founders = _founders(items, _kept(decided), writer.saved_concept_members(bank))
    story = ConceptBuilder(items, _meanings(writer, bank, items), founders)
    groups = _merged(story, decided)
    names = choose_names(story, groups)
    made: list[DerivedConcept] = []
    for group in groups:
        known = decided.get(group.id)
        concept = describe(bank, story, group, names[group.id], known)
        aliases = tuple(item.founded_id for item in story.members(group))
        hidden = known is not None and known.is_hidden
        made.append(DerivedConcept(concept, None if hidden else concept_passage(concept), aliases))
    return made


def _kept(decided: Mapping[str, CurationState]) -> set[str]:
    """The concepts that somebody decided about, or that others were merged into."""
    into = [parse_uri(known.into) for known in decided.values() if known.into]
    return {*decided, *(named.id for named in into if named is not None)}


def _founders(
    items: Sequence[Item], decided: Iterable[str], anchors: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """What founds the concepts that people decided about: the first of their members of then
    that is still there."""
    there = {item.uri: item for item in items}
    founders: dict[str, str] = {}
    for id in sorted(decided):
        known = [there[name] for name in anchors.get(id, ()) if name in there]
        free = sorted((i for i in known if i.uri not in founders), key=lambda item: item.order)
        if free:
            founders[free[0].uri] = id
    return founders


def _meanings(writer: Writer, bank: str, items: Sequence[Item]) -> ConceptVectors:
    model = writer.vector_model(bank)
    if not model:
        return ConceptVectors()
    numbers: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        numbers.setdefault(item.hash, []).append(number)
    vectors: dict[int, Vector] = {}
    for stored in writer.vectors_of(bank, model, list(numbers)):
        if stored.part == 0:
            vector = np.frombuffer(stored.data, dtype=np.float32)
            vectors |= dict.fromkeys(numbers[stored.hash], vector)
    return ConceptVectors(vectors)


def _merged(story: ConceptBuilder, decided: Mapping[str, CurationState]) -> list[Group]:
    """The concepts, those that a person merged as one."""
    by_id = {group.id: group for group in story.groups}
    for id, known in sorted(decided.items(), key=lambda pair: (pair[1].time, pair[0])):
        into = parse_uri(known.into) if known.into else None
        target = by_id.get(into.id) if into is not None else None
        gone = by_id.get(id)
        if gone is None or target is None or gone is target:
            continue
        target.members = sorted([*target.members, *gone.members])
        target.size += gone.size
        target.events.append(GroupEvent(known.time, "joined", gone.id, gone.name))
        del by_id[id]
    return sorted(by_id.values(), key=lambda group: group.members[0])
