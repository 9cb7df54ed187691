"""The work that a model does on stored records, if the settings allow one: summaries, memories,
advice.

Start with `summarise`, which summarises exchanges and sessions; `summary_queue` decides which.
`cost_estimate` computes what summarising again would cost. `memory_extraction` extracts memories,
`review_advice` asks for advice on facts under review; `model_run` is what summaries and memories
share. Every call goes through the spending governor, and summaries and memories are checked against
the turns before they are stored.
"""
