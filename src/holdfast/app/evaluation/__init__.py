"""Measures how well recall finds things, for `holdfast eval`: on a set of questions, or on the
requests of a person's own history.

Start with `evaluate` (a set) or `replay` (own history). `engine` is the only module that calls the
memory that is measured; `metrics` has the measures as pure functions. `sets` and `own` produce the
questions, `limits` the statements on what the figures do not show, `overrides` changes ranking
numbers for one run, `home` opens the memory that a set is read into, `ranks` writes the rankings.
"""
