"""The stage that keeps concepts up to date.

It builds all concepts of a bank anew whenever something in the bank has changed, and writes only
those that differ. What it reads in the texts of an exchange, two thirds of the work, is kept until
they change. So the concepts depend only on the
visible records, on people's decisions, on the vectors and on the name of the bank, not on the order
of reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from holdfast.model.curation import CurationState
from holdfast.model.records import Exchange
from holdfast.model.uris import parse_uri
from holdfast.refine.concepts.concept_builder import ConceptBuilder
from holdfast.refine.concepts.descriptions import choose_names, describe
from holdfast.refine.concepts.grouping import ConceptVectors, Group, GroupEvent, Vector
from holdfast.refine.concepts.items import (
    Item,
    TextFeatures,
    exchange_item,
    memory_item,
    text_fingerprint,
)
from holdfast.refine.concepts.vocabulary import BankNames
from holdfast.refine.core.passages import concept_passage
from holdfast.store.knowledge.concepts import DerivedConcept
from holdfast.store.protocol import Writer

NAME = "concepts"
VERSION = 15
_NO_LIMIT = 1 << 40
# How often concepts are built outside of a transaction before they are built inside of one, which
# blocks other writers. Another try is needed if a record changed meanwhile.
_TRIES_WITHOUT_LOCK = 2


def update_concepts(
    writer: Writer,
    on_progress: Callable[[], None] = lambda: None,
    banks: Iterable[str] | None = None,
) -> int:
    """Update the concepts of some banks with changes, or of all with changes; returns how many
    were written or removed."""
    changed = 0
    if banks is None:
        banks = writer.progress.banks_behind(NAME, VERSION, vectors=True)
    for bank in banks:
        changed += update_bank_concepts(writer, bank)
        on_progress()
    return changed


def update_bank_concepts(writer: Writer, bank: str) -> int:
    """Build the concepts of a bank and write them; builds them again if a record changed meanwhile.
    Returns how many were written or removed."""
    for _ in range(_TRIES_WITHOUT_LOCK):
        number = _latest_change(writer, bank)
        features = KeptFeatures(writer, bank)
        made = build_concepts(writer, bank, features)
        with writer.transaction():
            if _latest_change(writer, bank) == number:
                # Not otherwise: the words that were read may have been erased since.
                writer.concepts.put_features(bank, features.new)
                return _write(writer, bank, made)
    with writer.transaction():
        return _write(writer, bank, build_concepts(writer, bank))


class KeptFeatures:
    """The features of the exchanges of a bank: those that were kept, and new ones for exchanges
    whose texts have changed since."""

    def __init__(self, writer: Writer, bank: str) -> None:
        self._kept = writer.concepts.features(bank)
        # What is to be kept, by the ids of the exchanges.
        self.new: dict[str, str] = {}

    def of(self, exchange: Exchange) -> TextFeatures:
        """The features of the texts of an exchange."""
        fingerprint = text_fingerprint(exchange, VERSION)
        known, _, features = self._kept.get(exchange.id, "").partition(" ")
        if known == fingerprint:
            return TextFeatures.from_json(features)
        read = TextFeatures.read(exchange)
        self.new[exchange.id] = f"{fingerprint} {read.to_json()}"
        return read


def _write(writer: Writer, bank: str, made: Sequence[DerivedConcept]) -> int:
    changed = writer.concepts.put(bank, made)
    for one in made:
        known = writer.curation.state(bank, "concept", one.concept.id)
        was = _rule_name(one) if known is not None and known.text else ""
        if known is not None and known.was != was:
            writer.curation.put_state(known._replace(was=was))
    if number := _latest_change(writer, bank):
        writer.progress.mark_seen(bank, NAME, VERSION, number)
    return changed


def _rule_name(made: DerivedConcept) -> str:
    """The name that the rules gave to a concept, whatever a person calls it."""
    named = [e for e in made.concept.history if e.what.startswith(("named", "renamed"))]
    return named[-1].what.partition('"')[2].rstrip('"') if named else ""


def _latest_change(writer: Writer, bank: str) -> int:
    """The number of the latest change that this stage has not seen; 0 if there is none."""
    unseen = writer.progress.unseen_changes(bank, NAME, VERSION, _NO_LIMIT, vectors=True)
    return unseen[-1].number if unseen else 0


def build_concepts(
    writer: Writer, bank: str, features: KeptFeatures | None = None
) -> list[DerivedConcept]:
    """The concepts of a bank, from its visible records and people's decisions."""
    features = features or KeptFeatures(writer, bank)
    items = [exchange_item(x, features.of(x)) for x in writer.sessions.bank_exchanges(bank)]
    items += [memory_item(memory) for memory in writer.memories.shown_remembered(bank)]
    items.sort(key=lambda item: item.order)
    decided = {
        c.id: c for c in writer.curation.states_of_kind(bank, "concept") if c.text or c.is_hidden
    }
    founders = _founders(items, _decided_ids(decided), writer.concepts.saved_members(bank))
    known_bank = writer.banks.get(bank)
    project = known_bank.name if known_bank is not None else ""
    about = BankNames(project, writer.turns.speakers(bank))
    builder = ConceptBuilder(items, _load_vectors(writer, bank, items), founders, about)
    groups = _merge_decided(builder.groups, decided)
    names = choose_names(builder, groups)
    made: list[DerivedConcept] = []
    for group in groups:
        if group.id not in names:
            continue
        known = decided.get(group.id)
        concept = describe(bank, builder, group, names[group.id], known)
        aliases = tuple(item.founded_id for item in builder.members(group))
        hidden = known is not None and known.is_hidden
        made.append(DerivedConcept(concept, None if hidden else concept_passage(concept), aliases))
    return made


