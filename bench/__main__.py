"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import (
    abstention,
    amendments,
    answers,
    archaeology,
    browse_load,
    concepts,
    graph,
    hooks,
    knowledge_by_model,
    languages,
    memory,
    pages,
    postgres,
    redaction,
    refine,
    reranker,
    retain,
    same_projects,
    scale,
    serve_load,
    servers,
    small_banks,
    startup,
    storm,
)

for module in (
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
    small_banks,
    languages,
    amendments,
    archaeology,
    same_projects,
    knowledge_by_model,
    concepts,
    graph,
    hooks,
    storm,
    answers,
    pages,
    browse_load,
    serve_load,
):
    for line in module.run():
        print(line, flush=True)
