"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import answers, hooks, memory, redaction, refine, retain, scale, startup, storm

for module in (startup, refine, retain, redaction, memory, scale, hooks, storm, answers):
    for line in module.run():
        print(line, flush=True)
