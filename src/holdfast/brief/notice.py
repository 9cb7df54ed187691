"""What the line that the user sees at the start of a session says of the latest work.

The hook writes the line itself, from the prepared brief and this.
"""

from __future__ import annotations

from holdfast.framed_text import one_line
from holdfast.language import truncate, words
from holdfast.regex import regex
from holdfast.store.protocol import Reader

# The latest sessions among which one of a person is looked for; most have subagents' between.
_MAX_SESSIONS = 20
# The line should fit into one of a terminal.
_MAX_CHARACTERS = 60
# Fewer are small talk ("hello", "go on").
_MIN_WORDS = 3
# What a digest adds to its first request.
_MORE = regex(r" \(and \d+ more requests?\)$")


def last_work(reader: Reader, bank: str) -> str:
    """What the latest session of a person that had a result was about, and its day; if none had
    one, the latest session; "" if there is none."""
    fallback = ""
    for session in reader.sessions.latest(bank, _MAX_SESSIONS):
        digest = reader.sessions.digest(bank, session.id) if not session.parent else None
        if digest is None or not digest.request:
            continue
        day = (digest.ended or digest.started)[:10]
        about = _MORE.sub("", one_line(digest.request))
        line = f"{truncate(about, _MAX_CHARACTERS)} ({day})"
        has_result = digest.completed or digest.learned or digest.next_steps
        if has_result and len(words(about)) >= _MIN_WORDS and not about.startswith("/"):
            return line
        fallback = fallback or line
    return fallback
