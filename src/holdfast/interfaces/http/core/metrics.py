"""Counters of a server, in the text format of Prometheus."""

from __future__ import annotations

import os
import sys
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from holdfast.operating_system import resident_bytes

try:
    import resource
except ImportError:  # Windows
    resource = None  # pyright: ignore[reportAssignmentType]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Upper ends of the buckets: from a cached page to the longest request that is not research. The
# last bucket holds whatever took longer.
_BUCKET_ENDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Histogram:
    """Durations, counted by bucket."""

    def __init__(self) -> None:
        self.counts = [0] * (len(_BUCKET_ENDS_S) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(_BUCKET_ENDS_S, seconds)] += 1
        self.total += seconds


class Metrics:
    """The counters of one server. Routes are patterns, not paths, so their number is bounded."""

    def __init__(self) -> None:
        self.started = time.time()
        self.in_flight = 0
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.durations: dict[str, Histogram] = {}
        self.refused: Counter[str] = Counter()
        self.connections_refused: Counter[str] = Counter()
        self.store_errors: Counter[str] = Counter()
        self.log_lost = 0

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        method, _, path = route.partition(" ")
        self.requests[method, path, status] += 1
        self.durations.setdefault(path, Histogram()).add(seconds)

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All metrics. `gauges` adds values by name, each with its help text."""
        lines: list[str] = []
        lines += _help_lines("holdfast_requests_total", "counter", "Requests that were answered.")
        for (method, path, status), count in sorted(self.requests.items()):
            labels = _labels(method=method, route=path, status=str(status))
            lines.append(f"holdfast_requests_total{labels} {count}")
        lines += _help_lines(
            "holdfast_request_seconds", "histogram", "How long requests took, by route."
        )
        for path, durations in sorted(self.durations.items()):
            lines += _histogram("holdfast_request_seconds", path, durations)
        for name, help_text, counts, label in (
            ("holdfast_refused_total", "Requests that were refused.", self.refused, "code"),
            (
                "holdfast_connections_refused_total",
                "Connections for which there was no room.",
                self.connections_refused,
                "why",
            ),
            ("holdfast_store_errors_total", "Failures of the store.", self.store_errors, "kind"),
        ):
            lines += _help_lines(name, "counter", help_text)
            lines += [f"{name}{_labels(**{label: key})} {n}" for key, n in sorted(counts.items())]
        name = "holdfast_log_lines_lost_total"
        lines += [
            *_help_lines(name, "counter", "Lines of the log that nobody took."),
            f"{name} {self.log_lost}",
        ]
        server_gauges = {
            "holdfast_in_flight": ("Requests that are being answered.", float(self.in_flight)),
            "holdfast_start_time_seconds": ("When this server began.", self.started),
            "process_resident_memory_bytes": ("Memory that is in use.", resident()),
        }
        for name, (help_text, value) in sorted({**server_gauges, **gauges}.items()):
            lines += [*_help_lines(name, "gauge", help_text), f"{name} {value:g}"]
        return "\n".join(lines) + "\n"


def resident() -> float:
    """The resident memory of this process in bytes: without /proc its peak, and 0 where the system
    tells neither."""
    if found := resident_bytes(os.getpid()):
        return float(found)
    if resource is None:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)


def _help_lines(name: str, kind: str, help_text: str) -> Iterable[str]:
    return (f"# HELP {name} {help_text}", f"# TYPE {name} {kind}")


def _labels(**labels: str) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _histogram(name: str, path: str, durations: Histogram) -> Iterable[str]:
    cumulative = 0
    for end, count in zip((*map(str, _BUCKET_ENDS_S), "+Inf"), durations.counts, strict=True):
        cumulative += count
        yield f"{name}_bucket{_labels(route=path, le=end)} {cumulative}"
    yield f"{name}_sum{_labels(route=path)} {durations.total:.6f}"
    yield f"{name}_count{_labels(route=path)} {cumulative}"
