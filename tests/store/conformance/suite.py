"""What every store must pass: `for check in CHECKS: check(make_store)`.

A check raises AssertionError with what it found. It is given a function that opens the store;
within one check that function must open the same store each time, and for each check a new and
empty one. The checks know the protocol alone, so they hold for any backend.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.store.conformance import (
    checks_calls,
    checks_concepts,
    checks_curation,
    checks_facts,
    checks_forge,
    checks_graph,
    checks_history,
    checks_imported,
    checks_keys,
    checks_ledger,
    checks_mind,
    checks_nearest,
    checks_notes,
    checks_order,
    checks_overview,
    checks_parcels,
    checks_portable,
    checks_progress,
    checks_records,
    checks_rules,
    checks_search,
    checks_sessions,
    checks_shared,
    checks_vectors,
    checks_versions,
    checks_whole,
)
from tests.store.conformance.samples import MakeStore

__all__ = ["CHECKS", "MakeStore"]

_MODULES = (
    checks_calls,
    checks_concepts,
    checks_curation,
    checks_facts,
    checks_forge,
    checks_graph,
    checks_history,
    checks_imported,
    checks_keys,
    checks_ledger,
    checks_mind,
    checks_nearest,
    checks_notes,
    checks_order,
    checks_overview,
    checks_portable,
    checks_parcels,
    checks_progress,
    checks_records,
    checks_rules,
    checks_search,
    checks_sessions,
    checks_shared,
    checks_vectors,
    checks_versions,
    checks_whole,
)

CHECKS: tuple[Callable[[MakeStore], None], ...] = tuple(
    check
    for module in _MODULES
    for name, check in vars(module).items()
    if name.startswith("check_")
)
