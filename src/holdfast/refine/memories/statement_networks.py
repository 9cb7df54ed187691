"""The network that a statement goes to, by its kind.

| kind | network |
|---|---|
| rule, decision, fact | world, if it is meant to last |
| lesson, preference | observation |
| outcome, todo | experience |
"""

from __future__ import annotations

from holdfast.model.knowledge import Kind, Network
from holdfast.refine.facts.momentary_orders import is_for_the_moment

_NETWORKS = {
    Kind.RULE: Network.WORLD,
    Kind.DECISION: Network.WORLD,
    Kind.FACT: Network.WORLD,
    Kind.LESSON: Network.OBSERVATION,
    Kind.PREFERENCE: Network.OBSERVATION,
    Kind.OUTCOME: Network.EXPERIENCE,
    Kind.TODO: Network.EXPERIENCE,
}


def statement_network(kind: Kind, text: str, is_person: bool) -> Network:
    """The network of a statement; `is_person`: said by whoever the agent works for."""
    network = _NETWORKS[kind]
    if network is Network.WORLD and is_person and is_for_the_moment(text):
        # What a person wants at the moment shows how they like things; it lays nothing down.
        return Network.OBSERVATION
    return network
