"""Measures a memory, for `holdfast eval`: how well recall finds things, on a set of questions or on
the requests of a person's own history; and what was distilled of sessions, for comparison with
labels. `sets` reads a set into a memory of its own, `asking` asks and measures, `own` finds the
questions in a history, `distilled` lists what is known."""
