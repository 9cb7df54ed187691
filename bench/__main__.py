"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import memory, redaction, refine, scale, startup

for module in (startup, refine, redaction, memory, scale):
    for line in module.run():
        print(line, flush=True)
