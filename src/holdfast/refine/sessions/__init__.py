"""Derives exchanges, digests, claims and passages from the turns of a session, and their vectors.

Start with `derive`, which brings changed sessions up to date. `exchanges` and `digests` are the
rules that build these records from turns alone; `model_summaries` puts a model's checked summaries
over them, and `curation_overlay` people's corrections over both. `parallel_derive` does the same in
several processes. `embedding` computes
vectors.
"""
