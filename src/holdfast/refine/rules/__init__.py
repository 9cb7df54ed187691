"""Rules: the records of rule files, and the patterns that may be proposed as new rules.

`rule_records` stores the sections of rule files and keeps them in step with the files. Patterns
come from what people state: `conventions` finds sentences that say how things are done,
`statements` adds who stated them and where, and `patterns` groups statements that say the same.
`domains` chooses the rule file.
`pattern_stage` runs all of it. Start reading at `pattern_stage`. Proposing and writing rules is in
`holdfast.learn`.
"""
