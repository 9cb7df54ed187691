"""Groups of entities that occur together more than with others, by NetworkX. It is an optional
dependency: nothing else needs it, and importing it takes longer than a whole recall."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from holdfast.errors import InputError
from holdfast.model.graph import Entity
from holdfast.store.protocol import Reader

# Only the most frequent entities are grouped: Louvain over 20,000 takes minutes.
_MAX_ENTITIES = 600
# Edges per entity, to those it occurs with most; more make the graph denser and slower.
_MAX_NEIGHBOURS = 20
# Any fixed seed, so that the same graph gives the same groups.
_SEED = 7


def find_communities(reader: Reader, bank: str | None) -> list[list[Entity]]:
    """The groups of a bank, or of each bank, largest first. Entities in no group are left out."""
    try:
        networkx: Any = import_module("networkx")
    except ImportError as error:
        raise InputError(
            "Groups of entities need NetworkX.", "Install it: pip install 'holdfast-memory[graph]'."
        ) from error
    banks = [bank] if bank is not None else [known.id for known in reader.banks.all()]
    found: list[list[Entity]] = []
    for bank_id in banks:
        entities = {entity.id: entity for entity in reader.graph.entities(bank_id, _MAX_ENTITIES)}
        graph: Any = networkx.Graph()
        for entity in entities.values():
            known = reader.graph.entity(bank_id, entity.id)
            for other, count in (
                reader.graph.cooccurring(bank_id, known.number, _MAX_NEIGHBOURS) if known else ()
            ):
                if other.id in entities and count > 1:
                    # Normalised, because two frequent entities often occur together by chance.
                    share = count / (entity.mentions * other.records) ** 0.5
                    graph.add_edge(entity.id, other.id, weight=share)
        groups: list[set[str]] = networkx.community.louvain_communities(graph, seed=_SEED)
        found += [[entities[id] for id in entities if id in group] for group in groups]
    return sorted(found, key=lambda group: (-len(group), group[0].name if group else ""))
