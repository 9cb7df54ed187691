"""Processes the events that the agent's hooks report, as a second source beside the transcripts.

Start with `drain`: it moves raw events from the inbox, which is kept in memory, to journals on
disk, redacted. `payloads` makes one journal line of one event. `reconcile` ingests a journal once
its session is over and its transcripts are read, and removes old journals.
"""
