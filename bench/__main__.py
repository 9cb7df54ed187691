"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import answers, graph, hooks, memory, redaction, refine, scale, startup, storm

for module in (startup, refine, redaction, memory, scale, graph, hooks, storm, answers):
    for line in module.run():
        print(line, flush=True)
