"""What a bank is like: its disposition, background, aliases, and how long it shows sessions.

Retention is the gentlest that is of use: sessions older than so many months are *put away* like
those that a person forgets. Nothing is erased, every one is an entry of the log, and a longer
retention, or none, brings them back. Sessions that somebody corrected something in stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.learn.curation import Curator, Target
from holdfast.learn.decision_state import RETENTION_AUTHOR, in_effect
from holdfast.model.bank import Bank, Disposition
from holdfast.model.curation import Action
from holdfast.model.uris import parse_uri, uri
from holdfast.store.protocol import Reader, Writer

PRESETS = {
    "code-review": Disposition(4, 5, 2),
    "bug-investigation": Disposition(4, 4, 2),
    "documentation": Disposition(3, 3, 3),
    "support": Disposition(2, 2, 5),
}
MAX_BACKGROUND_CHARS = 4000
_MOST_MONTHS = 1200
_PORTION = 50
_ALL = 1_000_000


class BankChanges(NamedTuple):
    """What is to change of a bank; None leaves it as it is. `aliases` are added, `dropped` taken
    away, both as people write them."""

    preset: str | None = None
    skepticism: int | None = None
    literalism: int | None = None
    empathy: int | None = None
    background: str | None = None
    retention: int | None = None
    aliases: tuple[str, ...] = ()
    dropped_aliases: tuple[str, ...] = ()


def change_bank(writer: Writer, bank: Bank, changes: BankChanges) -> Bank:
    """The bank as it is wished, checked and set down."""
    changed = replace(
        bank,
        disposition=_disposition(bank.disposition, changes),
        background=_background(bank.background, changes.background),
        retention=_months(bank.retention, changes.retention),
        aliases=_aliases(writer, bank, changes),
    )
    with writer.transaction():
        writer.update_bank(changed)
    return changed


def _disposition(known: Disposition, wish: BankChanges) -> Disposition:
    if wish.preset is not None:
        if wish.preset not in PRESETS:
            raise InputError(
                f"There is no preset {wish.preset!r}.", f"There are: {', '.join(PRESETS)}."
            )
        known = PRESETS[wish.preset]
    for name in ("skepticism", "literalism", "empathy"):
        value = getattr(wish, name)
        if value is None:
            continue
        if not 1 <= value <= 5:
            raise InputError(f"{name} is {value}.", "Give a whole number from 1 to 5.")
        known = replace(known, **{name: value})
    return known


def _background(known: str, wished: str | None) -> str:
    text = known if wished is None else wished.strip()
    if len(text) > MAX_BACKGROUND_CHARS:
        raise InputError(
            f"The background has {len(text):,} characters.",
            f"{MAX_BACKGROUND_CHARS:,} are the most: say who the bank speaks for, no more.",
        )
    return text


def _months(known: int, wished: int | None) -> int:
    months = known if wished is None else wished
    if not 0 <= months <= _MOST_MONTHS:
        raise InputError(f"The retention is {months} months.", "Give months from 1, or `all`.")
    return months


def _aliases(writer: Writer, bank: Bank, wish: BankChanges) -> tuple[str, ...]:
    """People give names; what a project is known by otherwise is not theirs to change here."""
    aliases = dict.fromkeys(bank.aliases)
    for given in wish.aliases:
        alias = f"name:{given.strip()}"
        if not given.strip() or given == "all":
            raise InputError(f"A bank cannot be called {given!r}.", "Choose another name.")
        called = next((one.id for one in writer.banks() if one.name == given.strip()), None)
        owner = writer.bank_by_alias(alias) or called
        if owner is not None and owner != bank.id:
            other = writer.bank(owner)
            raise InputError(
                f"{given!r} is a name of the bank {other.name if other else owner} already.",
                "Choose another, or take it from that one first (--drop-alias).",
            )
        aliases[alias] = None
    for given in wish.dropped_aliases:
        alias = given if given in aliases else f"name:{given.strip()}"
        if alias not in aliases:
            raise InputError(
                f"The bank has no alias {given!r}.", "`holdfast bank show` lists them."
            )
        if not alias.startswith("name:"):
            raise InputError(
                f"{given!r} is how the project itself is known.",
                "Only names that people gave can be dropped.",
            )
        del aliases[alias]
    return tuple(aliases)


def apply_retention(
    writer: Writer, bank: Bank, now: Callable[[], str], most: int = _PORTION
) -> tuple[int, int]:
    """Put away sessions that are older than the retention, and bring back those that no longer
    are; returns how many of each, at most so many at once."""
    curator = Curator(writer, now, RETENTION_AUTHOR)
    oldest = ""
    if bank.retention:
        moment = datetime.fromisoformat(now()) - timedelta(days=bank.retention * 30.44)
        oldest = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    back = [t for t in _put_away(writer, bank) if t[1] >= oldest][:most]
    for target, _ in back:
        curator.restore(target)
    old = [
        session
        for session in writer.sessions(bank.id, _ALL if oldest else 0)
        if "" < session.ended < oldest and not session.parent
    ]
    gone = 0
    for session in sorted(old, key=lambda s: s.ended):
        if gone == most:
            break
        if not writer.curation_states_in_session(bank.id, session.id):
            curator.forget(Target(bank.id, "session", session.id, session.id))
            gone += 1
    return gone, len(back)


def _put_away(writer: Writer, bank: Bank) -> list[tuple[Target, str]]:
    """The sessions that retention, and nobody else, put away, with when they ended."""
    found: list[tuple[Target, str]] = []
    for id in hidden_by_retention(writer, bank.id):
        ended = max((t.time for t in writer.all_turns(bank.id, id)), default="")
        found.append((Target(bank.id, "session", id, id, shown=False), ended))
    return found


def hidden_by_retention(reader: Reader, bank: str) -> list[str]:
    """The ids of the sessions that retention, and nobody else, put away."""
    last: dict[str, str] = {}
    for entry in in_effect(reader.curations(bank)):
        if entry.action in (Action.FORGET, Action.RESTORE):
            last[entry.target] = entry.who if entry.action is Action.FORGET else ""
    named = [(target, parse_uri(target)) for target, who in last.items() if who == RETENTION_AUTHOR]
    return [n.id for target, n in named if n is not None and target == uri("session", n.id)]
