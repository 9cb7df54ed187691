"""Journals that have served are put away: read to their last line, none of which failed, and not
written to for a season. Every turn they gave is in the memory for good, and a session that goes
on after so long begins a new one."""

from __future__ import annotations

import os
from time import time

from holdfast.capture import journal
from holdfast.capture.places import Places
from holdfast.model.ledger import Source, SourceState
from holdfast.sources.claude_code import events
from holdfast.sources.file_stamp import stamp_of
from holdfast.store.protocol import Writer

KEPT_S = 90 * 86400.0
_ANY_READER = 2**31 - 1


def put_away(writer: Writer, places: Places, kept_s: float = KEPT_S) -> int:
    """Remove the journals that nobody needs any more; returns how many."""
    if not places.journals.is_dir():
        return 0
    known = {s.path: s for s in writer.sources() if s.agent == events.AGENT}
    failed = writer.sources_failed_before(_ANY_READER) if known else set[int]()
    gone = [
        source
        for path in sorted(places.journals.glob("*.jsonl"))
        if (source := known.get(str(path))) is not None
        and source.id not in failed
        and _is_old(path.lstat(), source, kept_s)
        and journal.remove(path, lambda stat, of=source: _is_old(stat, of, kept_s))
    ]
    if gone:
        with writer.transaction():
            for source in gone:
                told = f"read and put away; {source.lines} lines of it were read"
                writer.mark_source(source.id, SourceState.GONE.value, told)
    return len(gone)


def _is_old(stat: os.stat_result, source: Source, kept_s: float) -> bool:
    """Whether it is as it was when it was read to its end, and that was long ago."""
    return stamp_of(stat) == source.stamp and time() - stat.st_mtime > kept_s
