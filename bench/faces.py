"""What every face answers about real sessions, compared with what it answered before.

The calls of `tests/e2e/golden`, with words that real sessions have, on the command line, with
`--json`, over REST, GraphQL, MCP and from Python. What real sessions say must not be kept, so that
`bench/data/faces.json` has of each answer a hash, and how many records it names:

    python -m bench.faces             tells where an answer is another
    python -m bench.faces --record    keeps the answers of today
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from pathlib import Path

import tests.e2e.golden.fixed_clock  # noqa: F401  # pyright: ignore[reportUnusedImport]
from tests.e2e.golden.faces import asked_of_all

from bench.corpus import real_transcripts

KEPT = Path(__file__).parent / "data" / "faces.json"
SESSIONS = 10
# Words of programs anywhere instead of those of the sample sessions.
_INSTEAD = {
    "retry policy of the fetcher": "connection to the server",
    "IntegrityError UNIQUE constraint": "error failed exception",
    "src/tidewatch/alerts.py": "README.md",
    "Why SQLite and not Postgres?": "Why was the connection changed?",
    "How many requests a minute does the harbour API allow?": "Which port does the server use?",
    "What was the root cause of the duplicate alerts?": "What was the root cause of the error?",
    "What replaced Redis?": "What replaced the old settings?",
    "duplicate alerts": "connection error",
    "Is the SMS gateway reliable?": "Is the connection reliable?",
    "response cache": "connection",
    "alerts.py": "README.md",
}
# By the call and the face: a hash of the answer, and how many records it names.
Outline = dict[str, dict[str, tuple[str, int]]]


def outline(sessions: list[Path]) -> Outline:
    """What every face answers, without its words."""
    found: Outline = {}
    with tempfile.TemporaryDirectory() as folder:
        for call, face, _, told in asked_of_all(Path(folder), sessions, _INSTEAD):
            named = set(re.findall(r"holdfast://[\w/.-]+", told))
            key = hashlib.sha256(told.encode()).hexdigest()[:12]
            found.setdefault(call, {})[face] = (key, len(named))
    return found


def differences(before: Outline, now: Outline) -> list[str]:
    """Where an answer is another, or is asked no more, as lines."""
    told: list[str] = []
    for call, faces in before.items():
        for face, (key, count) in faces.items():
            other = now.get(call, {}).get(face)
            if other is None:
                told.append(f"{call:20} {face:9} is not there any more")
            elif other[0] != key:
                told.append(f"{call:20} {face:9} {count} records, now {other[1]}")
    return told


def main() -> None:
    with real_transcripts() as found:
        if found is None:
            sys.stdout.write("faces: skipped, there are no real sessions here\n")
            return
        now = outline(found[:SESSIONS])
    if "--record" in sys.argv:
        KEPT.write_text(json.dumps(now, indent=1) + "\n", "utf-8")
        return
    before: Outline = json.loads(KEPT.read_text("utf-8"))
    changed = differences(before, now)
    asked = sum(map(len, before.values()))
    sys.stdout.write("\n".join([*changed, f"{len(changed)} of {asked} answers are others."]) + "\n")


if __name__ == "__main__":
    main()
