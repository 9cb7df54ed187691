"""Counters of a server, in the text format of Prometheus."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping

from holdfast.operating_system import resident_bytes

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of one server. Routes are patterns, not paths, so their number is bounded."""

    def __init__(self) -> None:
        self.started = time.time()
        self.in_flight = 0
        self.requests: Counter[tuple[str, str, int]] = Counter()
        # Seconds and number of requests, by route.
        self.durations: dict[str, tuple[float, int]] = {}

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        method, _, path = route.partition(" ")
        self.requests[method, path, status] += 1
        total, count = self.durations.get(path, (0.0, 0))
        self.durations[path] = total + seconds, count + 1

    def text(self, store_errors: Mapping[str, int], gauges: Mapping[str, float]) -> str:
        """All metrics, with failures of the store by kind, and values of other parts by name."""
        name = "holdfast_requests_total"
        lines = [f"# TYPE {name} counter"]
        for (method, path, status), count in sorted(self.requests.items()):
            lines.append(f"{name}{_labels(method=method, route=path, status=str(status))} {count}")
        name = "holdfast_request_seconds"
        lines.append(f"# TYPE {name} summary")
        for path, (total, count) in sorted(self.durations.items()):
            lines.append(f"{name}_sum{_labels(route=path)} {total:.6f}")
            lines.append(f"{name}_count{_labels(route=path)} {count}")
        name = "holdfast_store_errors_total"
        lines.append(f"# TYPE {name} counter")
        lines += [f"{name}{_labels(kind=kind)} {n}" for kind, n in sorted(store_errors.items())]
        return "\n".join([*lines, *self._gauge_lines(gauges)]) + "\n"

    def _gauge_lines(self, gauges: Mapping[str, float]) -> Iterable[str]:
        own = {
            "holdfast_in_flight": self.in_flight,
            "holdfast_start_time_seconds": self.started,
            "process_resident_memory_bytes": resident_bytes(os.getpid()) or 0,
        }
        for name, value in sorted({**own, **gauges}.items()):
            yield f"# TYPE {name} gauge"
            yield f"{name} {value:g}"


def _labels(**labels: str) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
