"""What people decide about records, and what is learned from all of them. Start with `curation`.

Decisions are an append-only log: `curation` makes and applies them, `decision_state` computes what
they amount to, `erasure` and `text_erasure` erase for good, `bank_settings` changes a bank. Rules:
`promotion` proposes them from patterns, `agent_lessons` from agents, `existing_rules` finds those
that say the same; `rule_text` and `rule_writing` put them into files and take them out again.
`opinions` keeps opinions. `share_drafts`, `share_intake`
and `import_intake` exchange records with other people and programs. Deriving records from
transcripts is in `holdfast.refine`.
"""
