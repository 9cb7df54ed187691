"""Removes journals that were read to their end without a failed line and are no longer written to.

Their turns are stored. A session that continues after so long gets a new journal.
"""

from __future__ import annotations

import os
from time import time

from holdfast.capture import journal
from holdfast.capture.home_paths import HomePaths
from holdfast.model.ledgers.lines import Source, SourceState
from holdfast.sources.claude_code import events
from holdfast.sources.fingerprint import stamp_of
from holdfast.store.protocol import Writer

# How long a journal is kept after its last write. Until then a session that continues finds the
# texts that its journal has already had; journals are small, so the time is generous.
RETENTION_S = 90 * 86400.0
# Higher than any reader version: failed lines of all readers count.
_ANY_READER = 2**31 - 1


def remove_old_journals(writer: Writer, paths: HomePaths, kept_s: float = RETENTION_S) -> int:
    """Remove the journals that were read and not written to for `kept_s`; returns how many."""
    if not paths.journals.is_dir():
        return 0
    known = {s.path: s for s in writer.sources() if s.agent == events.AGENT}
    failed = writer.sources_failed_before(_ANY_READER) if known else set[int]()
    gone = [
        source
        for path in sorted(paths.journals.glob("*.jsonl"))
        if (source := known.get(str(path))) is not None
        and source.id not in failed
        and _is_old(path.lstat(), source, kept_s)
        and journal.remove(path, lambda stat, of=source: _is_old(stat, of, kept_s))
    ]
    if gone:
        with writer.transaction():
            for source in gone:
                note = f"read and put away; {source.lines} lines of it were read"
                writer.set_source_state(source.id, SourceState.GONE.value, note)
    return len(gone)


def _is_old(stat: os.stat_result, source: Source, kept_s: float) -> bool:
    """Whether a journal is unchanged since it was read to its end, and old enough."""
    return stamp_of(stat) == source.stamp and time() - stat.st_mtime > kept_s
