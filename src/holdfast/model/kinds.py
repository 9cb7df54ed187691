"""The kind of each record, as its URI and the store name it, and the kind of what it says."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import InputError
from holdfast.model.knowledge import Fact, Kind, Memory, Rule
from holdfast.model.trust import Trust

# By the name of the class: a recall imports this module, and half of these classes are in modules
# that it does not need (3 ms).
_KINDS = {
    "Turn": "turn",
    "Exchange": "exchange",
    "Digest": "digest",
    "Session": "session",
    "Commit": "commit",
    "Pull": "pull",
    "Issue": "issue",
    "Remark": "remark",
    "SharedRecord": "shared",
    "ImportedRecord": "imported",
    "Memory": "memory",
    "Concept": "concept",
    "Fact": "fact",
    "Claim": "claim",
    "Entity": "entity",
    "Rule": "rule",
    "Pattern": "pattern",
    "Review": "review",
    "Opinion": "memory",
}


def record_kind(record: object) -> str:
    """The kind of a record, as in its URI."""
    return _KINDS[type(record).__name__]


def kind_of_class(kind: type) -> str:
    """The kind of the records of a class; "" for a class of anything else."""
    return _KINDS.get(kind.__name__, "") if kind.__module__.startswith("holdfast.model.") else ""


def is_from_outside(record: object) -> bool:
    """Whether a record involves words from outside, or is what somebody else shares."""
    is_shared = type(record).__name__ == "SharedRecord"
    shared = is_shared or (isinstance(record, Memory) and record.shared_by)
    return bool(shared) or getattr(record, "trust", None) is Trust.EXTERNAL


def knowledge_kind(record: object) -> Kind | None:
    """The kind of what a record says; None for records that are no knowledge, and for memories
    that have no kind."""
    match record:
        case Memory():
            return record.kind
        case Fact():
            return record.kind.says
        case Rule():
            return Kind.RULE
        case _:
            return None


def read_kinds(names: Sequence[str]) -> tuple[Kind, ...]:
    """The kinds of knowledge with these names; raises `InputError` if there is no such kind."""
    known = set(Kind)
    for name in names:
        if name not in known:
            raise InputError(f"There is no kind {name[:100]!r}.", f"One of: {', '.join(Kind)}.")
    return tuple(Kind(name) for name in dict.fromkeys(names))
