"""Facts: lasting knowledge of a bank (rules, solutions, core logic) and the claims behind it.

`claims` extracts claims from one exchange, using the sentence classifiers `directives` (what people
lay down), `decision_sentences` (what was decided) and `hypotheses` (causes and guesses at them).
`fact_stage` then builds the facts of a whole bank: `junk_filter` drops statements that nobody could
act on, `solutions` finds the solutions worth keeping, `fact_builder` merges repeated statements and
supersedes amended ones (`statement_pool` finds them, also among the `plain_statements` that no word
makes a rule, by comparing words in `amendments`), `rule_violations` checks rules against tool
calls, and `claim_outcomes` tracks which claims were verified or retracted. Start reading at
`fact_stage`.
"""
