from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from holdfast.times import format_time


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2026, 3, 1, 12, 30, tzinfo=UTC), "2026-03-01T12:30:00.000Z"),
        (datetime(2026, 3, 1, 12, 30, 5, 678_900, UTC), "2026-03-01T12:30:05.678Z"),
        (
            datetime(2026, 3, 1, 0, 30, tzinfo=timezone(timedelta(hours=2))),
            "2026-02-28T22:30:00.000Z",
        ),
    ],
    ids=["UTC", "milliseconds", "another zone"],
)
def test_a_time_is_written_in_utc_with_milliseconds(moment: datetime, written: str) -> None:
    assert format_time(moment) == written
