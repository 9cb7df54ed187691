"""The lines in which all lists of records name a record."""

from __future__ import annotations

from holdfast.interfaces.cli.screen import Screen, short


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
