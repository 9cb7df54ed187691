"""Write the sample sessions: the story of tidewatch, a small service that watches the tide.

    python examples/story.py [FOLDER]

The same story always gives the same files. FOLDER is examples/sessions unless named.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tidewatch import alerts, beginning, cache, clocks, harbours
from tidewatch.transcript import write_sessions

SESSIONS = (
    *beginning.SESSIONS,
    *cache.SESSIONS,
    *alerts.SESSIONS,
    *clocks.SESSIONS,
    *harbours.SESSIONS,
)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "sessions"
    for path in write_sessions(SESSIONS, folder):
        print(path.relative_to(folder))


if __name__ == "__main__":
    main()
