"""Changes to a bank's settings as text of the curation log (the values before and after, where they
differ), and how to undo them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from holdfast.errors import InputError
from holdfast.model.bank import Bank, Disposition
from holdfast.model.curation import Curation

_TRAITS = ("skepticism", "literalism", "empathy")
_ALIASES = "aliases"
Fields = dict[str, Any]


def change_to_json(before: Bank, after: Bank) -> str:
    """The change as JSON for the log; "" if nothing changed."""
    old, new = _fields(before), _fields(after)
    changed = [name for name in old if old[name] != new[name]]
    if not changed:
        return ""
    change = {"was": {n: old[n] for n in changed}, "is": {n: new[n] for n in changed}}
    return json.dumps(change, ensure_ascii=False)


def _fields(bank: Bank) -> Fields:
    traits = {name: getattr(bank.disposition, name) for name in _TRAITS}
    return {
        **traits,
        "background": bank.background,
        "retention": bank.retention,
        _ALIASES: list(bank.aliases),
    }


def read_change(text: str) -> tuple[Fields, Fields]:
    """The values before and after a change, from the text of a log entry; two empty dicts if the
    text is incomplete, as after scrubbing."""
    try:
        change: Any = json.loads(text)
        was, now = dict(change["was"]), dict(change["is"])
    except (ValueError, TypeError, KeyError):
        return {}, {}
    known = {*_TRAITS, "background", "retention", _ALIASES}
    return (was, now) if set(was) == set(now) <= known else ({}, {})


def undo_change(bank: Bank, entry: Curation) -> Bank:
    """The bank with a change undone. Aliases that were added since stay."""
    was, now = read_change(entry.text)
    if not was:
        raise InputError(
            f"What decision {entry.seq} changed is not known any more.",
            "Set the bank as you want it: `holdfast bank set`.",
        )
    traits = {name: was[name] for name in _TRAITS if name in was}
    disposition: Disposition = replace(bank.disposition, **traits)
    aliases = [name for name in bank.aliases if name not in now.get(_ALIASES, ())]
    return replace(
        bank,
        disposition=disposition,
        background=str(was.get("background", bank.background)),
        retention=int(was.get("retention", bank.retention)),
        aliases=(*was[_ALIASES], *aliases) if _ALIASES in was else bank.aliases,
    )
