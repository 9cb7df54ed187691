"""The work that a model does on stored records, if the settings allow one: summaries, memories,
advice, verdicts.

Start with `summarise`, which summarises exchanges and sessions; `summary_queue` decides which.
`cost_estimate` computes what summarising again would cost. `memory_extraction` extracts memories,
`review_advice` asks for advice on facts under review, `brief_review` which statements briefs should
tell, given what happened since (`session_outlines`); `model_run` is what they share. Every call
goes through the spending governor, and what a model writes is checked against the turns before it
is stored.
"""
