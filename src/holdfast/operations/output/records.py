"""The lines in which lists of records name a record, and a record that is shared. `holdfast recall`
imports this module, so it imports little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.framed_text import defang
from holdfast.language import truncate
from holdfast.model.kinds import is_from_outside
from holdfast.model.to_json import to_jsonable
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.operations.screen import Screen, day, number, short

if TYPE_CHECKING:
    from holdfast.model.team import SharedRecord


def print_record_head(screen: Screen, head: str, uri: str) -> None:
    """What a record is, then its whole URI."""
    screen.line(f"{screen.paint(head, 'bold')}  {screen.paint(uri, 'cyan')}")


def print_reference(
    screen: Screen, uri: str, indent: str, session: str = "", bank: str = ""
) -> None:
    """The short URI of a record, then the session and the bank it belongs to, where given."""
    notes = f" · session {session[:8]}" if session else ""
    notes += f" · {bank}" if bank else ""
    screen.line(indent + screen.paint(short(uri), "cyan") + screen.paint(notes, "dim"))


def excerpt_of(record: object, text: str, most: int) -> str:
    """The start of a text of a record on one line, as an agent may read it."""
    return defang(truncate(text, most), is_from_outside(record))


def home_note(bank: str, names: Mapping[str, str], id: str) -> str:
    """The name of a record's bank as a note, where a list is of all banks."""
    return f" · {names.get(id, id)}" if bank == ALL_BANKS else ""


def any_bank(name: str) -> str:
    """The name of a bank, or "all", in the words of a sentence that says no."""
    return "any bank" if name == ALL_BANKS else describe_bank(name)


def print_shared_record(screen: Screen, shared: SharedRecord, sign: str, redacted: int = 0) -> None:
    """The record in the words that others will read; `sign` is that of a diff (+, -, ±) and
    `redacted` counts the secrets that were replaced in it."""
    outside = " · contains text from outside" if shared.lineage is Trust.EXTERNAL else ""
    head = f"{sign} {shared.kind} {shared.origin} · {day(shared.time)}{outside}"
    screen.line(head, "red" if sign == "-" else "green")
    screen.wrap(shared.text, f"{sign}   ")
    if shared.note:
        screen.wrap(f"note: {shared.note}", f"{sign}   ")
    if redacted:
        screen.line(f"    ({number(redacted, 'secret')} redacted)")


def shared_record_json(shared: SharedRecord, *left_out: str) -> dict[str, object]:
    """A shared record with its URI, without the fields of these names."""
    fields: dict[str, object] = to_jsonable(shared)
    kept = {name: value for name, value in fields.items() if name not in left_out}
    return {"uri": uri("shared", shared.id), **kept}
