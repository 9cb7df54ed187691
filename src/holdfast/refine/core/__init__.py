"""What all stages of refinement share, and that depends on none of them.

Start with `passages` (the text that search indexes for each kind of record) and `banks` (which bank
a folder belongs to). `curated_records` applies people's decisions to records. `signals`,
`commands`, `keywords` and `statement_similarity` read meaning out of text by rules, without a
model. `executor` runs work in several processes, `dask_cluster` on a cluster. `rules_version` says
when derived rows have to be made again.
"""
