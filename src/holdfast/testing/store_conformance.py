"""What every store must pass: `for check in CHECKS: check(make_store)`.

A check raises AssertionError with what it found. It is given a function that opens the store;
within one check that function must open the same store each time, and for each check a new and
empty one. The checks know the protocol alone, so they hold for any backend.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.testing import (
    store_checks_calls,
    store_checks_concepts,
    store_checks_curation,
    store_checks_facts,
    store_checks_forge,
    store_checks_graph,
    store_checks_history,
    store_checks_imported,
    store_checks_keys,
    store_checks_ledger,
    store_checks_mind,
    store_checks_nearest,
    store_checks_notes,
    store_checks_order,
    store_checks_overview,
    store_checks_parcels,
    store_checks_portable,
    store_checks_progress,
    store_checks_records,
    store_checks_rules,
    store_checks_search,
    store_checks_sessions,
    store_checks_shared,
    store_checks_vectors,
    store_checks_versions,
    store_checks_whole,
)
from holdfast.testing.store_samples import MakeStore

__all__ = ["CHECKS", "MakeStore"]

_MODULES = (
    store_checks_calls,
    store_checks_concepts,
    store_checks_curation,
    store_checks_facts,
    store_checks_forge,
    store_checks_graph,
    store_checks_history,
    store_checks_imported,
    store_checks_keys,
    store_checks_ledger,
    store_checks_mind,
    store_checks_nearest,
    store_checks_notes,
    store_checks_order,
    store_checks_overview,
    store_checks_portable,
    store_checks_parcels,
    store_checks_progress,
    store_checks_records,
    store_checks_rules,
    store_checks_search,
    store_checks_sessions,
    store_checks_shared,
    store_checks_vectors,
    store_checks_versions,
    store_checks_whole,
)

CHECKS: tuple[Callable[[MakeStore], None], ...] = tuple(
    check
    for module in _MODULES
    for name, check in vars(module).items()
    if name.startswith("check_")
)
