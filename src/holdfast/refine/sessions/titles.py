"""The title of a session."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.language import collapse_spaces
from holdfast.model.records import Exchange, Session


def session_title(session: Session, exchanges: Sequence[Exchange]) -> str:
    """What a session was about, in a few words."""
    title = collapse_spaces(session.title)
    return title or (exchanges[0].title if exchanges else "")
