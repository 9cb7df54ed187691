"""From candidates to hits, in the order of the engine: `fusion` combines the retrievers' scores,
`rerank` looks closer at the best, `boosts` and `status` adjust single candidates, `branches`
demotes unmerged work, `causes` follows causal links, `packing` fits the result into a token
budget, and `hits` builds what is returned. `plugin_hits` and `remote_hits` add what other sources
answered."""
