"""The kind of each record, as its URI and the store name it."""

from __future__ import annotations

from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.graph import Entity
from holdfast.model.imports import ImportedRecord
from holdfast.model.knowledge import Claim, Concept, Fact, Memory, Pattern, Rule
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.team import Commit, SharedRecord

_KINDS: dict[type, str] = {
    Turn: "turn",
    Exchange: "exchange",
    Digest: "digest",
    Session: "session",
    Commit: "commit",
    Pull: "pull",
    Issue: "issue",
    Remark: "remark",
    SharedRecord: "shared",
    ImportedRecord: "imported",
    Memory: "memory",
    Concept: "concept",
    Fact: "fact",
    Claim: "claim",
    Entity: "entity",
    Rule: "rule",
    Pattern: "pattern",
}


def record_kind(record: object) -> str:
    """The kind of a record, as in its URI."""
    return _KINDS[type(record)]
