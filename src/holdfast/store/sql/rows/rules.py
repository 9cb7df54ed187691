"""Rules, patterns and proposals to rows and back. A table has the columns of its dataclass, in
their order; tuples are JSON arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, fields
from typing import Any, cast

from holdfast.model.knowledge import Pattern, Proposal, ProposalKind, Rule
from holdfast.model.trust import Trust

Row = tuple[Any, ...]
RULE = ", ".join(field.name for field in fields(Rule))
PATTERN = ", ".join(field.name for field in fields(Pattern))
PROPOSAL = ", ".join(field.name for field in fields(Proposal))
_LISTS = ("paths", "sources", "authors", "evidence", "against", "files")


def row_of(record: Rule | Pattern | Proposal) -> Row:
    """`RULE`, `PATTERN` or `PROPOSAL`."""
    values: Row = astuple(record)
    return tuple(as_list(cast(Row, v)) if isinstance(v, tuple) else v for v in values)


def rule_of(row: Row) -> Rule:
    """`RULE`."""
    return Rule(**_fields(RULE, row))


def pattern_of(row: Row) -> Pattern:
    """`PATTERN`."""
    found = _fields(PATTERN, row)
    found["decides"] = bool(found["decides"])
    return Pattern(**found)


def proposal_of(row: Row) -> Proposal:
    """`PROPOSAL`."""
    found = _fields(PROPOSAL, row)
    found["kind"] = ProposalKind(found["kind"])
    return Proposal(**found)


def _fields(columns: str, row: Row) -> dict[str, Any]:
    found = dict(zip(columns.split(", "), row, strict=True))
    lists = {name: as_tuple(found[name]) for name in _LISTS if name in found}
    return {**found, **lists, "trust": Trust(found["trust"])}


def as_list(values: Iterable[str]) -> str:
    """A list as JSON."""
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def as_tuple(text: str) -> tuple[str, ...]:
    """The list in a JSON text."""
    return tuple(json.loads(text))
