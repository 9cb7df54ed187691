"""What the line that the user sees at the start of a session says of the latest work.

The hook writes the line itself, from the prepared brief and this.
"""

from __future__ import annotations

from holdfast.brief.frame import sanitize
from holdfast.language import truncate
from holdfast.store.protocol import Reader

# The latest sessions among which one of a person is looked for; most have subagents' between.
_MAX_SESSIONS = 20
# The line should fit into one of a terminal.
_MAX_CHARACTERS = 60


def last_work(reader: Reader, bank: str) -> str:
    """What the latest session of a person was about, and its day; "" if there is none."""
    for session in reader.sessions.latest(bank, _MAX_SESSIONS):
        digest = reader.sessions.digest(bank, session.id) if not session.parent else None
        if digest is not None and digest.request:
            day = (digest.ended or digest.started)[:10]
            return f"{truncate(sanitize(digest.request), _MAX_CHARACTERS)} ({day})"
    return ""
