"""From candidates to hits, in the order of the engine: `fusion` combines the retrievers' scores,
`rerank` looks closer at the best, `boosts` and `status` adjust single candidates (what is outdated
or unmerged ranks lower), `causes` follows causal links, and `hits` fits the result into a token
budget. `external_hits` adds what team servers and plugins answered."""
