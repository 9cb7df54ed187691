"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import (
    abstention,
    answers,
    concepts,
    hooks,
    memory,
    redaction,
    refine,
    reranker,
    scale,
    startup,
    storm,
)

for module in (
    startup,
    refine,
    redaction,
    memory,
    scale,
    reranker,
    abstention,
    concepts,
    hooks,
    storm,
    answers,
):
    for line in module.run():
        print(line, flush=True)
