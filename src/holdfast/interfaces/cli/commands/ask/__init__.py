"""Searching the memory: answers, hits, filters, timelines, single records, people, and the research
sessions behind answers. Hits and answers are printed by `output.records` and `output.answer`.
An option that several of these commands take belongs into `interfaces/cli/options.py`."""
