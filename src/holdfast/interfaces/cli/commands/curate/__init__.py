"""Decisions of people about records. `memories` stores a text, `records` corrects, restores and
merges, `removal` forgets and erases, `entity` joins and splits names, `review` decides about
questioned facts, and `undo` takes decisions back. A new command that changes one record announces
its change and leaves asking and printing to `records.run_change`."""
