"""What every store backend must pass: `for check in CHECKS: check(make_store)`.

A check raises AssertionError with what it found. It is given a function that opens the store;
within one check that function must open the same store each time, and for each check a new and
empty one. The checks use the protocol alone, so they hold for any backend.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.store.conformance import (
    checks_access,
    checks_concepts,
    checks_curation,
    checks_export,
    checks_facts,
    checks_forge,
    checks_git_history,
    checks_graph,
    checks_imports,
    checks_injections,
    checks_isolation,
    checks_ledger,
    checks_memories,
    checks_model_calls,
    checks_outbox,
    checks_overview,
    checks_progress,
    checks_records,
    checks_rules,
    checks_search,
    checks_sessions,
    checks_shares,
    checks_timeline,
    checks_vector_search,
    checks_vectors,
    checks_versions,
)
from tests.store.conformance.samples import MakeStore

__all__ = ["CHECKS", "MakeStore"]

_MODULES = (
    checks_model_calls,
    checks_concepts,
    checks_curation,
    checks_facts,
    checks_forge,
    checks_graph,
    checks_git_history,
    checks_imports,
    checks_access,
    checks_ledger,
    checks_memories,
    checks_vector_search,
    checks_injections,
    checks_timeline,
    checks_overview,
    checks_export,
    checks_outbox,
    checks_progress,
    checks_records,
    checks_rules,
    checks_search,
    checks_sessions,
    checks_shares,
    checks_vectors,
    checks_versions,
    checks_isolation,
)

CHECKS: tuple[Callable[[MakeStore], None], ...] = tuple(
    check
    for module in _MODULES
    for name, check in vars(module).items()
    if name.startswith("check_")
)
