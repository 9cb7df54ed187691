"""What a run of ingest did."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.model.ledgers.lines import Source


@dataclass(slots=True)
class IngestReport:
    """What one run of ingest did."""

    files_seen: int = 0
    files_read: int = 0
    bytes_read: int = 0
    lines: int = 0
    captured: int = 0
    skipped: int = 0
    failed: int = 0
    # Skipped lines of a type that this version does not know.
    unknown: int = 0
    redacted: int = 0
    sessions: int = 0
    gone: list[Source] = field(default_factory=list[Source])
