"""Background work that failed and is tried again."""

from __future__ import annotations

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FailedTask:
    """Background work that failed `attempts` times, last at `failed_at`. It is tried again from
    `not_before` on."""

    name: str
    attempts: int
    problem: str
    failed_at: str
    not_before: str
