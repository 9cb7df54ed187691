"""The lines in which lists of records name a record. `holdfast recall` imports this module, so it
imports little."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.app.core.context import ALL_BANKS, describe_bank
from holdfast.framed_text import defang
from holdfast.language import truncate
from holdfast.model.kinds import is_from_outside
from holdfast.operations.screen import Screen, short


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
