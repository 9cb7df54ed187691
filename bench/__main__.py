"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import hooks, memory, redaction, refine, scale, startup

for module in (startup, refine, redaction, memory, scale, hooks):
    for line in module.run():
        print(line, flush=True)
