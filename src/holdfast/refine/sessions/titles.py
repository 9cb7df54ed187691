"""What a session was about: its own title where the transcript has one, else its first request that
says something."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.language import collapse_spaces, content_stems, plain
from holdfast.model.records import Exchange, Session
from holdfast.regex import regex

# Stems that a request needs to say what a session is about.
_MIN_STEMS = 3
# A link, a remark in brackets, a command, a plain yes: they say nothing.
_EMPTY = regex(
    r"^(?:https?://|[(\[/]|(?:yes|no|ok(?:ay)?|go|continue|commit|push|thanks?)\b)", re.IGNORECASE
)


def session_subject(session: Session, exchanges: Sequence[Exchange]) -> str:
    """What a session was about, in a few words; "" if it has none."""
    return collapse_spaces(session.title) or plain(_first_request(exchanges))


def session_title(session: Session, exchanges: Sequence[Exchange]) -> str:
    """The title of a session: its own, and what was asked first."""
    own, asked = collapse_spaces(session.title), exchanges[0].title if exchanges else ""
    if own and asked and own.lower() not in asked.lower():
        return f"{own} — {asked}"
    return asked or own


def _first_request(exchanges: Sequence[Exchange]) -> str:
    titles = [exchange.title for exchange in exchanges]
    telling = (t for t in titles if not _EMPTY.match(t) and len(content_stems(t)) >= _MIN_STEMS)
    return next(telling, titles[0] if titles else "")
