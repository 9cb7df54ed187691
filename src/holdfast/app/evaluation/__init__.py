"""Measures a memory, for `holdfast eval`: how well recall finds things, on a set of questions or on
the requests of a person's own history; and what was distilled of sessions, against labels.

Start with `evaluate` (questions), `knowledge` (labels) or `replay` (own history). `engine` is the
only module that asks the memory that is measured, `distilled` the only one that lists what it
knows; `metrics` has the measures as pure functions. `sets`, `labels` and `own` produce what is
asked for, `limits` the statements on what the figures do not show, `overrides` changes ranking
numbers for one run, `home` opens the memory that a set is read into, `out_files` writes rankings
and records.
"""
