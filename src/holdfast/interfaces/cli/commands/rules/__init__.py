"""Rules for the files that people review: `learn` adds one, `promote` reviews candidates, and
`auto_learn` is what an agent may do. A new action is a value of ACTIONS and a branch in `run`."""
