"""What any store must be able to do; `tests/store/conformance` checks it for each backend.

Each module holds the capabilities of one subject (`facts`: `FactReader`, `FactWriter`) and the
records that they take and return. `store` puts them together.
"""

from holdfast.store.protocol.store import (
    Counts,
    Derived,
    Match,
    Reader,
    ReadStore,
    Record,
    SourceChange,
    StaleSession,
    Store,
    Writer,
)

__all__ = [
    "Counts",
    "Derived",
    "Match",
    "ReadStore",
    "Reader",
    "Record",
    "SourceChange",
    "StaleSession",
    "Store",
    "Writer",
]
