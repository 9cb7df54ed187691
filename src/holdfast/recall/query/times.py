"""Days and moments as people write them, as the text that records are ordered by."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.regex import regex

_ISO = regex(
    r"(\d{4}-\d{2})(-\d{2})?(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(Z|[+-]\d{2}:?\d{2})?)?",
    re.I,
)


class IsoSpan(NamedTuple):
    """From `first` up to, and without, `end`."""

    first: str
    end: str

    @property
    def last(self) -> str:
        """The last moment in it."""
        return _spell(datetime.fromisoformat(self.end) - timedelta(milliseconds=1))


def looks_like_date(text: str) -> bool:
    """Whether a text is meant as a date, right or wrong; no id of a record looks like one."""
    return re.match(r"\d{4}-\d{1,2}(?:-\d{1,2}(?:[T ].*)?)?$", text.strip()) is not None


def read_iso_span(text: str) -> IsoSpan:
    """What `2026-03`, `2026-03-01` or `2026-03-01T12:30+01:00` covers: a month, a day, a moment.
    Without an offset it is UTC, as all times are here."""
    found = _ISO.fullmatch(text.strip())
    try:
        if found is None or (found[3] and not found[2]):
            raise ValueError
        start = datetime.fromisoformat(
            f"{found[1]}{found[2] or '-01'}T{found[3] or '00:00'}{(found[4] or 'Z').upper()}"
        )
        if found[3]:
            length = timedelta(milliseconds=1)
        elif found[2]:
            length = timedelta(days=1)
        else:
            length = (start.replace(day=28) + timedelta(days=4)).replace(day=1) - start
        return IsoSpan(_spell(start), _spell(start + length))
    except (ValueError, OverflowError):
        raise InputError(
            f"{text!r} is not a date.", "Write 2026-03-01, 2026-03, or 2026-03-01T12:30 (in UTC)."
        ) from None


def _spell(moment: datetime) -> str:
    spelled = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return spelled.replace("+00:00", "Z")
