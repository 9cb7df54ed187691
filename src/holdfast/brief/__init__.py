"""Context injected into an agent's session. Start with `session_brief` (at session start) and
`goal_brief` (for the first prompt that states a goal); `triggers` are briefs for one file or one
error. `work_items` finds the decisions that briefs quote, `frame` wraps stored text so that it
stays data, `prepared_files` writes briefs ahead for the hooks, and `injection_outcomes` records
afterwards whether a brief was used."""
