"""Which networks of memory, and which kinds of knowledge, a bank has."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.knowledge import Kind, Network
from holdfast.model.trust import Status
from holdfast.store.protocol import Reader

_NO_LIMIT = 1 << 40  # no bank has so many memories


def missing_networks_note(
    reader: Reader, bank: str | None, name: str, networks: Sequence[Network]
) -> str:
    """A sentence for a user whose bank (None: all banks) has no memory of any of these networks;
    "" if it has one."""
    banks = [known.id for known in reader.banks.all()] if bank is None else [bank]
    present = {one for one in Network if any(_has_network(reader, id, one) for id in banks)}
    if present & set(networks):
        return ""
    wanted = " or ".join(network.value for network in networks)
    existing = ", ".join(sorted(present)) or "none"
    return f"{name} has no memories of network {wanted}; of those it has: {existing}."


def _has_network(reader: Reader, bank: str, network: Network) -> bool:
    """Whether a bank has a memory of a network: retained, an opinion, or one somebody added."""
    if reader.memories.retained(bank, network.value, 1):
        return True
    opinions = reader.opinions.all(bank) if network is Network.OPINION else ()
    if any(opinion.status is not Status.RETRACTED for opinion in opinions):
        return True
    return any(m.network is network for m in reader.memories.remembered(bank, _NO_LIMIT))


def missing_kinds_note(reader: Reader, bank: str | None, name: str, kinds: Sequence[Kind]) -> str:
    """A sentence for a user whose bank (None: all banks) knows nothing of any of these kinds; "" if
    it does."""
    banks = [known.id for known in reader.banks.all()] if bank is None else [bank]
    present = {one for one in Kind if any(_has_kind(reader, id, one) for id in banks)}
    if present & set(kinds):
        return ""
    existing = ", ".join(sorted(present)) or "none"
    return f"{name} knows nothing of kind {' or '.join(kinds)}; of those it has: {existing}."


def _has_kind(reader: Reader, bank: str, kind: Kind) -> bool:
    """Whether a bank has a memory, a fact or a rule of a kind."""
    if reader.memories.retained(bank, kind=kind.value, limit=1):
        return True
    if any(fact.kind.says is kind for fact in reader.facts.all(bank)):
        return True
    return kind is Kind.RULE and bool(reader.rules.all(bank))
