"""The program with a clock that stands still: `python -m tests.e2e.golden.fixed_clock COMMAND …`.

Whoever imports this first gives every memory of the process that clock. The standard library's is
replaced only while the module is imported that reads it.
"""

from __future__ import annotations

import datetime
import sys

# A few days after the last of the sample sessions.
NOW = datetime.datetime(2026, 11, 16, 12, tzinfo=datetime.UTC)
_REAL = datetime.datetime


class _StandsStill(datetime.datetime):
    @classmethod
    def now(  # pyright: ignore[reportIncompatibleMethodOverride]
        cls, tz: datetime.tzinfo | None = None
    ) -> datetime.datetime:
        return NOW.astimezone(tz) if tz else NOW.replace(tzinfo=None)


assert "holdfast.app.core.context" not in sys.modules, "the clock is read already"
datetime.datetime = _StandsStill
import holdfast.app.core.context  # noqa: E402, F401  # pyright: ignore[reportUnusedImport]

datetime.datetime = _REAL

if __name__ == "__main__":
    from holdfast.interfaces.cli.main import main

    sys.exit(main(sys.argv[1:]))
