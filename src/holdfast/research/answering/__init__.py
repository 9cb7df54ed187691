"""From hits to an answer with citations. Start with `engine`, which runs the rounds.

`answer` quotes sentences and decides on the confidence; `quoting` has the quotes that are chosen by
time or along causes, and `quoted_status` what became of a quoted claim. `next_queries` and
`evidence_chains` follow leads from record to record. `followups` completes a question that refers
to an earlier one. `plugin_evidence` and `supporting_patterns` add to a finished answer, and
`agent_answer` is for the answer of a model.
"""
