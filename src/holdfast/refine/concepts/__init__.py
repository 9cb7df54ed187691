"""Concepts: named groups of exchanges and memories about one feature or topic, made by rules.

`items` turns records into items with features, and weighs these by their rarity in the bank.
`grouping` puts one item after the other into a concept, by its features and where there are
embeddings by its meaning, and merges concepts; `splitting` splits them.
`terms` finds noun phrases, identifiers and names of files in texts, `vocabulary` counts those of a
bank and knows how they are written, and `concept_names` chooses names among them, by `centrality`:
what the members are about. `settling` then joins concepts with like names, and parts those of which
only some members have a name in common. `file_names` says what the name of a file is worth,
`process_words` which words only say how people work.
`concept_builder` runs all of this over a bank and records the history, `descriptions` makes the
concept records, and `concept_stage` reads and writes the store.
Start reading at `concept_stage`, then `concept_builder`.
"""
