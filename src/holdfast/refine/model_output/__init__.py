"""Asks a model about turns and checks what it answers; calls no model itself (see `by_model`).

Start with `prompts`: the questions, and how turns are shown to a model. `responses` parses answers
into typed drafts. `evidence` checks each claim of a draft against the turns, so that neither
inventions nor instructions hidden in files become memories.
"""
