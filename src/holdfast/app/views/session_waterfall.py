"""Where the time and the tokens of a session went, exchange by exchange."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from holdfast.model.records import Session
from holdfast.store.protocol import Reader

# A usual estimate for English text and code, as for what is injected.
_CHARACTERS_PER_TOKEN = 4


class WaterfallRow(NamedTuple):
    """An exchange: when it began after the start of the first, without the pauses between
    exchanges, how long it took, how long the pause before it was, and about how many tokens it
    has."""

    id: str
    seq: int
    title: str
    started: str
    offset_s: float
    duration_s: float
    pause_s: float
    tokens: int


class Waterfall(NamedTuple):
    """The exchanges of a session in order."""

    rows: tuple[WaterfallRow, ...]

    @property
    def duration_s(self) -> float:
        """How long all exchanges took together."""
        return sum(row.duration_s for row in self.rows)

    @property
    def pause_s(self) -> float:
        """How long all pauses between them were."""
        return sum(row.pause_s for row in self.rows)

    @property
    def tokens(self) -> int:
        """About how many tokens all have."""
        return sum(row.tokens for row in self.rows)


def session_waterfall(reader: Reader, session: Session) -> Waterfall:
    """Read where the time and the tokens of a session went."""
    characters = reader.overview.exchange_characters(session.bank, session.id)
    rows: list[WaterfallRow] = []
    worked, ended = 0.0, None
    for one in reader.sessions.exchanges(session.bank, session.id):
        first, last = _time(one.started), _time(one.ended)
        duration = max(0.0, (last - first).total_seconds()) if first and last else 0.0
        pause = max(0.0, (first - ended).total_seconds()) if first and ended else 0.0
        tokens = characters.get(one.id, 0) // _CHARACTERS_PER_TOKEN
        rows.append(
            WaterfallRow(
                one.id, one.first_seq, one.title, one.started, worked, duration, pause, tokens
            )
        )
        worked, ended = worked + duration, last or ended
    return Waterfall(tuple(rows))


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
