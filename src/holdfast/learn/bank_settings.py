"""The settings of a bank: disposition, background, aliases, and retention.

Retention hides sessions that are older than so many months, as if a person had forgotten them.
Nothing is erased: each is an entry of the curation log, and a longer retention, or none, brings
them back. Sessions in which somebody corrected something stay.

A change is logged as JSON, with the values before and after where they differ, and can be undone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from holdfast.errors import InputError
from holdfast.learn.curation import Curator, Target
from holdfast.learn.decision_state import RETENTION_AUTHOR
from holdfast.learn.presets import PRESETS
from holdfast.model.bank import Bank, Disposition
from holdfast.model.curation import Action, Curation, in_effect
from holdfast.model.uris import parse_uri
from holdfast.store.protocol import Reader, Writer
from holdfast.times import format_time

# The background goes into every prompt of a reflection.
MAX_BACKGROUND_CHARS = 4000
_MAX_MONTHS = 1200
_DAYS_PER_MONTH = 30.44
# Sessions hidden, or brought back, in one call. Each derives its bank's facts again, so a large
# number keeps a worker busy for long.
_SESSIONS_AT_ONCE = 50
_NO_LIMIT = 1_000_000
_TRAITS = ("skepticism", "literalism", "empathy")
Fields = dict[str, Any]


class BankChanges(NamedTuple):
    """Changes to a bank; None leaves a setting as it is. `aliases` are added, `dropped_aliases`
    removed, both as people write them."""

    preset: str | None = None
    skepticism: int | None = None
    literalism: int | None = None
    empathy: int | None = None
    background: str | None = None
    retention: int | None = None
    aliases: tuple[str, ...] = ()
    dropped_aliases: tuple[str, ...] = ()


def change_bank(writer: Writer, bank: Bank, changes: BankChanges) -> Bank:
    """Check the changes and store them; returns the changed bank."""
    changed = replace(
        bank,
        disposition=_disposition(bank.disposition, changes),
        background=_background(bank.background, changes.background),
        retention=_months(bank.retention, changes.retention),
        aliases=_aliases(writer, bank, changes),
    )
    with writer.transaction():
        writer.banks.update(changed)
    return changed


def _disposition(known: Disposition, changes: BankChanges) -> Disposition:
    if changes.preset is not None:
        if changes.preset not in PRESETS:
            raise InputError(
                f"There is no preset {changes.preset!r}.", f"There are: {', '.join(PRESETS)}."
            )
        known = PRESETS[changes.preset]
    for name in _TRAITS:
        value = getattr(changes, name)
        if value is None:
            continue
        if not 1 <= value <= 5:
            raise InputError(f"{name} is {value}.", "Give a whole number from 1 to 5.")
        known = replace(known, **{name: value})
    return known


def _background(known: str, wanted: str | None) -> str:
    text = known if wanted is None else wanted.strip()
    if len(text) > MAX_BACKGROUND_CHARS:
        raise InputError(
            f"The background has {len(text):,} characters.",
            f"{MAX_BACKGROUND_CHARS:,} is the limit: describe only the role of the bank.",
        )
    return text


def _months(known: int, wanted: int | None) -> int:
    months = known if wanted is None else wanted
    if not 0 <= months <= _MAX_MONTHS:
        raise InputError(f"The retention is {months} months.", "Give months from 1, or `all`.")
    return months


def _aliases(writer: Writer, bank: Bank, changes: BankChanges) -> tuple[str, ...]:
    """The aliases after the changes. Only names that people gave can be dropped, not the remotes
    and folders by which the project is recognised."""
    aliases = dict.fromkeys(bank.aliases)
    for name in changes.aliases:
        alias = f"name:{name.strip()}"
        if not name.strip() or name == "all":
            raise InputError(f"A bank cannot be called {name!r}.", "Choose another name.")
        same_name = next((one.id for one in writer.banks.all() if one.name == name.strip()), None)
        owner = writer.banks.id_by_alias(alias) or same_name
        if owner is not None and owner != bank.id:
            other = writer.banks.get(owner)
            raise InputError(
                f"{name!r} is a name of the bank {other.name if other else owner} already.",
                "Choose another, or take it from that one first.",
            )
        aliases[alias] = None
    for name in changes.dropped_aliases:
        alias = name if name in aliases else f"name:{name.strip()}"
        if alias not in aliases:
            raise InputError(f"The bank has no alias {name!r}.", "`holdfast bank show` lists them.")
        if not alias.startswith("name:"):
            raise InputError(
                f"{name!r} identifies the project itself.",
                "Only names that people gave can be dropped.",
            )
        del aliases[alias]
    return tuple(aliases)


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
    others = {"background": bank.background, "retention": bank.retention}
    return {**traits, **others, "aliases": list(bank.aliases)}


def read_change(text: str) -> tuple[Fields, Fields]:
    """The values before and after a change, from the text of a log entry; two empty dicts if the
    text is incomplete, as after scrubbing."""
    try:
        change: Any = json.loads(text)
        was, now = dict(change["was"]), dict(change["is"])
    except (ValueError, TypeError, KeyError):
        return {}, {}
    known = {*_TRAITS, "background", "retention", "aliases"}
    return (was, now) if set(was) == set(now) <= known else ({}, {})


def undo_change(bank: Bank, entry: Curation) -> Bank:
    """The bank with a change undone. Aliases that were added since stay."""
    was, now = read_change(entry.text)
    if not was:
        raise InputError(
            f"What decision {entry.seq} changed is no longer known.",
            "Set the bank as you want it: `holdfast bank set`.",
        )
    traits = {name: was[name] for name in _TRAITS if name in was}
    disposition = replace(bank.disposition, **traits)
    aliases = [name for name in bank.aliases if name not in now.get("aliases", ())]
    return replace(
        bank,
        disposition=disposition,
        background=str(was.get("background", bank.background)),
        retention=int(was.get("retention", bank.retention)),
        aliases=(*was["aliases"], *aliases) if "aliases" in was else bank.aliases,
    )


def apply_retention(writer: Writer, bank: Bank, now: Callable[[], str]) -> tuple[int, int]:
    """Hide sessions that are older than the retention, and bring back those that no longer are;
    returns how many of each."""
    curator = Curator(writer, now, RETENTION_AUTHOR)
    oldest = ""
    if bank.retention:
        days = bank.retention * _DAYS_PER_MONTH
        oldest = format_time(datetime.fromisoformat(now()) - timedelta(days=days))
    restored = [pair for pair in _hidden_sessions(writer, bank) if pair[1] >= oldest][
        :_SESSIONS_AT_ONCE
    ]
    for target, _ in restored:
        curator.restore(target)
    old = [
        session
        for session in writer.sessions.latest(bank.id, _NO_LIMIT if oldest else 0)
        if "" < session.ended < oldest and not session.parent
    ]
    hidden = 0
    for session in sorted(old, key=lambda s: s.ended):
        if hidden == _SESSIONS_AT_ONCE:
            break
        if not writer.curation.states_in_session(bank.id, session.id):
            curator.forget(Target(bank.id, "session", session.id, session.id))
            hidden += 1
    return hidden, len(restored)


def _hidden_sessions(writer: Writer, bank: Bank) -> list[tuple[Target, str]]:
    """The sessions that retention, and nobody else, hides, with the times they ended."""
    found: list[tuple[Target, str]] = []
    for id in hidden_by_retention(writer, bank.id):
        ended = max((t.time for t in writer.turns.stream_uncurated(bank.id, id)), default="")
        found.append((Target(bank.id, "session", id, id, shown=False), ended))
    return found


def hidden_by_retention(reader: Reader, bank: str) -> list[str]:
    """The ids of the sessions that retention, and nobody else, hides."""
    hidden_by: dict[str, str] = {}
    for entry in in_effect(reader.curation.log(bank)):
        if entry.action in (Action.FORGET, Action.RESTORE):
            hidden_by[entry.target] = entry.who if entry.action is Action.FORGET else ""
    targets = [target for target, who in hidden_by.items() if who == RETENTION_AUTHOR]
    parsed = [parse_uri(target) for target in targets]
    return [name.id for name in parsed if name is not None and name.kind == "session"]
