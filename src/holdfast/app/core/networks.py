"""Which networks of memory a bank has."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.knowledge import Network
from holdfast.model.trust import Status
from holdfast.store.protocol import Reader

_NO_LIMIT = 1 << 40


def missing_networks_note(reader: Reader, bank: str | None, name: str, networks: Sequence[Network]) -> str:
    """What to say where a bank, or all of them, has no memory of any of these networks; "" where
    it has."""
    banks = [known.id for known in reader.banks()] if bank is None else [bank]
    held = {one for one in Network if any(_holds(reader, id, one) for id in banks)}
    if held & set(networks):
        return ""
    wanted = " or ".join(network.value for network in networks)
    there = ", ".join(sorted(held)) or "none"
    return f"{name} has no memories of network {wanted}; of those it has: {there}."


def _holds(reader: Reader, bank: str, network: Network) -> bool:
    """Whether a bank has a memory of a network: retained, believed or asked for."""
    if reader.retained(bank, network.value, 1):
        return True
    believed = reader.opinions(bank) if network is Network.OPINION else ()
    if any(opinion.status is not Status.RETRACTED for opinion in believed):
        return True
    return any(m.network is network for m in reader.remembered(bank, _NO_LIMIT))
