"""The record that a URI names. Opening one with all that is around it is in `trace`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.model.uris import parse_uri

if TYPE_CHECKING:
    from holdfast.store.across_tables.lookup import Record
    from holdfast.store.protocol import Reader


def find_by_uri(reader: Reader, bank: str | None, name: str) -> Record | None:
    """The record that a URI of ours names; None if there is none."""
    named = parse_uri(name)
    found = reader.records.find(bank, named.kind, named.id, 1) if named else []
    return found[0] if found else None
