"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

import sys

from bench import (
    abstention,
    answers,
    archaeology,
    browse_load,
    concepts,
    graph,
    hooks,
    memory,
    pages,
    postgres,
    redaction,
    refine,
    reranker,
    retain,
    scale,
    serve_load,
    servers,
    startup,
    storm,
)

ALL = (
    startup,
    servers,
    refine,
    retain,
    redaction,
    memory,
    scale,
    postgres,
    reranker,
    abstention,
    archaeology,
    concepts,
    graph,
    hooks,
    storm,
    answers,
    pages,
    browse_load,
    serve_load,
)
# Names on the command line choose some: `python -m bench startup hooks`.
chosen = sys.argv[1:]
for module in ALL:
    if not chosen or module.__name__.removeprefix("bench.") in chosen:
        for line in module.run():
            print(line, flush=True)
