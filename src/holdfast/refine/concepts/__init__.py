"""Concepts: named groups of exchanges and memories about one feature or topic, made by rules.

`items` turns records into items with features, and weighs these by their rarity in the bank.
`grouping` puts one item after the other into a concept, by its features and where there are
embeddings by its meaning, and merges concepts; `splitting` splits them.
`concept_names` finds names, `concept_builder` runs all of this over a bank and records the history,
`descriptions` makes the concept records, and `concept_stage` reads and writes the store. Start
reading at `concept_stage`, then `concept_builder`.
"""
