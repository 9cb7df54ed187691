"""The work that a model does on stored records, if the settings allow one: summaries and
memories.

Start with `summarise`, which summarises exchanges and sessions; `summary_queue` decides which.
`cost_estimate` computes what summarising again would cost. `memory_extraction` extracts memories;
`model_run` is what they share. Every call goes through the spending governor, and what a model
writes is checked against the turns before it is stored.
"""
