"""What a change of a bank was, as the log of decisions keeps it: what it was like and what it is
like now, as far as the two differ; and the way back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from holdfast.errors import InputError
from holdfast.model.bank import Bank, Disposition
from holdfast.model.curation import Curation

_TRAITS = ("skepticism", "literalism", "empathy")
_ALIASES = "aliases"
Told = dict[str, Any]


def change_to_json(before: Bank, after: Bank) -> str:
    """A change as the log keeps it; "" where nothing changed."""
    old, new = _fields(before), _fields(after)
    differing = [name for name in old if old[name] != new[name]]
    if not differing:
        return ""
    both = {"was": {n: old[n] for n in differing}, "is": {n: new[n] for n in differing}}
    return json.dumps(both, ensure_ascii=False)


def _fields(bank: Bank) -> Told:
    traits = {name: getattr(bank.disposition, name) for name in _TRAITS}
    return {
        **traits,
        "background": bank.background,
        "retention": bank.retention,
        _ALIASES: list(bank.aliases),
    }


def read_change(text: str) -> tuple[Told, Told]:
    """What a bank was like and what it is like since, by an entry of the log; nothing of one that
    is not whole any more."""
    try:
        told: Any = json.loads(text)
        was, now = dict(told["was"]), dict(told["is"])
    except (ValueError, TypeError, KeyError):
        return {}, {}
    known = {*_TRAITS, "background", "retention", _ALIASES}
    return (was, now) if set(was) == set(now) <= known else ({}, {})


def undo_change(bank: Bank, entry: Curation) -> Bank:
    """A bank as it was before a change of it. Names that others gave it since stay."""
    was, now = read_change(entry.text)
    if not was:
        raise InputError(
            f"What decision {entry.seq} changed is not known any more.",
            "Set the bank as you want it: `holdfast bank set`.",
        )
    traits = {name: was[name] for name in _TRAITS if name in was}
    mind: Disposition = replace(bank.disposition, **traits)
    aliases = [name for name in bank.aliases if name not in now.get(_ALIASES, ())]
    return replace(
        bank,
        disposition=mind,
        background=str(was.get("background", bank.background)),
        retention=int(was.get("retention", bank.retention)),
        aliases=(*was[_ALIASES], *aliases) if _ALIASES in was else bank.aliases,
    )
