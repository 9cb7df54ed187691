"""Reads transcripts into the store as redacted turns, and accounts for every line.

Start with `ingest`: it runs the steps in order. `discovery` finds the files, `read_plan` decides
what is new in each, `segments` reads them in parallel, `turns` refines and redacts lines, `write`
stores them in one transaction with the ledger. `dedupe` keeps what a transcript and the hooks both
report from being stored twice, `erasure_marks` what was erased from coming back.
"""
