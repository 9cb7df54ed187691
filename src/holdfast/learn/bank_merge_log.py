"""The merge of a bank into another, as the log of decisions states it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, NamedTuple

from holdfast.errors import InputError
from holdfast.model.bank import Bank, Disposition
from holdfast.model.curation import Action, Curation
from holdfast.model.uris import parse_uri


class BankMerge(NamedTuple):
    """A merge as it is logged: the bank as it was, the bank it went into, the aliases that were
    added to that, and the reason."""

    bank: Bank
    into: str
    added: tuple[str, ...] = ()
    reason: str = ""


def is_bank_merge(entry: Curation) -> bool:
    """Whether a decision is the merge of a bank into another."""
    about = parse_uri(entry.target)
    return entry.action is Action.MERGE and about is not None and about.kind == "bank"


def merge_to_json(merge: BankMerge) -> str:
    """A merge as the text of a log entry."""
    fields = {
        "into": merge.into,
        "reason": merge.reason,
        "added": list(merge.added),
        "bank": asdict(merge.bank),
    }
    return json.dumps(fields, ensure_ascii=False)


def read_merge(entry: Curation) -> BankMerge:
    """The merge that a log entry states; raises `InputError` if its text is incomplete, as after
    scrubbing."""
    try:
        fields: Any = json.loads(entry.text)
        known: dict[str, Any] = dict(fields["bank"])
        known["disposition"] = Disposition(**known["disposition"])
        known["aliases"] = tuple(known["aliases"])
        return BankMerge(
            Bank(**known), str(fields["into"]), tuple(fields["added"]), str(fields["reason"])
        )
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"What decision {entry.seq} merged is no longer known.",
            "A backup from before the merge has both banks.",
        ) from error
