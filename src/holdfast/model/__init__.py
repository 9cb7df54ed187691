"""The records, as frozen dataclasses without behaviour: what is stored, found and shown.

Start with `records` (session, turn, exchange, digest), `knowledge` (memory, concept, fact, rule)
and `query` (hit, answer, citation); `kinds` maps each class to the word in its URI.
"""