def _decided_ids(decided: Mapping[str, CurationState]) -> set[str]:
    """The ids of concepts that a person decided about, or that others were merged into."""
    into = [parse_uri(known.into) for known in decided.values() if known.into]
    return {*decided, *(named.id for named in into if named is not None)}


def _founders(
    items: Sequence[Item], decided: Iterable[str], members: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """The founders of the concepts that people decided about, as URI to id: the earliest item that
    still exists of the `members` a concept had at the time of the decision."""
    by_uri = {item.uri: item for item in items}
    founders: dict[str, str] = {}
    for id in sorted(decided):
        existing = [by_uri[name] for name in members.get(id, ()) if name in by_uri]
        free = sorted((i for i in existing if i.uri not in founders), key=lambda item: item.order)
        if free:
            founders[free[0].uri] = id
    return founders


def _load_vectors(writer: Writer, bank: str, items: Sequence[Item]) -> ConceptVectors:
    model = writer.vectors.bank_model(bank)
    if not model:
        return ConceptVectors()
    numbers: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        numbers.setdefault(item.hash, []).append(number)
    vectors: dict[int, Vector] = {}
    for stored in writer.vectors.of_hashes(bank, model, list(numbers)):
        if stored.part == 0:
            vector = np.frombuffer(stored.data, dtype=np.float32)
            vectors |= dict.fromkeys(numbers[stored.hash], vector)
    return ConceptVectors(vectors)


def _merge_decided(groups: Iterable[Group], decided: Mapping[str, CurationState]) -> list[Group]:
    """The groups after the merges that people decided, in order of their founders."""
    by_id = {group.id: group for group in groups}
    for id, known in sorted(decided.items(), key=lambda pair: (pair[1].time, pair[0])):
        into = parse_uri(known.into) if known.into else None
        target = by_id.get(into.id) if into is not None else None
        merged = by_id.get(id)
        if merged is None or target is None or merged is target:
            continue
        target.members = sorted([*target.members, *merged.members])
        target.size += merged.size
        target.events.append(GroupEvent(known.time, "joined", merged.id, merged.name))
        del by_id[id]
    return sorted(by_id.values(), key=lambda group: group.members[0])
