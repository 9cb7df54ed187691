"""ISO 8601 dates as people type them (`2026-03`, `2026-03-01T12:30`), as the timestamps by which
records are ordered. Dates in words are read in `dates`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from holdfast.errors import InputError
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.regex import regex
from holdfast.times import format_time

_ISO = regex(
    r"(\d{4}-\d{2})(-\d{2})?(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(Z|[+-]\d{2}:?\d{2})?)?",
    re.I,
)
# Also of a year beyond 9999, which no calendar of ours has. An id starts with eight digits or more.
_DATE_LIKE = regex(r"\d{4}-\d{1,2}(?:-\d{1,2}(?:[T ].*)?)?$|\d{5,7}-\d{2}-\d{2}(?:[T ].*)?$")


class IsoSpan(NamedTuple):
    """From `first` up to, but without, `end`."""

    first: str
    end: str

    @property
    def last(self) -> str:
        """The last millisecond of the span."""
        return format_time(datetime.fromisoformat(self.end) - timedelta(milliseconds=1))


def looks_like_date(text: str) -> bool:
    """Whether a text is meant as a date, valid or not; ids of records never look like one."""
    return _DATE_LIKE.match(text.strip()) is not None


def read_iso_span(text: str) -> IsoSpan:
    """The span of `2026-03` (a month), `2026-03-01` (a day) or `2026-03-01T12:30+01:00` (a
    millisecond). Without an offset it is in UTC."""
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
        return IsoSpan(format_time(start), format_time(start + length))
    except (ValueError, OverflowError):
        raise InputError(
            f"{text!r} is not a date.", "Write 2026-03-01, 2026-03, or 2026-03-01T12:30 (in UTC)."
        ) from None
