"""Decisions of people about a memory, each appended to a log that derived records never overwrite:
correcting, forgetting and merging records, erasing for good, approving and teaching rules, forming
opinions, changing the profile of a bank. Start reading in `records`; `undo` reverts a decision."""
